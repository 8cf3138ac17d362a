"""Ranges of bytes (RFC 9110 §14): one range at most, anything else is answered whole."""

import re
from typing import Final, NamedTuple

_RANGE: Final = re.compile(r"bytes=(\d{0,18})-(\d{0,18})")


class ByteRange(NamedTuple):
    """From `offset`, `length` bytes; no length when it starts beyond the end."""

    offset: int
    length: int

    @property
    def satisfiable(self) -> bool:
        """Whether there is anything to send."""
        return self.length > 0


def requested_range(header: str | None, size: int) -> ByteRange | None:
    """Return the range a `Range` header asks for of `size` bytes; None for the whole."""
    match = _RANGE.fullmatch((header or "").strip())
    if match is None or match.group() == "bytes=-":
        return None
    first, last = match.groups()
    if not first:
        length = min(int(last), size)
        return ByteRange(size - length, length)
    offset = int(first)
    end = min(int(last) + 1, size) if last else size
    if last and int(last) < offset:
        return None
    return ByteRange(offset, max(0, end - offset))


def content_range(offset: int, length: int, size: int) -> str:
    """Return the `Content-Range` of a part."""
    return f"bytes {offset}-{offset + length - 1}/{size}"
