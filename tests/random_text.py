"""Random text that a regular expression matches, for samples that no file may hold."""

import importlib
import random
import string
from collections.abc import Sequence
from typing import Any

# The parser of the standard library has no public name, nor have the types of its trees.
_PARSER: Any = importlib.import_module("re._parser")
Node = Any

ALPHANUMERIC = string.ascii_letters + string.digits
_USUAL = frozenset(ALPHANUMERIC + "-_.")
_CATEGORIES = {
    "CATEGORY_DIGIT": string.digits,
    "CATEGORY_WORD": ALPHANUMERIC + "_",
    "CATEGORY_SPACE": " ",
}
# How much longer than it must be a repetition may get.
_MORE = 8


class RandomText:
    """Makes text that a pattern matches; `group` is then that of its password, or first group."""

    def __init__(self, dice: random.Random) -> None:
        self._dice = dice
        self._number = 1
        self.group = ""

    def matching(self, pattern: str) -> str:
        """Return text that `pattern` matches; positions and look-arounds are not minded."""
        tree = _PARSER.parse(pattern)
        names: dict[str, int] = tree.state.groupdict
        self._number = next((names[name] for name in names if "password" in name.lower()), 1)
        self.group = ""
        return self._text(tree)

    def _text(self, tree: Sequence[tuple[Node, Node]]) -> str:
        return "".join(self._node(str(kind), value) for kind, value in tree)

    def _node(self, kind: str, value: Node) -> str:
        match kind:
            case "LITERAL":
                return chr(value)
            case "IN":
                return self._dice.choice(_members(value))
            case "ANY":  # often a full stop that nobody escaped
                return "."
            case "NOT_LITERAL":
                return self._dice.choice(ALPHANUMERIC)
            case _:
                return self._nested(kind, value)

    def _nested(self, kind: str, value: Node) -> str:
        match kind:
            case "BRANCH":
                return self._text(self._dice.choice(value[1]))
            case "SUBPATTERN":
                return self._subpattern(value)
            case "MAX_REPEAT" | "MIN_REPEAT":
                least, most, tree = value
                times = self._dice.randint(least, min(int(most), least + _MORE))
                return "".join(self._text(tree) for _ in range(times))
            case _:  # a position: it matches no character
                return ""

    def _subpattern(self, value: Node) -> str:
        number, _, _, tree = value
        text = self._text(tree)
        if number == self._number:
            self.group = text
        return text


def _members(members: Node) -> str:
    """Return the characters of a set, the usual ones where it has any."""
    found = "".join(_characters(str(kind), value) for kind, value in members)
    if str(members[0][0]) == "NEGATE":
        return "".join(sorted(set(ALPHANUMERIC) - set(found))) or " "
    return "".join(sorted(set(found) & _USUAL)) or found or " "


def _characters(kind: str, value: Node) -> str:
    match kind:
        case "LITERAL":
            return chr(value)
        case "RANGE":
            return "".join(map(chr, range(value[0], min(value[1], ord("~")) + 1)))
        case "CATEGORY":
            return _CATEGORIES.get(str(value), ALPHANUMERIC)
        case _:
            return ""
