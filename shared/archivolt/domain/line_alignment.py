"""Which lines of two texts are the same lines: what diffs and careful edits stand on.

Quick on texts of a hundred thousand lines: lines that occur once on both sides are the anchors
(as in a patience diff), and only short stretches between them are compared line by line.
"""

from bisect import bisect_left
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Final, NamedTuple

_MAX_COMPARISONS: Final = 250_000


class SameLines(NamedTuple):
    """`size` lines from `old` in the one text are those from `new` in the other."""

    old: int
    new: int
    size: int


def same_lines(old: Sequence[str], new: Sequence[str]) -> list[SameLines]:
    """Return the stretches of lines that stand in both texts, in order; none is empty."""
    head = _common(zip(old, new, strict=False))
    room = min(len(old), len(new)) - head
    tail = min(room, _common(zip(reversed(old), reversed(new), strict=False)))
    old_end, new_end = len(old) - tail, len(new) - tail
    stretches = [SameLines(0, 0, head)]
    place = SameLines(head, head, 0)
    for anchor in [*_anchors(old, new, head, tail), SameLines(old_end, new_end, tail)]:
        if anchor.old < place.old or anchor.new < place.new:
            continue
        stretches += _between(old[place.old : anchor.old], new[place.new : anchor.new], place)
        stretches.append(anchor)
        place = SameLines(anchor.old + anchor.size, anchor.new + anchor.size, 0)
    return _merged(stretches)


def _common(pairs: Iterator[tuple[str, str]]) -> int:
    count = 0
    for one, other in pairs:
        if one != other:
            break
        count += 1
    return count


def _anchors(old: Sequence[str], new: Sequence[str], head: int, tail: int) -> list[SameLines]:
    """Return the longest ordered series of lines that occur once in each middle."""
    places = _once(old[head : len(old) - tail])
    places_new = _once(new[head : len(new) - tail])
    pairs = [
        SameLines(place + head, places_new[line] + head, 1)
        for line, place in places.items()
        if line in places_new
    ]
    return _longest_ascending(pairs)


def _once(lines: Sequence[str]) -> dict[str, int]:
    counts = Counter(lines)
    return {line: place for place, line in enumerate(lines) if counts[line] == 1}


def _longest_ascending(pairs: Sequence[SameLines]) -> list[SameLines]:
    """Return the longest part of `pairs`, which ascend by `old`, that ascends by `new` too."""
    ends: list[int] = []
    chosen: list[int] = []
    before: list[int] = []
    for number, pair in enumerate(pairs):
        length = bisect_left(ends, pair.new)
        before.append(chosen[length - 1] if length else -1)
        ends[length : length + 1] = [pair.new]
        chosen[length : length + 1] = [number]
    series: list[SameLines] = []
    number = chosen[-1] if chosen else -1
    while number >= 0:
        series.append(pairs[number])
        number = before[number]
    return series[::-1]


def _between(old: Sequence[str], new: Sequence[str], place: SameLines) -> list[SameLines]:
    if not old or not new or len(old) * len(new) > _MAX_COMPARISONS:
        return []
    from difflib import SequenceMatcher  # noqa: PLC0415  few calls compare, all functions import

    blocks = SequenceMatcher(None, old, new, autojunk=False).get_matching_blocks()
    return [SameLines(place.old + b.a, place.new + b.b, b.size) for b in blocks]


def _merged(stretches: Sequence[SameLines]) -> list[SameLines]:
    merged: list[SameLines] = []
    for one in stretches:
        last = merged[-1] if merged else SameLines(0, 0, 0)
        if one.size and merged and one[:2] == (last.old + last.size, last.new + last.size):
            merged[-1] = last._replace(size=last.size + one.size)
        elif one.size:
            merged.append(one)
    return merged
