"""How many points an image says it has, and which pages; nothing is unpacked."""

import re
import struct
from collections.abc import Iterator
from contextlib import suppress
from itertools import islice
from typing import Final

_PNG: Final = b"\x89PNG\r\n\x1a\n"
_JPEG: Final = b"\xff\xd8"
_GIF: Final = b"GIF8"
_BITMAP: Final = b"BM"
# The second head of a bitmap of the first kind; all later ones begin alike.
_OLD_BITMAP_HEAD: Final = 12
_TIFF: Final = {b"II*\0": "<", b"MM\0*": ">"}
# Start of frame: every marker from C0 to CF but those of tables and of coding (T.81, B.1.1).
_FRAMES: Final = frozenset({*range(0xC0, 0xD0)} - {0xC4, 0xC8, 0xCC})
_WITHOUT_LENGTH: Final = frozenset({0x01, *range(0xD0, 0xD9), 0xFF})
_WIDTH_TAG: Final = 256
_HEIGHT_TAG: Final = 257
_SHORT: Final = 3
_MAX_TIFF_PAGES: Final = 1_000
_MAX_TIFF_ENTRIES: Final = 500
_MAX_JPEG_MARKERS: Final = 10_000
_MAX_GIF_BLOCKS: Final = 1_000_000
_GIF_EXTENSION: Final = 0x21
_GIF_PICTURE: Final = 0x2C
_WEBP_HEAD_BYTES: Final = 30
# Where a TIFF file says where the directory of its first page is.
_FIRST_DIRECTORY: Final = 4
_WEBP: Final = re.compile(rb"RIFF.{4}WEBP(VP8[ LX])", re.S)

Place = tuple[int, int]
"""Where a page is described: where that begins, and where it says which page comes next."""

_WHOLE: Final[Place] = (0, 0)


def points_of(data: bytes) -> int | None:
    """Return the points of the largest page of an image; None where it does not say."""
    try:
        if data.startswith(_PNG):
            width, height = struct.unpack_from(">II", data, 16)
            return width * height
        if data.startswith(_JPEG):
            return _jpeg(data)
        if data[:4] in _TIFF:
            return _tiff(data, _TIFF[data[:4]])
        if data.startswith(_GIF):
            return _gif(data)
        return _bitmap(data) if data.startswith(_BITMAP) else _webp(data)
    except (struct.error, IndexError):
        return None


def _jpeg(data: bytes) -> int | None:
    place = 2
    for _ in range(_MAX_JPEG_MARKERS):
        place = data.index(b"\xff", place) if b"\xff" in data[place : place + 65_536] else len(data)
        marker = data[place + 1]
        if marker in _FRAMES:
            height, width = struct.unpack_from(">HH", data, place + 5)
            return width * height
        if marker in _WITHOUT_LENGTH:
            place += 1
        else:
            place += 2 + struct.unpack_from(">H", data, place + 2)[0]
    return None


def _gif(data: bytes) -> int | None:
    """Return the points of its screen or of the largest picture on it: each says its own."""
    points = blocks = 0
    with suppress(IndexError, struct.error):  # cut short: what is there counts
        for blocks, found in enumerate(islice(_gif_blocks(data), _MAX_GIF_BLOCKS)):  # noqa: B007
            points = max(points, found)
    return points if points and blocks < _MAX_GIF_BLOCKS - 1 else None


def _gif_blocks(data: bytes) -> Iterator[int]:
    """Yield the points that each block says, 0 for one that says none (GIF89a, appendix B)."""
    width, height, packed = struct.unpack_from("<HHB", data, 6)
    yield width * height
    place = 13 + _gif_colours(packed)
    while data[place] in {_GIF_EXTENSION, _GIF_PICTURE}:
        if data[place] == _GIF_PICTURE:
            width, height, packed = struct.unpack_from("<HHB", data, place + 5)
            yield width * height
            place += 9 + _gif_colours(packed)
        place += 2
        while data[place]:
            yield 0
            place += 1 + data[place]
        place += 1


def _gif_colours(packed: int) -> int:
    """Return the bytes of a table of colours."""
    return 6 << (packed & 7) if packed & 0x80 else 0


def page_places(data: bytes) -> list[Place]:
    """Return the places of the pages of an image; one for what has no pages, or does not say."""
    order = _TIFF.get(data[:4])
    try:
        return (_directories(data, order) if order else []) or [_WHOLE]
    except struct.error:
        return [_WHOLE]


def page_at(data: bytes, place: Place) -> bytes:
    """Return a page of an image as an image of its own."""
    if place == _WHOLE:
        return data
    order, (start, end) = _TIFF[data[:4]], place
    page = bytearray(data)
    struct.pack_into(f"{order}I", page, _FIRST_DIRECTORY, start)
    struct.pack_into(f"{order}I", page, end, 0)
    return bytes(page)


def _directories(data: bytes, order: str) -> list[Place]:
    """Return the places of a TIFF file's pages; none where they have no end."""
    found: list[Place] = []
    (place,) = struct.unpack_from(f"{order}I", data, _FIRST_DIRECTORY)
    while place and len(found) < _MAX_TIFF_PAGES:
        (count,) = struct.unpack_from(f"{order}H", data, place)
        if count > _MAX_TIFF_ENTRIES:
            return []
        found.append((place, place + 2 + 12 * count))
        (place,) = struct.unpack_from(f"{order}I", data, found[-1][1])
    return [] if place else found


def _tiff(data: bytes, order: str) -> int | None:
    pages = _directories(data, order)
    return max((_points_of_page(data, order, page) for page in pages), default=0) or None


def _points_of_page(data: bytes, order: str, page: Place) -> int:
    sides = {_WIDTH_TAG: 0, _HEIGHT_TAG: 0}
    for entry in range(page[0] + 2, page[1], 12):
        tag, kind = struct.unpack_from(f"{order}HH", data, entry)
        if tag in sides:
            form = "H" if kind == _SHORT else "I"
            (sides[tag],) = struct.unpack_from(f"{order}{form}", data, entry + 8)
    return sides[_WIDTH_TAG] * sides[_HEIGHT_TAG]


def _bitmap(data: bytes) -> int:
    (head,) = struct.unpack_from("<I", data, 14)
    width, height = struct.unpack_from("<HH" if head == _OLD_BITMAP_HEAD else "<ii", data, 18)
    # One that is written from above to below has a height below zero.
    return abs(width * height)


def _webp(data: bytes) -> int | None:
    found = _WEBP.match(data)
    if not found or len(data) < _WEBP_HEAD_BYTES:
        return None
    if found[1] == b"VP8X":
        width = int.from_bytes(data[24:27], "little") + 1
        return width * (int.from_bytes(data[27:30], "little") + 1)
    if found[1] == b"VP8L":
        (sides,) = struct.unpack_from("<I", data, 21)
        return ((sides & 0x3FFF) + 1) * ((sides >> 14 & 0x3FFF) + 1)
    width, height = struct.unpack_from("<HH", data, 26)
    return (width & 0x3FFF) * (height & 0x3FFF)
