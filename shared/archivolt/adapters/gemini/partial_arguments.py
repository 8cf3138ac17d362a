"""Arguments that come piece by piece, each with the JSONPath of its place."""

import re
from itertools import pairwise
from typing import Any, cast

from archivolt.adapters.streaming.json_values import text
from archivolt.domain.tool import JsonObject

_STEP = re.compile(r"""\.([^.\[\]'"]+)|\[(\d{1,4})\]|\[(?:'([^']*)'|"([^"]*)")\]""")
_VALUES = ("stringValue", "numberValue", "boolValue", "nullValue")


class PartialArguments:
    """Builds one call's arguments. `is_whole` is false while a piece is missing or misplaced."""

    def __init__(self) -> None:
        self.value: JsonObject = {}
        self._growing: set[str] = set()
        self._damaged = False

    @property
    def is_whole(self) -> bool:
        """Whether every value that began has ended, and all were understood."""
        return not (self._growing or self._damaged)

    def feed(self, piece: JsonObject) -> None:
        """Take one entry of `partialArgs`."""
        path = text(piece.get("jsonPath"))
        named = [name for name in _VALUES if name in piece]
        steps = _steps(path)
        if not steps or not named:
            self._damaged = True
            return
        value = None if named[0] == "nullValue" else piece[named[0]]
        if not _place(self.value, steps, value, grow=path in self._growing):
            self._damaged = True
        if piece.get("willContinue"):
            self._growing.add(path)
        else:
            self._growing.discard(path)


def _steps(path: str) -> list[str | int]:
    """Return the names and places of a path, nothing where it is not understood."""
    if not path.startswith("$"):
        return []
    steps: list[str | int] = []
    at = 1
    while match := _STEP.match(path, at):
        name, place, quoted, doubly = match.groups()
        steps.append(int(place) if place is not None else name or quoted or doubly or "")
        at = match.end()
    return steps if at == len(path) else []


def _place(root: JsonObject, steps: list[str | int], value: object, *, grow: bool) -> bool:
    """Put a value at its place, after what is there if it grows; tell whether that went well."""
    holder: Any = root
    for step, following in pairwise(steps):
        fresh: Any = [] if isinstance(following, int) else {}
        if not _fits(holder, step):
            return False
        if isinstance(step, int) and step == len(holder):
            holder.append(fresh)
        elif isinstance(step, str):
            holder.setdefault(step, fresh)
        holder = holder[step]
    last = steps[-1]
    if not _fits(holder, last):
        return False
    if isinstance(last, int) and last == len(holder):
        holder.append(value)
        return True
    before = holder[last] if isinstance(last, int) else holder.get(last)
    holder[last] = f"{before}{value}" if grow and isinstance(before, str) else value
    return True


def _fits(holder: object, step: str | int) -> bool:
    if isinstance(step, str):
        return isinstance(holder, dict)
    return isinstance(holder, list) and step <= len(cast("list[Any]", holder))
