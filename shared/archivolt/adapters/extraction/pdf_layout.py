"""From the lines of PDF pages to Markdown: what is a heading, a paragraph, a running header.

It looks at sizes, heights and repetition only; it does not know where the lines came from.
"""

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from statistics import median
from typing import Final

from archivolt.adapters.extraction.markdown_text import escaped
from archivolt.adapters.extraction.pdf_lines import BREAKS, Line

Outline = dict[str, list[tuple[int | None, int]]]
"""Simplified title to the page (from 0; None: unknown) and level (from 1) it is a heading at."""

_MAX_LEVEL: Final = 6
_MAX_HEADING_CHARS: Final = 120
# A heading's letters are at least this much larger than the text's.
_LARGER: Final = 1.12
_LEVELS_BY_SIZE: Final = 4
# Lines further apart than this many times the usual distance are two paragraphs.
_APART: Final = 1.4
_EDGE_LINES: Final = 2
_MIN_REPEATS: Final = 3
_REPEATED_SHARE: Final = 0.3

_NUMBERING: Final = re.compile(r"^(?:\d+(?:\.\d+)*\.?|[ivxlc]{1,6}\.)\s+", re.IGNORECASE)
_BULLET: Final = re.compile("^[•●▪‣◦∙\uf0b7]\\s*")
_LOOSE_ITEMS: Final = re.compile(r"(?<=\S)\n\n(?=- )")
_HYPHENS: Final = (*BREAKS, "\u00ad", "-", "\u2010")
# A word that a line's end broke, and that PDFium put together again.
_BROKEN_WORD: Final = re.compile(f"[{''.join(BREAKS)}](.?)")


def simplified(text: str) -> str:
    """Return what two writings of one title have in common: letters and digits, unnumbered."""
    bare = _NUMBERING.sub("", text.strip())
    return "".join(filter(str.isalnum, (bare or text).casefold()))


class PdfLayout:
    """Writes pages as Markdown.

    Args:
        pages: The lines of each page.
        outline: The document's own table of contents, if it has one.
        scans: The Markdown of pages, from 0, that were read in their image.

    """

    def __init__(
        self,
        pages: Sequence[Sequence[Line]],
        outline: Outline,
        scans: Mapping[int, str] | None = None,
    ) -> None:
        self.first_heading = ""
        self._scans = scans or {}
        self._pages = pages
        self._outline = outline
        self._levels: Mapping[float, int] = {} if outline else _levels_by_size(pages)
        self._running = _running_lines(pages)
        self._repeated = _repeated_lines(pages)

    def markdown(self) -> str:
        """Return all pages, each after its mark."""
        return "\n".join(
            f"<!-- page {number + 1} -->\n\n{self._scans.get(number) or self._page(number)}\n"
            for number in range(len(self._pages))
        )

    def _page(self, number: int) -> str:
        blocks: list[str] = []
        paragraph: list[Line] = []
        for line, is_apart in _with_gaps(self._shown(number)):
            level = self._level(line, number)
            if paragraph and (level or is_apart or _BULLET.match(line.text)):
                blocks.append(_joined(paragraph))
                paragraph = []
            if level:
                self.first_heading = self.first_heading or line.text
                blocks.append(f"{'#' * level} {line.text}")
            else:
                paragraph.append(line)
        if paragraph:
            blocks.append(_joined(paragraph))
        return _LOOSE_ITEMS.sub("\n", "\n\n".join(blocks))

    def _shown(self, number: int) -> list[Line]:
        """Return a page's lines without its running header and footer.

        A page of few lines is left whole: a slide's title is not its header. Nor is a heading that
        other pages have with another number.
        """
        lines = self._pages[number]
        if len(lines) <= 2 * _EDGE_LINES:
            return list(lines)
        edges = {*range(_EDGE_LINES), *range(len(lines) - _EDGE_LINES, len(lines))}
        return [
            line
            for position, line in enumerate(lines)
            if position not in edges
            or _unnumbered(line.text) not in self._running
            or (line.text not in self._repeated and self._level(line, number))
        ]

    def _level(self, line: Line, page: int) -> int:
        """Return a heading's level, 0 for other lines."""
        if len(line.text) > _MAX_HEADING_CHARS:
            return 0
        for target, level in self._outline.get(simplified(line.text), ()):
            if target in {page, None}:
                return min(level, _MAX_LEVEL)
        return self._levels.get(line.size, 0) if any(map(str.isalpha, line.text)) else 0


def _levels_by_size(pages: Sequence[Sequence[Line]]) -> Mapping[float, int]:
    """Return the sizes above that of most of the text, the largest being level 1."""
    letters: Counter[float] = Counter()
    for line in (line for page in pages for line in page):
        letters[line.size] += len(line.text)
    if not letters:
        return {}
    body = letters.most_common(1)[0][0]
    larger = sorted((size for size in letters if size > body * _LARGER), reverse=True)
    return {size: level for level, size in enumerate(larger[:_LEVELS_BY_SIZE], start=1)}


def _running_lines(pages: Sequence[Sequence[Line]]) -> frozenset[str]:
    """Return the lines that stand at the edges of many pages, but for their numbers."""
    seen = Counter(
        text
        for page in pages
        for text in {_unnumbered(line.text) for line in (*page[:_EDGE_LINES], *page[-_EDGE_LINES:])}
    )
    enough = max(_MIN_REPEATS, len(pages) * _REPEATED_SHARE)
    return frozenset(text for text, times in seen.items() if times > enough)


def _repeated_lines(pages: Sequence[Sequence[Line]]) -> frozenset[str]:
    """Return the lines that stand at the edges of more than one page, numbers and all."""
    seen = Counter(
        text
        for page in pages
        for text in {line.text for line in (*page[:_EDGE_LINES], *page[-_EDGE_LINES:])}
    )
    return frozenset(text for text, times in seen.items() if times > 1)


def _unnumbered(text: str) -> str:
    return "".join(character for character in text if not character.isdigit()).strip()


def _with_gaps(lines: Sequence[Line]) -> Iterator[tuple[Line, bool]]:
    """Yield each line, and whether it stands apart from the one before: further down, or higher."""
    falls = [before.height - line.height for before, line in pairwise(lines)]
    usual = median([fall for fall in falls if fall > 0] or [0.0])
    for line, fall in zip(lines, [0.0, *falls][: len(lines)], strict=True):
        yield line, fall < 0 or fall > usual * _APART


def _joined(lines: Sequence[Line]) -> str:
    """Return the lines of a paragraph, a word that a line's end broke being whole again."""
    parts = [_BULLET.sub("- ", lines[0].text)]
    for line in lines[1:]:
        end = parts[-1]
        broken = end.endswith(_HYPHENS) and end[-2:-1].isalpha() and line.text[:1].islower()
        if broken:
            parts[-1] = end[:-1]
        parts.append(line.text if broken else f"\n{line.text}")
    return escaped(_BROKEN_WORD.sub(_mended, "".join(parts)))


def _mended(broken: re.Match[str]) -> str:
    following = broken.group(1)
    return following if following.islower() else f"-{following}"
