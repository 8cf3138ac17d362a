"""What JSON is made of, counted in its bytes: each value costs hundreds of them once it is read.

What stands in strings is text and costs nothing. A string of JSON has no line end in it, so that
each line begins outside of one, whatever the lines before say: those of a stream of events too.
"""

from typing import Final

from archivolt.domain.federation_limits import MAX_MCP_VALUES

# A line is looked at in pieces: all of its strings at once would cost what is to be spared.
_PIECE_BYTES: Final = 65_536
# Two strings to a value, with two marks each, is the most that JSON has.
_MARKS_OF_A_VALUE: Final = 4


class Structure:
    """Counts values as their bytes come, in pieces that may end anywhere."""

    def __init__(self) -> None:
        self._in_string = False
        self._escape = b""

    def values_in(self, piece: bytes) -> int:
        """Return about how many values the next piece adds."""
        text = self._escape + piece
        slashes = len(text) - len(text.rstrip(b"\\"))
        self._escape = b"\\" * (slashes % 2)
        text = text.removesuffix(self._escape).replace(b"\\\\", b"").replace(b'\\"', b"")
        values = marks = 0
        for line in text.splitlines(keepends=True):
            parts = line.split(b'"')
            outside = b"".join(parts[self._in_string :: 2])
            values += outside.count(b"{") + outside.count(b"[") + outside.count(b",")
            marks += len(parts) - 1
            is_turned = len(parts) % 2 == 0
            self._in_string = self._in_string != is_turned and not line.endswith((b"\n", b"\r"))
        return max(values, marks // _MARKS_OF_A_VALUE)


def has_too_many_values(line: bytes) -> bool:
    """Tell whether a line of JSON has more values than are read."""
    structure, found = Structure(), 0
    for start in range(0, len(line), _PIECE_BYTES):
        found += structure.values_in(line[start : start + _PIECE_BYTES])
        if found > MAX_MCP_VALUES:
            return True
    return False
