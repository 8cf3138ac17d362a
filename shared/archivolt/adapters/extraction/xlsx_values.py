"""What the cells of a workbook show: numbers without the noise of floats, days as dates."""

import re
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Final

from archivolt.adapters.extraction.xml_events import Attributes

# ECMA-376 part 1, 18.8.30: the numbers of built-in formats; 27 to 36 and 50 to 58 are East Asian.
_BUILT_IN_DATES: Final = frozenset({*range(14, 23), *range(27, 37), *range(45, 48), *range(50, 59)})
_BUILT_IN_PERCENTAGES: Final = frozenset({9, 10})
_QUOTED: Final = re.compile(r'"[^"]*"|\[[^\]]*\]|\\.|_.')
# Hours, minutes or seconds that do not begin anew with each day.
_ELAPSED: Final = re.compile(r"\[(?:h+|m+|s+)\]", re.IGNORECASE)
_BUILT_IN_ELAPSED: Final = 46
_DATE_LETTERS: Final = re.compile(r"[ymdhs]", re.IGNORECASE)
# Day 0 of the two calendars of Excel; the first counts a 29 February 1900 that never was.
_EPOCH_1900: Final = datetime(1899, 12, 30)  # noqa: DTZ001  a sheet's dates have no zone
_EPOCH_1904: Final = datetime(1904, 1, 1)  # noqa: DTZ001  cells have no zone
_LAST_DAY: Final = 2_958_466
_DIGITS: Final = 15


@dataclass
class CellFormats:
    """An `XmlHandler` of `styles.xml`: what the cell formats show that is no plain number."""

    dates: set[int] = field(default_factory=set[int])
    durations: set[int] = field(default_factory=set[int])
    percentages: set[int] = field(default_factory=set[int])
    _codes: dict[int, str] = field(default_factory=dict[int, str])
    _elapsed: set[int] = field(default_factory=lambda: {_BUILT_IN_ELAPSED})
    _in_cell_formats: bool = False
    _number: int = 0

    def start(self, name: str, attributes: Attributes) -> None:
        """Take the start of an element."""
        if name == "numFmt":
            code = attributes.get("formatCode", "")
            number = _number(attributes.get("numFmtId", ""))
            self._codes[number] = _QUOTED.sub("", code)
            if _ELAPSED.search(code):
                self._elapsed.add(number)
        elif name == "cellXfs":
            self._in_cell_formats = True
        elif name == "xf" and self._in_cell_formats:
            self._add(_number(attributes.get("numFmtId", "")))

    def end(self, name: str) -> None:
        """Take the end of an element."""
        if name == "cellXfs":
            self._in_cell_formats = False

    def text(self, text: str) -> None:
        """Take text between tags."""

    def _add(self, number_format: int) -> None:
        code = self._codes.get(number_format, "")
        if number_format in self._elapsed:
            self.durations.add(self._number)
        elif number_format in _BUILT_IN_DATES or _DATE_LETTERS.search(code):
            self.dates.add(self._number)
        elif number_format in _BUILT_IN_PERCENTAGES or "%" in code:
            self.percentages.add(self._number)
        self._number += 1


@dataclass(frozen=True, slots=True, kw_only=True)
class CellValues:
    """Turns what is stored in a cell into what is read there."""

    strings: list[str]
    formats: CellFormats
    from_1904: bool = False

    def shown(self, stored: str, kind: str, style: str) -> str:
        """Return a cell's text.

        Args:
            stored: The value as the file has it.
            kind: The cell's type (ECMA-376 part 1, 18.18.11), "" or "n" for numbers.
            style: The index of the cell's format.

        """
        if kind == "s":
            index = _number(stored)
            return self.strings[index] if 0 <= index < len(self.strings) else ""
        if kind == "b":
            return "TRUE" if stored.strip() == "1" else "FALSE"
        return self._number(stored, _number(style)) if kind in {"", "n"} else stored

    def _number(self, stored: str, style: int) -> str:
        try:
            value = float(stored)
        except ValueError:
            return stored
        if style in self.formats.durations and abs(value) < _LAST_DAY:
            return _duration(value)
        if style in self.formats.dates and 0 <= value < _LAST_DAY:
            return self._date(value)
        if style in self.formats.percentages:
            return f"{_plain(value * 100)} %"
        # Longer numbers than Excel counts with are names of something.
        return stored if stored.isdecimal() else _plain(value)

    def _date(self, days: float) -> str:
        """Return a date, a time of day, or both."""
        epoch = _EPOCH_1904 if self.from_1904 else _EPOCH_1900
        moment = epoch + timedelta(seconds=round(days * 86_400))
        if days < 1:
            return f"{moment:%H:%M:%S}"
        return f"{moment:%Y-%m-%d}" if days == int(days) else f"{moment:%Y-%m-%d %H:%M:%S}"


def _duration(days: float) -> str:
    """Return hours, minutes and seconds."""
    minutes, seconds = divmod(round(abs(days) * 86_400), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{'-' if days < 0 else ''}{hours}:{minutes:02}:{seconds:02}"


def _plain(value: float) -> str:
    """Return a number with the digits that Excel keeps."""
    return (
        str(int(value))
        if abs(value) < 10**_DIGITS and value == int(value)
        else (f"{value:.{_DIGITS}g}")
    )


def _number(text: str) -> int:
    return int(text) if text.strip().isdecimal() else -1
