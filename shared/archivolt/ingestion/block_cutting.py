"""Cuts a Markdown block that is over the budget so that every part is still what the block was.

A part of a fence is a fence, a part of a table has the table's header, a list is cut between its
items first.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import pairwise
from typing import Final

from archivolt.ingestion.cutting import LINES, PROSE, Count, cut, pack
from archivolt.ingestion.markdown_blocks import Block, BlockKind
from archivolt.retrieval.sentences import Span, sentences

# Opening lines that take more than this share of the budget are not repeated.
_OPENING_SHARE: Final = 2
_MAX_LANGUAGE_CHARS: Final = 20
# A fence's first line, wherever it stands: in a quote, in a list item, on an item's own line.
_FENCE: Final = re.compile(r"[\s>]*(?:[-*+]\s+|\d{1,9}[.)]\s+)?(`{3,}(?!.*`)|~{3,})")


def cut_block(block: Block, *, budget: int, count: Count) -> list[Block]:
    """Return the parts of a block, in order, each within the budget."""
    if block.kind is BlockKind.FENCE:
        return _cut(block, _opened_fence(block.text), budget, count)
    if block.kind is BlockKind.TABLE:
        return _cut(block, _headed_table(block.text), budget, count)
    spans = pack(block.text, _item_spans(block), budget=budget, count=count)
    return [
        part
        for piece in _sub_blocks(block, spans)
        for segment in ([piece] if count(piece.text) <= budget else _segments(piece))
        for part in _cut_segment(segment, budget, count)
    ]


def cut_prose(block: Block, *, budget: int, count: Count) -> list[Block]:
    """Return the parts of a running text, in order, each within the budget.

    A part tells what stood between it and the one before, and whether it begins within a sentence.
    """
    spans = cut(block.text, budget=budget, count=count, places=PROSE)
    starts = {start for start, _ in sentences(block.text)}
    parts: list[Block] = []
    end = 0
    for span, part in zip(spans, _sub_blocks(block, spans), strict=True):
        start = span[0]
        gap = block.text[end:start] if parts else block.gap
        parts.append(replace(part, gap=gap, torn=bool(start) and start not in starts))
        end = start + len(part.text)
    return parts


def _cut_segment(block: Block, budget: int, count: Count) -> list[Block]:
    opened = _opened_fence(block.text) if block.kind is BlockKind.FENCE else ("", block.text, "")
    return _cut(block, opened, budget, count)


def _cut(block: Block, opened: tuple[str, str, str], budget: int, count: Count) -> list[Block]:
    """Cut what stands between an opening and a closing, which every part gets."""
    if count(block.text) <= budget:
        return [block]
    opening, body, closing = opened
    if count(f"{opening}{closing}") > budget // _OPENING_SHARE:
        opening, body, closing = "", block.text, ""
    spans = cut(
        body,
        budget=budget,
        count=lambda part: count(f"{opening}{part}{closing}"),
        places=PROSE if block.kind is BlockKind.TEXT else LINES,
    )
    inner = replace(block, text=body, line=block.line + opening.count("\n"))
    parts = _sub_blocks(inner, spans)
    return [replace(part, text=f"{opening}{part.text}{closing}") for part in parts]


def _sub_blocks(block: Block, spans: Iterable[Span]) -> Iterator[Block]:
    line, read = block.line, 0
    for start, end in spans:
        line += block.text.count("\n", read, start)
        read = start
        yield replace(block, text=block.text[start:end].rstrip(), line=line, items=())


def _item_spans(block: Block) -> Iterable[Span]:
    line_starts = [0, *(match.end() for match in re.finditer("\n", block.text))]
    starts = [line_starts[item] for item in block.items] or [0]
    return pairwise([*starts, len(block.text)])


def _segments(block: Block) -> Iterator[Block]:
    """Take a text apart at the fences in it."""
    lines = block.text.split("\n")
    start, fence, is_quoted = 0, "", False
    for number, line in enumerate(lines):
        mark = _FENCE.match(line)
        if not fence and mark:
            yield from _segment(block, lines, start, number)
            start, fence, is_quoted = number, mark.group(1), ">" in mark.group()
        elif fence and _closes(line, fence, is_quoted=is_quoted):
            yield from _segment(block, lines, start, number + 1, kind=BlockKind.FENCE)
            start, fence = number + 1, ""
    yield from _segment(block, lines, start, len(lines))


def _segment(
    block: Block, lines: Sequence[str], start: int, end: int, *, kind: BlockKind | None = None
) -> Iterator[Block]:
    text = "\n".join(lines[start:end]).rstrip()
    if text.strip():
        yield replace(block, text=text, line=block.line + start, kind=kind or block.kind)


def _closes(line: str, fence: str, *, is_quoted: bool) -> bool:
    marks = line.strip(" \t>" if is_quoted else " \t")
    return len(marks) >= len(fence) and not marks.strip(fence[0])


def _opened_fence(text: str) -> tuple[str, str, str]:
    """Return a fence's opening with its language, its body, its closing.

    What else the first line says (which lines to highlight) is about the whole, not its parts.
    """
    first, _, body = text.partition("\n")
    mark = _FENCE.match(first)
    fence = mark.group(1) if mark else "```"
    opening = f"{first[: mark.end()]}{_language(first[mark.end() :])}" if mark else first
    head, _, last = body.rpartition("\n")
    if _closes(last, fence, is_quoted=mark is not None and ">" in mark.group()):
        return f"{opening}\n", head, f"\n{last}"
    return f"{opening}\n", body, f"\n{fence}"


def _language(info: str) -> str:
    words = info.split(maxsplit=1)
    return words[0][:_MAX_LANGUAGE_CHARS] if words else ""


def _headed_table(text: str) -> tuple[str, str, str]:
    header, delimiter, body = text.split("\n", 2) if text.count("\n") > 1 else (text, "", "")
    return (f"{header}\n{delimiter}\n", body, "") if body else ("", text, "")
