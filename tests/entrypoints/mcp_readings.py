"""What a text tells of a structure."""

from collections.abc import Iterator
from typing import Any, cast


def untold(value: object, text: str) -> list[str]:
    """Return the values of a structure that are not in a text, whatever its form."""
    flat = " ".join(text.split())
    leaves = (" ".join(leaf.split()) for leaf in _leaves(value))
    return [leaf for leaf in leaves if leaf not in flat and leaf.replace('"', '\\"') not in flat]


def _leaves(value: object) -> Iterator[str]:
    if isinstance(value, dict):
        for name, one in cast("dict[str, Any]", value).items():
            if name != "highlights":
                yield from _leaves(one)
    elif isinstance(value, list):
        for one in cast("list[Any]", value):
            yield from _leaves(one)
    elif isinstance(value, bool):
        yield str(value).lower()
    elif value is not None:
        yield str(value)
