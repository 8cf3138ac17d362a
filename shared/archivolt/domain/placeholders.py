"""Puts secrets back into a text that was edited without them.

A reader sees `[redacted:kind]` where a secret stands. Each placeholder in the edited text is traced
to the one secret it stands for, by the strongest evidence there is:

1. the same line below the same lines, or below a line that no other secret stands below;
2. the same line at the same place of the text, where no such line came or went;
3. the same words before it on its line (or on the line above, if there are none), or at least
   the same word right before it;
4. that it is the only one left, and so is a secret of its kind.

What cannot be traced so is refused: a secret in the wrong place is worse than an edit to repeat.
"""

import re
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Final

from archivolt.domain.errors import InvalidRequestError
from archivolt.domain.line_alignment import same_lines
from archivolt.domain.secret_positions import hidden_in

_PLACEHOLDER: Final = re.compile(r"\[redacted:[\w-]{1,64}\]")
_WORD: Final = re.compile(r"\w+")
_BLOCK_LINES: Final = 20
# How much of a line before a placeholder tells it from others.
_CUE_CHARS: Final = 300


def first_placeholder(text: str) -> str | None:
    """Return the first placeholder in a text, if there is one."""
    match = _PLACEHOLDER.search(text)
    return None if match is None else match[0]


def restored(edited: str, current: str) -> str:
    """Return `edited` with the secrets of `current` in place of their placeholders.

    Each secret stays hidden to readers: a placeholder moved to where its value would show is
    refused too.

    Raises:
        InvalidRequestError: `placeholder_unknown`: one stands for no secret, or for several.

    """
    if first_placeholder(edited) is None:
        return edited
    shown, values = _as_shown(current)
    known, asked = _placed(shown), _placed(edited)
    chosen = _traced(asked, known, shown, edited, values)
    pieces: list[str] = []
    spans: list[tuple[int, int, _Place]] = []
    end = length = 0
    for place, value in zip(asked, chosen, strict=True):
        pieces += (edited[end : place.start], value)
        length += place.start - end
        spans.append((length, length + len(value), place))
        length += len(value)
        end = place.start + len(place.placeholder)
    whole = "".join([*pieces, edited[end:]])
    _require_hidden(whole, spans)
    return whole


@dataclass(frozen=True, slots=True)
class _Place:
    """A placeholder in a text: where it starts, its line, and its number on the line.

    `look` is what its line looks like, `block` the lines since the last line with a placeholder,
    `run` which of how many lines in a row of that look it is, `cue` the words shortly before it.
    """

    placeholder: str
    start: int
    line: int
    number: int
    look: str
    block: tuple[str, ...]
    run: tuple[int, int]
    cue: tuple[str, ...]


def _as_shown(current: str) -> tuple[str, list[str]]:
    """Return what a reader sees, and what stands behind each placeholder in it.

    A placeholder that stands in the text itself stands for itself.
    """
    pieces: list[str] = []
    values: list[str] = []
    end = 0
    for secret in hidden_in(current):
        literal = current[end : secret.start]
        values += _PLACEHOLDER.findall(literal)
        pieces += (literal, secret.shown)
        count = len(_PLACEHOLDER.findall(secret.shown))
        values += [current[secret.start : secret.end]] * count
        end = secret.end
    values += _PLACEHOLDER.findall(current[end:])
    return "".join([*pieces, current[end:]]), values


def _placed(text: str) -> list[_Place]:
    lines = text.splitlines(keepends=True)
    runs = _runs([line.strip() for line in lines])
    places: list[_Place] = []
    offset, above, block = 0, "", tuple[str, ...]()
    for line, content in enumerate(lines):
        look = content.strip()
        matches = list(_PLACEHOLDER.finditer(content))
        for number, match in enumerate(matches):
            before = content[max(0, match.start() - _CUE_CHARS) : match.start()]
            cue = _words(before) or _words(above[-_CUE_CHARS:])
            start = offset + match.start()
            places.append(_Place(match[0], start, line, number, look, block, runs[line], cue))
        offset += len(content)
        above = look or above
        block = () if matches else (*block[-_BLOCK_LINES + 1 :], look) if look else block
    return places


def _runs(lines: Sequence[str]) -> list[tuple[int, int]]:
    """Return, for each line, which of how many equal lines in a row it is."""
    runs: list[tuple[int, int]] = []
    for _, group in groupby(lines):
        size = len(list(group))
        runs += [(number, size) for number in range(size)]
    return runs


def _words(text: str) -> tuple[str, ...]:
    return tuple(_WORD.findall(_PLACEHOLDER.sub(" ", text).casefold()))


class _Trace:
    """Finds the secret of each placeholder asked for; `found` are those so far."""

    def __init__(
        self, asked: Sequence[_Place], known: Sequence[_Place], values: Sequence[str]
    ) -> None:
        self._asked = asked
        self._known = known
        self._values = values
        self._free = set(range(len(known)))
        self._torn = set[int]()
        self.found: list[str | None] = [None] * len(asked)

    def by(self, key: Callable[[_Place], Hashable], *, in_order: bool = False) -> None:
        """Trace those whose key leads to one secret, or to as many as are asked for, in order."""
        known = self._grouped(key)
        for name, asked in self._left(key).items():
            numbers = known.get(name, [])
            if len({self._values[number] for number in numbers}) == 1:
                self._settle(asked, numbers[:1] * len(asked), numbers)
            elif in_order and len(asked) == len(numbers):
                self._settle(asked, numbers, numbers)

    def by_block(self) -> None:
        """Trace those below a line that stands above one secret of their look and no other.

        Those below such lines of several secrets are not traced by their place after this.
        """
        owners: dict[Hashable, set[str]] = {}
        for place, value in zip(self._known, self._values, strict=True):
            for line in place.block:
                owners.setdefault((_look(place), line), set()).add(value)
        for number in [number for numbers in self._left(_look).values() for number in numbers]:
            place = self._asked[number]
            told = (owners.get((_look(place), line), set[str]()) for line in place.block)
            values = {next(iter(found)) for found in told if len(found) == 1}
            if len(values) == 1:
                self.found[number] = values.pop()
                self._free -= {n for n in self._free if self._values[n] == self.found[number]}
            elif values:
                self._torn.add(number)

    def by_line(self, lines: Mapping[int, int]) -> None:
        """Trace those whose line is the same, unless lines of its look came or went."""
        looks, asked_looks = self._grouped(_look), self._left(_look)
        for number, place in enumerate(self._known):
            if number not in self._free:
                continue
            asked = asked_looks.get(_look(place), [])
            same = [n for n in asked if lines.get(self._asked[n].line) == place.line]
            if len(looks[_look(place)]) == len(asked) and self._torn.isdisjoint(asked):
                self._settle(same, [number] * len(same), [number])

    def by_copying(self) -> None:
        """Trace those that stand where a secret that is found already stands too."""
        free, self._free = self._free, set(range(len(self._known)))
        self.by(_cue)
        self.by(_key)
        self._free &= free

    def by_being_last(self) -> None:
        """Trace one that is left, where one secret of its kind is."""
        left = self._left(_kind)
        for kind, numbers in self._grouped(_kind).items():
            asked = left.get(kind, [])
            one_value = len({self._values[number] for number in numbers}) == 1
            if len(asked) == 1 and one_value and not self._is_of_another(asked[0], numbers):
                self._settle(asked, numbers[:1], numbers)

    def _is_of_another(self, asked: int, numbers: Sequence[int]) -> bool:
        """Tell whether the words before it are rather those before another secret."""
        words = set(self._asked[asked].cue)
        shared = [len(words.intersection(place.cue)) for place in self._known]
        return max(shared) > max(shared[number] for number in numbers)

    def _grouped(self, key: Callable[[_Place], Hashable]) -> dict[Hashable, list[int]]:
        groups: dict[Hashable, list[int]] = {}
        for number in sorted(self._free):
            groups.setdefault(key(self._known[number]), []).append(number)
        return groups

    def _left(self, key: Callable[[_Place], Hashable]) -> dict[Hashable, list[int]]:
        groups: dict[Hashable, list[int]] = {}
        for number, (place, value) in enumerate(zip(self._asked, self.found, strict=True)):
            if value is None:
                groups.setdefault(key(place), []).append(number)
        return groups

    def _settle(self, asked: Sequence[int], numbers: Sequence[int], taken: Sequence[int]) -> None:
        for place, number in zip(asked, numbers, strict=True):
            self.found[place] = self._values[number]
        if asked:
            self._free.difference_update(taken)


def _look(place: _Place) -> Hashable:
    return place.look, place.number


def _cue(place: _Place) -> Hashable:
    return place.placeholder, place.cue


def _key(place: _Place) -> Hashable:
    return place.placeholder, place.cue[-1:]


def _kind(place: _Place) -> Hashable:
    return place.placeholder


def _traced(
    asked: Sequence[_Place], known: Sequence[_Place], shown: str, edited: str, values: Sequence[str]
) -> list[str]:
    """Return the value of each placeholder asked for."""
    trace = _Trace(asked, known, values)
    trace.by(lambda p: (_look(p), p.run, p.block), in_order=True)
    trace.by(lambda p: (_look(p), p.run, p.block[-1:]), in_order=True)
    trace.by_block()
    trace.by_line(_same_line(shown, edited))
    trace.by(_cue)
    trace.by(_key)
    trace.by_copying()
    trace.by_being_last()
    for place, value in zip(asked, trace.found, strict=True):
        if value is None:
            raise InvalidRequestError("placeholder_unknown", placeholder=place.placeholder)
    return [value for value in trace.found if value is not None]


def _same_line(shown: str, edited: str) -> dict[int, int]:
    """Return the line of `shown` for each line of `edited` that is the same but for its margins."""
    old, new = ([line.strip() for line in text.splitlines()] for text in (shown, edited))
    return {
        stretch.new + step: stretch.old + step
        for stretch in same_lines(old, new)
        for step in range(stretch.size)
    }


def _require_hidden(whole: str, spans: Sequence[tuple[int, int, _Place]]) -> None:
    hidden = iter(hidden_in(whole))
    secret = next(hidden, None)
    for start, end, place in spans:
        if whole[start:end] == place.placeholder:
            continue
        while secret is not None and secret.end < end:
            secret = next(hidden, None)
        if secret is None or secret.start > start:
            raise InvalidRequestError("placeholder_unknown", placeholder=place.placeholder)
