"""Reads images with RapidOCR, a Python package that carries its models."""

from collections.abc import Iterator, Sequence
from io import BytesIO
from typing import Final, Protocol

from PIL import Image, UnidentifiedImageError
from rapidocr import RapidOCR

from archivolt.adapters.ocr.paragraphs import as_markdown
from archivolt.domain.errors import UnsupportedContentError

_OPTIONS: Final = {
    # It turns good lines upside down (one or two a page).
    "Global.use_cls": False,
    "Global.log_level": "error",
}
_MIN_CONFIDENCE: Final = 0.6
# Lines whose places overlap by more than this part of their height stand side by side.
_SAME_LINE: Final = 0.5
# A gap of more than this part of a line's height parts two paragraphs.
_APART: Final = 0.9

_Box = tuple[float, float, float, str]


class _Found(Protocol):
    """What the package returns: lines, how sure it is of each, and the corners of each."""

    @property
    def txts(self) -> Sequence[str] | None: ...
    @property
    def scores(self) -> Sequence[float]: ...
    @property
    def boxes(self) -> Sequence[Sequence[tuple[float, float]]] | None: ...


class RapidOcr:
    """An `OcrEngine` in this process: 1 GB of memory and some seconds a page, few wrong letters."""

    def __init__(self) -> None:
        self._read = RapidOCR(params=_OPTIONS)

    def read(self, image: bytes, *, dpi: int | None = None) -> list[str]:  # noqa: ARG002  the port's
        """Return the text of an image, of the first one where it is moving, as Markdown.

        Raises:
            UnsupportedContentError: `document_broken`.

        """
        try:
            with Image.open(BytesIO(image)) as opened:
                page = opened.convert("RGB")
        except (UnidentifiedImageError, OSError, ValueError) as error:
            raise UnsupportedContentError("document_broken") from error
        return [as_markdown(_paragraphs(_lines(self._read(page))))]


def _lines(found: _Found) -> list[_Box]:
    """Return top, bottom, left and text of what was read, from above to below."""
    if found.txts is None or found.boxes is None:
        return []
    lines = [
        (
            min(y for _, y in box),
            max(y for _, y in box),
            min(x for x, _ in box),
            text,
        )
        for box, text, score in zip(found.boxes, found.txts, found.scores, strict=True)
        if score >= _MIN_CONFIDENCE
    ]
    return sorted(lines)


def _paragraphs(lines: Sequence[_Box]) -> Iterator[list[str]]:
    rows: list[list[_Box]] = []
    for line in lines:
        if rows and _is_beside(rows[-1][0], line):
            rows[-1].append(line)
        else:
            rows.append([line])
    paragraph: list[str] = []
    bottom = 0.0
    for row in rows:
        top, end = row[0][0], row[0][1]
        if paragraph and top - bottom > _APART * (end - top):
            yield paragraph
            paragraph = []
        paragraph.append(" ".join(text for _, _, _, text in sorted(row, key=lambda box: box[2])))
        bottom = end
    if paragraph:
        yield paragraph


def _is_beside(first: _Box, other: _Box) -> bool:
    height = min(first[1] - first[0], other[1] - other[0])
    return min(first[1], other[1]) - max(first[0], other[0]) > _SAME_LINE * height
