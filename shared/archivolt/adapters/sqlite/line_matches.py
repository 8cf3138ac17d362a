"""Where in a note a pattern occurs: which line, and where in it."""

from itertools import islice

from archivolt.domain.unaccented import origins
from archivolt.ports.notes import LineMatch
from archivolt.ports.patterns import Pattern


def line_matches(pattern: Pattern, text: str, *, most: int) -> list[LineMatch]:
    """Return the first occurrences of a pattern in a text that is in NFC."""
    data = pattern.prepared(text)
    lines = text.split("\n")
    matches: list[LineMatch] = []
    number, line_start = 0, 0
    for start, end in islice(pattern.prepared_spans(data), most):
        number += data.count(b"\n", line_start, start)
        line_start = data.rfind(b"\n", 0, start) + 1
        places = _places(pattern, lines[number], data[line_start:end], start - line_start)
        matches.append(
            LineMatch(line=number + 1, text=lines[number], start=places[0], end=places[1])
        )
    return matches


def _places(pattern: Pattern, line: str, up_to_end: bytes, start: int) -> tuple[int, int]:
    """Return the characters of a line between which an occurrence is; it may end on a later one."""
    first = len(up_to_end[:start].decode("utf-8", "ignore"))
    last = len(up_to_end.partition(b"\n")[0].decode("utf-8", "ignore"))
    if not pattern.folds or line.isascii():
        return first, last
    known = origins(line, accents=False)
    return known[first], known[last]
