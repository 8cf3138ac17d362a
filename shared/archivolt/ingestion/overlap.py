"""What a passage repeats of the one before it: its last sentences, whole, as many as fit. Pure.

A sentence often needs the one before it to be understood, and a question is often about two. Only
running text is repeated, within a section and a page: never a row of a table or a line of code.
"""

from collections.abc import Sequence
from dataclasses import replace

from archivolt.ingestion.cutting import Count
from archivolt.ingestion.markdown_blocks import Block
from archivolt.retrieval.sentences import sentences


def last_sentences(
    before: Sequence[Block], after: Block, *, budget: int, count: Count
) -> Block | None:
    """Return what a passage that begins with `after` repeats, as a block; None for nothing.

    Args:
        before: The blocks of the passage before it.
        after: The first block that is new in it, no heading.
        budget: The most tokens to repeat.
        count: Tells the tokens of a text.

    """
    if after.torn:
        return None
    taken: Block | None = None
    for block in reversed(before):
        if not block.is_prose or block.page != after.page:
            break
        room = budget if taken is None else budget - count(taken.text) + count("")
        part = _end_of(block, room, count)
        if part is None:
            break
        taken = part if taken is None else _joined(part, taken)
        if part.text != block.text or block.torn:
            break
    return taken


def _end_of(block: Block, budget: int, count: Count) -> Block | None:
    """Return the last whole sentences of a block that fit the budget."""
    spans = sentences(block.text)[1 if block.torn else 0 :]
    start = len(block.text)
    for first, _ in reversed(spans):
        if count(block.text[first:]) > budget:
            break
        start = first
    if not block.text[start:].strip():
        return None
    return replace(
        block,
        text=block.text[start:],
        line=block.line + block.text.count("\n", 0, start),
        gap=block.gap if start == 0 else "",
        torn=False,
    )


def _joined(one: Block, other: Block) -> Block:
    return replace(one, text=f"{one.text}{other.gap}{other.text}")
