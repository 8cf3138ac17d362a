"""How a text file is written: encoding, byte order mark, line ends; an edit keeps them.

What an edit does not touch keeps its bytes. New text is written in the encoding of the file, or the
whole file in UTF-8 where its encoding lacks a character. A text given with plain line feeds takes
the line ends of the file; one that has carriage returns of its own is kept as it is.
"""

import codecs
from dataclasses import dataclass
from typing import Final, Self

from archivolt.domain.errors import InvalidRequestError
from archivolt.domain.line_alignment import same_lines
from archivolt.vaults.decoding import decode

_BOMS: Final = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF32_LE, "utf-32-le"),
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)
_MARK: Final = "\ufeff"


@dataclass(frozen=True, slots=True, kw_only=True)
class TextForm:
    """A text as it is stored: `text` without its byte order mark, and how it became `data`."""

    data: bytes
    text: str
    encoding: str
    bom: bytes = b""

    @classmethod
    def of(cls, data: bytes) -> Self | None:
        """Return how a file is written; None if it is not text."""
        decoded = decode(data)
        if decoded is None:
            return None
        bom, encoding = _bom_of(data, decoded.encoding)
        return cls(data=data, text=decoded.text, encoding=encoding, bom=bom)

    def written(self, text: str, *, line_ends_as_given: bool = False) -> bytes:
        """Return the bytes of the file with `text` in it, kept as close to what they are.

        With `line_ends_as_given`, the line ends of `text` are meant as they are.

        Raises:
            InvalidRequestError: `invalid_request`: the text is not Unicode.

        """
        if self.bom and not self.text.startswith(_MARK):
            text = text.removeprefix(_MARK)
        if not line_ends_as_given:
            text = self._with_line_ends(text)
        if text == self.text:
            return self.data
        data = self._encoded(text)
        if data is None:
            return utf8(text)
        return data if self._is_exact else self._with_damage_kept(text)

    def appended(self, text: str) -> bytes:
        """Return the bytes of the file with `text` on a line of its own at its end.

        What stands before keeps its bytes, unless its encoding lacks a character of the new text.

        Raises:
            InvalidRequestError: `invalid_request`: the text is not Unicode.

        """
        if self.text and not self.text.endswith(("\n", "\r")):
            text = f"\n{text}"
        if "\r" in self.text and "\r" not in text:
            text = text.replace("\n", self._line_end)
        try:
            return self.data + text.encode(self.encoding)
        except UnicodeEncodeError:
            return utf8(self.text + text)

    def _encoded(self, text: str) -> bytes | None:
        try:
            return self.bom + text.encode(self.encoding)
        except UnicodeEncodeError:
            return None

    @property
    def _is_exact(self) -> bool:
        return self._encoded(self.text) == self.data

    def _with_line_ends(self, text: str) -> str:
        """Return `text` with the line ends of the file, line by line where the line is the same."""
        if "\r" in text or "\r" not in self.text:
            return text
        old = self.text.splitlines(keepends=True)
        new = text.splitlines(keepends=True)
        lines = [line[:-1] + self._line_end if line.endswith("\n") else line for line in new]
        for stretch in same_lines([_bare(line) for line in old], [_bare(line) for line in new]):
            for step in range(stretch.size):
                before, place = old[stretch.old + step], stretch.new + step
                if new[place].endswith("\n") and before != _bare(before):
                    lines[place] = before
        return "".join(lines)

    @property
    def _line_end(self) -> str:
        """The line end that most lines of the file have."""
        windows, feeds = self.text.count("\r\n"), self.text.count("\n")
        if not feeds:
            return "\r"
        return "\r\n" if windows * 2 > feeds else "\n"

    def _with_damage_kept(self, text: str) -> bytes:
        """Return `text` as bytes; lines it shares with the file keep theirs, damaged or not."""
        raw = self.data.removeprefix(self.bom).split(b"\n")
        old, new = self.text.split("\n"), text.split("\n")
        if len(raw) != len(old):
            return self.bom + text.encode(self.encoding)
        lines = [line.encode(self.encoding) for line in new]
        for stretch in same_lines(old, new):
            lines[stretch.new : stretch.new + stretch.size] = raw[
                stretch.old : stretch.old + stretch.size
            ]
        return self.bom + b"\n".join(lines)


def utf8(text: str) -> bytes:
    """Return a new text as bytes.

    Raises:
        InvalidRequestError: `invalid_request`: it is not Unicode.

    """
    try:
        return text.encode("utf-8")
    except UnicodeEncodeError as error:
        raise InvalidRequestError("invalid_request", problem="content_not_unicode") from error


def _bom_of(data: bytes, encoding: str) -> tuple[bytes, str]:
    for bom, exact in _BOMS:
        if data.startswith(bom) and exact.startswith(encoding):
            return bom, exact
    return b"", encoding


def _bare(line: str) -> str:
    return line.rstrip("\r\n")
