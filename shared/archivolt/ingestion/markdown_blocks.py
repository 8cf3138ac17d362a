"""Reads a Markdown text as a row of blocks: headings, paragraphs, lists, fences, tables.

Only the structure is read, never the inline markup, so that hostile text costs what its length
costs. No line is lost: what Markdown hides (link definitions, HTML, front matter) is a block too.
"""

import re
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from enum import Enum, auto
from functools import lru_cache
from itertools import chain
from typing import Final

from markdown_it import MarkdownIt
from markdown_it.token import Token

from archivolt.domain.limits import MAX_HEADING_CHARS
from archivolt.ingestion.plain_blocks import Outline, Outlined, PlainBlocks

_MAX_FRONT_MATTER_LINES: Final = 200
_LAST_PAGE: Final = 10**6
_TITLE_CHARS: Final = 10_000
_PAGE_MARK: Final = re.compile(r"\s*<!-- page (\d{1,6}) -->\s*")
_KEY: Final = re.compile(r"[\w-]+\s*:")
_TITLE: Final = re.compile(r"title\s*:\s*(.+)", re.IGNORECASE)
_DELIMITER_ROW: Final = re.compile(r"\s*\|?\s*:?-+:?\s*(?:\|\s*:?-+:?\s*)*\|?\s*")
_ANCHOR: Final = re.compile(r"\s*(?:\{/\*.*?\*/\}|\{#[^}]*\})\s*$")
_LINK: Final = re.compile(r"!?\[([^\[\]]*)\]\([^()]*\)")
_NO_PROSE: Final = re.compile(r"\s*(?:<|\[[^\[\]]*\]:)")
_EMPHASIS: Final = re.compile(r"\*+|`+|(?<!\w)_+|_+(?!\w)")

# Blocks only: inline markup is not needed. Link definitions have to stay visible. A tag must not
# hide the fence or heading on the line after it, as HTML blocks do: MDX is written that way.
_parser = MarkdownIt("commonmark", {"maxNesting": 20}).disable(
    ["inline", "reference", "html_block"]
)


_OUTLINED: Final = {"fence": Outlined.FENCE, "paragraph_open": Outlined.PARAGRAPH}


class BlockKind(Enum):
    """What a block is, as far as it matters for cutting it."""

    HEADING = auto()
    TEXT = auto()
    LIST = auto()
    FENCE = auto()
    TABLE = auto()


@dataclass(frozen=True, slots=True, kw_only=True)
class Block:
    """A piece of structure with its text as written, blank lines around it left out.

    `line` counts from 0. `level` and `title` belong to headings; `items` are the lines, counted
    from the block's first, at which a list's items start. `is_prose`: running text. `gap` is what
    stands before it; a part of a block that was cut may be `torn`: it begins within a sentence.
    """

    kind: BlockKind
    text: str
    line: int
    page: int | None = None
    level: int = 0
    title: str = ""
    items: Sequence[int] = ()
    is_prose: bool = False
    gap: str = "\n\n"
    torn: bool = False


def read_blocks(markdown: str) -> list[Block]:
    """Return the blocks of a text in order; a title in its front matter comes as a heading."""
    lines = markdown.replace("\r\n", "\n").replace("\r", "\n").split("\n")
    marks = _take_page_marks(lines)
    body = _front_matter_end(lines)
    blocks = [*_front_matter(lines[:body]), *_body(lines, body)]
    return [_on_page(block, marks) for block in blocks if block.title or block.text]


def _take_page_marks(lines: list[str]) -> list[tuple[int, int]]:
    """Blank the lines that say where a page starts; return (line, page) of each, in order."""
    marks: list[tuple[int, int]] = []
    for number, line in enumerate(lines):
        mark = _PAGE_MARK.fullmatch(line)
        if mark:
            marks.append((number, int(mark.group(1))))
            lines[number] = ""
    return marks


def _on_page(block: Block, marks: Sequence[tuple[int, int]]) -> Block:
    before = bisect_right(marks, (block.line, _LAST_PAGE)) - 1
    return replace(block, page=marks[before][1]) if before >= 0 else block


def _front_matter_end(lines: Sequence[str]) -> int:
    """Return the line after the front matter, 0 where there is none."""
    if lines[0].rstrip() != "---" or len(lines) < 2 or not _KEY.match(lines[1]):  # noqa: PLR2004
        return 0
    for number, line in enumerate(lines[1:_MAX_FRONT_MATTER_LINES], start=1):
        if line.rstrip() in {"---", "..."}:
            return number + 1
    return 0


def _front_matter(lines: Sequence[str]) -> Iterator[Block]:
    if not lines:
        return
    for number, line in enumerate(lines):
        found = _TITLE.match(line)
        title = heading_title(found.group(1).strip().strip("\"'")) if found else ""
        if title:
            yield Block(kind=BlockKind.HEADING, text="", line=number, level=1, title=title)
            break
    yield _block(BlockKind.TEXT, lines, 1, len(lines) - 1)


def _body(lines: Sequence[str], start: int) -> Iterator[Block]:
    plain = PlainBlocks(lines, start)
    for outline in chain(plain, _rest(lines, plain)):
        kind, first, end = outline.kind, outline.first, outline.end
        if kind is Outlined.HEADING:
            title = heading_title(outline.title)
            yield _block(BlockKind.HEADING, lines, first, end, level=outline.level, title=title)
        elif kind is Outlined.LIST:
            yield _block(BlockKind.LIST, lines, first, end, items=outline.items)
        elif kind is Outlined.FENCE:
            yield _block(BlockKind.FENCE, lines, first, end)
        elif kind is Outlined.PARAGRAPH:
            yield from _paragraph(lines, first, end)
        else:
            yield _block(BlockKind.TEXT, lines, first, end)


def _rest(lines: Sequence[str], plain: PlainBlocks) -> Iterator[Outline]:
    """Outline what comes after the plain blocks, once they are read."""
    start = plain.stopped
    if start < len(lines):
        yield from parsed_outline([*[""] * start, *lines[start:]])


def parsed_outline(lines: Sequence[str]) -> Iterator[Outline]:
    """Yield the outline of a text as the parser of all of Markdown sees it."""
    tokens = _parsed("\n".join(lines))
    for position, token in enumerate(tokens):
        if token.level or token.map is None or token.nesting < 0:
            continue
        first, end = token.map
        if token.type == "heading_open":
            title = tokens[position + 1].content
            yield Outline(Outlined.HEADING, first, end, int(token.tag[1]), title)
        elif token.type in {"bullet_list_open", "ordered_list_open"}:
            items = _items(tokens, position, first)
            yield Outline(Outlined.LIST, first, end, items=items)
        else:
            yield Outline(_OUTLINED.get(token.type, Outlined.OTHER), first, end)


def _parsed(text: str) -> Sequence[Token]:
    # A note is read for its title and right after for its blocks. Long ones are not kept.
    return _parsed_lately(text) if len(text) <= _TITLE_CHARS else _parser.parse(text)


@lru_cache(maxsize=1)
def _parsed_lately(text: str) -> Sequence[Token]:
    return _parser.parse(text)


def _items(tokens: Sequence[Token], position: int, first: int) -> list[int]:
    """Return where the items of the list that opens at `position` start."""
    starts: list[int] = []
    for token in tokens[position + 1 :]:
        if token.level == 0:
            break
        if token.level == 1 and token.type == "list_item_open" and token.map:
            starts.append(token.map[0] - first)
    return starts


def _paragraph(lines: Sequence[str], first: int, end: int) -> Iterator[Block]:
    """A paragraph, or the table in it (GFM: its header is the line before the delimiter row)."""
    for number in range(first + 1, end):
        row = lines[number]
        if "|" in row and "|" in lines[number - 1] and _DELIMITER_ROW.fullmatch(row):
            yield _prose(lines, first, number - 1)
            yield _block(BlockKind.TABLE, lines, number - 1, end)
            return
    yield _prose(lines, first, end)


def _prose(lines: Sequence[str], first: int, end: int) -> Block:
    block = _block(BlockKind.TEXT, lines, first, end)
    # Tags and link definitions are paragraphs to the parser.
    return replace(block, is_prose=not _NO_PROSE.match(block.text))


def _block(
    kind: BlockKind,
    lines: Sequence[str],
    first: int,
    end: int,
    *,
    level: int = 0,
    title: str = "",
    items: Sequence[int] = (),
) -> Block:
    while first < end and not lines[first].strip():
        first += 1
    text = "\n".join(lines[first:end]).rstrip()
    return Block(kind=kind, text=text, line=first, level=level, title=title, items=items)


def title_of(markdown: str) -> str:
    """Return the title in a text's front matter, else its first heading, else ""."""
    lines = markdown[:_TITLE_CHARS].replace("\r\n", "\n").replace("\r", "\n").split("\n")
    body = _front_matter_end(lines)
    blocks = chain(_front_matter(lines[:body]), _body(lines, body))
    return next((block.title for block in blocks if block.title), "")


def heading_title(raw: str) -> str:
    """Return a heading as plain text, without anchors (MDX, kramdown), links and emphasis."""
    title = _ANCHOR.sub("", raw[:MAX_HEADING_CHARS])
    return " ".join(_EMPHASIS.sub("", _LINK.sub(r"\1", title)).split())
