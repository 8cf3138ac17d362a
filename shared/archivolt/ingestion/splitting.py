"""Splits a document into passages along its structure.

A passage never exceeds the budget, knows the headings it stands under, its page and its line.
Fences and tables stay whole where they fit; where they do not, each part is opened and closed, or
headed, like the whole. Sections too small to say much alone share a passage. A passage that goes
on with a section repeats the last sentences before it.
"""

from dataclasses import dataclass, field, replace
from itertools import takewhile
from typing import Final

from archivolt.domain.ingestion import Passage
from archivolt.domain.limits import MAX_HEADING_CHARS
from archivolt.ingestion.block_cutting import cut_block, cut_prose
from archivolt.ingestion.cutting import Count
from archivolt.ingestion.markdown_blocks import Block, BlockKind, read_blocks
from archivolt.ingestion.overlap import last_sentences

SPLITTER_VERSION: Final = "4"
"""Changes when the same text gives other passages: an index made before has to be made anew."""

# A passage below this share of the budget takes the next section in.
_SMALL_SHARE: Final = 8
# A heading line above this share of the budget is shown as text of its section, as is one whose
# title is cut.
_HEADING_SHARE: Final = 2

Path = tuple[tuple[int, str], ...]
"""The headings something stands under, from the outermost: level and title."""


def split(markdown: str, *, budget: int, count: Count, overlap: int = 0) -> list[Passage]:
    """Return the passages of a document, in order, numbered from 0.

    Args:
        markdown: The extracted text; `<!-- page N -->` lines say where pages start.
        budget: The most tokens a passage may have.
        count: Tells the tokens of a text; never too few.
        overlap: The most tokens that a passage repeats of the one before it.

    """
    passages = _Passages(budget=budget, count=count, overlap=overlap)
    for block in read_blocks(markdown):
        passages.add(block)
    return passages.finished()


@dataclass(slots=True)
class _Draft:
    """A passage in the making: its blocks, the headings its body stands under, its tokens.

    `repeated` is what it repeats of the one before; `tokens` counts that too.
    """

    tokens: int
    repeated: Block | None = None
    blocks: list[Block] = field(default_factory=list[Block])
    path: Path = ()
    has_body: bool = False

    def text_blocks(self) -> list[Block]:
        """Return what is shown: not the headings at its start that the path tells already."""
        first = 0
        while self.has_body and _heading(self.blocks[first]) in self.path:
            first += 1
        return [block for block in self.blocks[first:] if block.text]

    def trailing_headings(self) -> list[Block]:
        """Take the headings off its end: they belong to what follows."""
        kept = len(self.blocks)
        while kept and self.blocks[kept - 1].kind is BlockKind.HEADING:
            kept -= 1
        taken = self.blocks[kept:] if kept else []
        del self.blocks[kept or len(self.blocks) :]
        return taken


class _Passages:
    def __init__(self, *, budget: int, count: Count, overlap: int) -> None:
        self._budget = budget
        self._overlap = overlap
        self._count = count
        self._around = count("")
        self._counted = ("", self._around)
        self._path: Path = ()
        self._draft = _Draft(tokens=self._around)
        self._made: list[Passage] = []

    def add(self, block: Block) -> None:
        if block.kind is not BlockKind.HEADING:
            self._add_body(block)
        elif self._is_long(block):
            self._enter(replace(block, text=""))
            self._add_body(replace(block, kind=BlockKind.TEXT, level=0, title=""))
        else:
            self._enter(block)

    def _is_long(self, heading: Block) -> bool:
        """Tell whether a title does not tell all of a heading, or would take too much room."""
        longest = self._budget // _HEADING_SHARE
        return len(heading.text) > MAX_HEADING_CHARS or self._size(heading) > longest

    def finished(self) -> list[Passage]:
        self._finish()
        return self._made

    def _enter(self, heading: Block) -> None:
        parents = tuple(above for above in self._path if above[0] < heading.level)
        shared = _common(self._draft.path, parents)
        if self._draft.has_body and shared and self._is_small():
            self._draft.path = shared
        elif self._draft.has_body:
            self._finish()
        self._path = (*parents, _heading(heading))
        self._place(heading)

    def _add_body(self, block: Block) -> None:
        turned = self._draft.has_body and block.page != self._draft.blocks[-1].page
        if turned and not self._is_small():
            self._finish()
        for part in self._parts(block):
            self._place(part)

    def _parts(self, block: Block) -> list[Block]:
        if self._size(block) <= self._budget:
            return [block]
        if block.is_prose:
            return cut_prose(block, budget=self._budget - self._overlap, count=self._count)
        return cut_block(block, budget=self._budget, count=self._count)

    def _place(self, block: Block) -> None:
        size = self._size(block) - self._around
        if self._draft.tokens + size > self._budget:
            before, headings = self._draft, self._draft.trailing_headings()
            self._make_room(block)
            for heading in headings:
                self._append(heading, self._size(heading) - self._around)
            if not headings and block.kind is not BlockKind.HEADING:
                self._repeat(before, block)
        if self._draft.tokens + size > self._budget:
            self._make_room(block)
        self._append(block, size)

    def _make_room(self, block: Block) -> None:
        """End a passage of headings; none is made of those that what follows is shown under."""
        told = block.kind is not BlockKind.HEADING and not self._draft.has_body
        if told and all(_heading(heading) in self._path for heading in self._draft.blocks):
            self._draft = _Draft(tokens=self._around)
        else:
            self._finish()

    def _repeat(self, before: _Draft, block: Block) -> None:
        """Begin a passage that `block` goes on in with the last sentences of the one before."""
        repeated = last_sentences(
            before.blocks, block, budget=self._overlap + self._around, count=self._count
        )
        if repeated is None:
            return
        tokens = self._draft.tokens + self._size(repeated) - self._around
        if tokens + self._size(block) - self._around <= self._budget:
            self._draft.repeated, self._draft.tokens = repeated, tokens

    def _append(self, block: Block, size: int) -> None:
        if block.kind is not BlockKind.HEADING and not self._draft.has_body:
            self._draft.path, self._draft.has_body = self._path, True
        self._draft.blocks.append(block)
        self._draft.tokens += size

    def _size(self, block: Block) -> int:
        # A block is asked for its size several times over, one block after the other.
        if block.text is not self._counted[0]:
            self._counted = (block.text, self._count(block.text))
        return self._counted[1]

    def _is_small(self) -> bool:
        repeated = self._draft.repeated
        known = self._size(repeated) - self._around if repeated else 0
        return self._draft.tokens - known < self._budget // _SMALL_SHARE

    def _finish(self) -> None:
        draft, self._draft = self._draft, _Draft(tokens=self._around)
        path = draft.path if draft.has_body else self._path
        for block in self._joined(draft.repeated, draft.text_blocks()):
            self._made.append(
                Passage(
                    number=len(self._made),
                    text=block.text,
                    headings=tuple(title for _, title in path if title),
                    page=block.page,
                    line=block.line + 1,
                )
            )

    def _joined(self, repeated: Block | None, blocks: list[Block]) -> list[Block]:
        """Return blocks as one, with what is repeated if that fits; as they are if they do not."""
        for parts in ([repeated, *blocks] if repeated else blocks, blocks):
            text = "".join(
                part.text if part is parts[0] else part.gap + part.text for part in parts
            )
            if parts and self._count(text) <= self._budget:
                return [replace(parts[0], text=text)]
        return blocks


def _heading(block: Block) -> tuple[int, str]:
    return block.level, block.title


def _common(one: Path, other: Path) -> Path:
    same = takewhile(lambda pair: pair[0] == pair[1], zip(one, other, strict=False))
    return tuple(heading for heading, _ in same)
