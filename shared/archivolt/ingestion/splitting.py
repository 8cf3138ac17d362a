"""Splits a document into passages along its structure.

A passage never exceeds the budget, knows the headings it stands under, its page and its line.
Fences and tables stay whole where they fit; where they do not, each part is opened and closed, or
headed, like the whole. Sections too small to say much alone share a passage.
"""

from dataclasses import dataclass, field, replace
from itertools import takewhile
from typing import Final

from archivolt.domain.ingestion import Passage
from archivolt.ingestion.block_cutting import cut_block
from archivolt.ingestion.cutting import Count
from archivolt.ingestion.markdown_blocks import Block, BlockKind, read_blocks

SPLITTER_VERSION: Final = "2"
"""Changes when the same text gives other passages: an index made before has to be made anew."""

# A passage below this share of the budget takes the next section in.
_SMALL_SHARE: Final = 8
# A heading line above this share of the budget is shown as text of its section.
_HEADING_SHARE: Final = 2

Path = tuple[tuple[int, str], ...]
"""The headings something stands under, from the outermost: level and title."""


def split(markdown: str, *, budget: int, count: Count) -> list[Passage]:
    """Return the passages of a document, in order, numbered from 0.

    Args:
        markdown: The extracted text; `<!-- page N -->` lines say where pages start.
        budget: The most tokens a passage may have.
        count: Tells the tokens of a text; never too few.

    """
    passages = _Passages(budget=budget, count=count)
    for block in read_blocks(markdown):
        passages.add(block)
    return passages.finished()


@dataclass(slots=True)
class _Draft:
    """A passage in the making: its blocks, the headings its body stands under, its tokens."""

    tokens: int
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
    def __init__(self, *, budget: int, count: Count) -> None:
        self._budget = budget
        self._count = count
        self._around = count("")
        self._counted = ("", self._around)
        self._path: Path = ()
        self._draft = _Draft(tokens=self._around)
        self._made: list[Passage] = []

    def add(self, block: Block) -> None:
        if block.kind is not BlockKind.HEADING:
            self._add_body(block)
        elif self._size(block) > self._budget // _HEADING_SHARE:
            self._enter(replace(block, text=""))
            self._add_body(replace(block, kind=BlockKind.TEXT, level=0, title=""))
        else:
            self._enter(block)

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
        fits = self._size(block) <= self._budget
        for part in [block] if fits else cut_block(block, budget=self._budget, count=self._count):
            self._place(part)

    def _place(self, block: Block) -> None:
        size = self._size(block) - self._around
        if self._draft.tokens + size > self._budget:
            headings = self._draft.trailing_headings()
            self._finish()
            for heading in headings:
                self._append(heading, self._size(heading) - self._around)
        if self._draft.tokens + size > self._budget:
            self._finish()
        self._append(block, size)

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
        return self._draft.tokens < self._budget // _SMALL_SHARE

    def _finish(self) -> None:
        draft, self._draft = self._draft, _Draft(tokens=self._around)
        path = draft.path if draft.has_body else self._path
        blocks = draft.text_blocks()
        text = "\n\n".join(block.text for block in blocks)
        together = [text] if self._count(text) <= self._budget else [b.text for b in blocks]
        for block, shown in zip(blocks, together, strict=False):
            self._made.append(
                Passage(
                    number=len(self._made),
                    text=shown,
                    headings=tuple(title for _, title in path if title),
                    page=block.page,
                    line=block.line + 1,
                )
            )


def _heading(block: Block) -> tuple[int, str]:
    return block.level, block.title


def _common(one: Path, other: Path) -> Path:
    same = takewhile(lambda pair: pair[0] == pair[1], zip(one, other, strict=False))
    return tuple(heading for heading, _ in same)
