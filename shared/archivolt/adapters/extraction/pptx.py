"""Reads PowerPoint presentations (.pptx): titles, text, tables, drawn texts and speaker's notes."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Final

from archivolt.adapters.extraction.drawn_texts import drawn_texts
from archivolt.adapters.extraction.markdown_text import (
    escaped,
    heading,
    joined,
    one_line,
    page_mark,
    table,
)
from archivolt.adapters.extraction.office_parts import main_part, relationships, title_of
from archivolt.adapters.extraction.xml_events import Attributes
from archivolt.adapters.extraction.zip_guard import Archive, open_archive
from archivolt.ports.ingestion import Extraction

_PRESENTATION: Final = "ppt/presentation.xml"
_TITLES: Final = frozenset({"title", "ctrTitle"})
_LISTS: Final = frozenset({"body", "obj", ""})
# Numbers, dates and the foot of every slide.
_FURNITURE: Final = frozenset({"sldNum", "dt", "ftr", "hdr", "sldImg"})
# Compatible copies of what has been read already (ECMA-376 part 3, 10.2).
_COPIES: Final = "Fallback"
_MAX_INDENT: Final = 4


class PptxExtractor:
    """An `Extractor` of PowerPoint presentations."""

    def extract(self, data: bytes, *, name: str) -> Extraction:  # noqa: ARG002  the port's
        """Return the slides as Markdown, each as a page.

        Raises:
            UnsupportedContentError: `document_broken` or `document_encrypted`.
            TooLargeError: `document_inflates`.

        """
        with open_archive(data) as archive:
            slides = list(_slides(archive))
            written = [
                text
                for number, part in enumerate(slides, start=1)
                for text in (page_mark(number), *_slide(archive, part))
            ]
            return Extraction(
                markdown=joined(written), title=title_of(archive), pages=len(slides) or None
            )


def _slides(archive: Archive) -> Iterator[str]:
    """Yield the slides' parts in the order they are shown."""
    presentation = main_part(archive, _PRESENTATION)
    parts = relationships(archive, presentation)
    for number in archive.parse(presentation, _SlideIds()).ids:
        if number in parts and parts[number].target in archive:
            yield parts[number].target


def _slide(archive: Archive, part: str) -> Iterator[str]:
    yield from archive.parse(part, _ShapeTexts()).blocks
    yield from drawn_texts(archive, part, "chart", "chartEx")
    for relationship in relationships(archive, part).values():
        if relationship.kind == "diagramData":
            yield from archive.parse_beside(relationship.target, _ShapeTexts()).blocks
        elif relationship.kind == "notesSlide":
            yield from archive.parse(relationship.target, _ShapeTexts(plain=True)).blocks


@dataclass
class _SlideIds:
    ids: list[str] = field(default_factory=list[str])

    def start(self, name: str, attributes: Attributes) -> None:
        if name == "sldId":
            self.ids.append(attributes.get("id", ""))

    def end(self, name: str) -> None:
        """Take the end of an element."""

    def text(self, text: str) -> None:
        """Take text between tags."""


class _ShapeTexts:
    """The texts of a slide's shapes as Markdown blocks; `plain` knows no titles and lists."""

    def __init__(self, *, plain: bool = False) -> None:
        self.blocks: list[str] = []
        self._plain = plain
        self._kind: str | None = None
        self._paragraph: list[str] = []
        self._level = 0
        self._lines: list[str] = []
        self._rows: list[dict[int, str]] = []
        self._in_text = False
        self._copies = 0

    def start(self, name: str, attributes: Attributes) -> None:
        self._copies += name == _COPIES
        self._in_text = name == "t" and not self._copies
        if name in {"sp", "graphicFrame"}:
            self._kind = None
        elif name == "ph":
            self._kind = attributes.get("type", "")
        elif name == "p":
            self._paragraph, self._level = [], 0
        elif name == "pPr":
            self._level = min(int(attributes.get("lvl", "0")), _MAX_INDENT)
        elif name == "br":
            self._paragraph.append("\n")
        elif name == "tr":
            self._rows.append({})

    def end(self, name: str) -> None:
        self._in_text = False
        self._copies -= name == _COPIES
        if name == "p":
            self._end_paragraph()
        elif name == "tc" and self._rows:
            self._end_cell()
        elif name == "tbl":
            self.blocks.append(table([row for row in self._rows if any(row.values())]))
            self._rows = []
        elif name in {"sp", "pt"}:
            self._end_shape()

    def text(self, text: str) -> None:
        if self._in_text:
            self._paragraph.append(text)

    def _end_paragraph(self) -> None:
        text = "".join(self._paragraph).strip()
        if not text or self._kind in _FURNITURE:
            return
        if self._rows or self._plain or self._kind not in _LISTS:
            self._lines.append(text)
        else:
            self._lines.append(f"{'  ' * self._level}- {one_line(text)}")

    def _end_cell(self) -> None:
        row = self._rows[-1]
        row[len(row)] = " ".join(self._lines)
        self._lines = []

    def _end_shape(self) -> None:
        lines, self._lines = self._lines, []
        if self._kind in _TITLES and not self._plain:
            self.blocks.append(heading(2, " ".join(lines)))
        elif self._kind in _LISTS and not self._plain:
            self.blocks.append("\n".join(lines))
        else:
            self.blocks.append(joined([escaped(line) for line in lines]))
