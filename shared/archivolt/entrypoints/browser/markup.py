"""HTML that is made of elements: whatever is no element is escaped, so nothing can forget it."""

from html import escape
from typing import Final

_VOID: Final = frozenset({"input", "meta"})


class Markup(str):
    """Text that is HTML already. Only `element` and `joined` make it."""

    __slots__ = ()


def element(name: str, /, *children: str, **attributes: str | bool | None) -> Markup:
    """Return an element.

    An attribute's `_` is a `-`, a final one is left out (`class_`); True is an attribute without a
    value, False and None are none.
    """
    written = "".join(_attribute(key, value) for key, value in attributes.items())
    opened = f"<{name}{written}>"
    return Markup(opened if name in _VOID else f"{opened}{joined(*children)}</{name}>")


def joined(*children: str) -> Markup:
    """Return elements and texts one after the other."""
    return Markup(
        "".join(child if isinstance(child, Markup) else escape(child) for child in children)
    )


def _attribute(name: str, value: str | bool | None) -> str:
    if value is None or value is False:
        return ""
    written = name.removesuffix("_").replace("_", "-")
    return f" {written}" if value is True else f' {written}="{escape(value)}"'
