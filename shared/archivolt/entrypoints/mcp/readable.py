"""A tool's result as text that a person or a model reads well: all that its structure holds.

Whatever comes from documents stands indented, in quotes where it could pass for a field, or last:
no document can write a line that looks like ours. Refuses to know what any tool does.
"""

import json
from collections.abc import Iterator
from typing import Any, Final, cast

from archivolt.domain.limits import MAX_TOOL_RESULT_CHARS
from archivolt.domain.tool import JsonObject

# Where a reader starts, the first that is there; the rest of an entry stands behind it.
_LEADS: Final = ("line", "path", "name", "tag", "version", "source", "code")
# What stands behind these is a text of one line.
_LEADS_OF_A_LINE: Final = ("line", "code")
# Texts of any length, as they are, at the end.
_BODIES: Final = ("content", "diff", "data")
# The text of an entry needs no name.
_TEXTS: Final = ("excerpt", "text", "message")
# Places in a text, for those who draw it.
_UNREAD: Final = "highlights"
_FIRST: Final = "notices"
_BETWEEN: Final = " · "
_INDENT: Final = "   "


def readable(value: JsonObject) -> str:
    """Return a result as text; as JSON where that would be longer than a model takes."""
    fields = {**value, **cast("JsonObject", value.get("preview") or {})}
    fields.pop("preview", None)
    bodies = [name for name in _BODIES if name in fields]
    body = bodies[0] if bodies else ""
    plain = {name: one for name, one in fields.items() if name != body and _is_told(name, one)}
    lists: dict[str, list[Any]] = {
        name: one for name, one in plain.items() if isinstance(one, list)
    }
    lines = [line for name, one in plain.items() if name not in lists for line in _field(name, one)]
    for name in sorted(lists, key=lambda name: name != _FIRST):
        lines += _list(name, lists[name])
    if body:
        lines += [f"{body}:", fields[body]] if fields[body] else [f"{body}: none"]
    text = "\n".join(lines)
    return text if len(text) <= MAX_TOOL_RESULT_CHARS else json.dumps(value, ensure_ascii=False)


def _is_told(name: str, value: object) -> bool:
    return value is not None and value != "" and name != _UNREAD


def _field(name: str, value: object) -> Iterator[str]:
    if isinstance(value, str) and "\n" in value:
        yield f"{name}:"
        yield _indented(value)
    else:
        yield f"{name}: {_inline(value)}"


def _list(name: str, entries: list[Any]) -> Iterator[str]:
    if not entries:
        yield f"{name}: none"
    elif not all(isinstance(entry, dict) for entry in entries):
        yield f"{name}: {', '.join(_quoted(entry, ', ') for entry in entries)}"
    else:
        yield f"{name}:"
        for number, entry in enumerate(cast("list[JsonObject]", entries), start=1):
            yield from _entry(f"{number}. ", entry)


def _entry(mark: str, entry: JsonObject) -> Iterator[str]:
    """Yield an entry: its fields on one line, what takes more below it."""
    told = {name: one for name, one in entry.items() if _is_told(name, one)}
    lead = next((name for name in _LEADS if name in told), "")
    begins = [f"{mark}{_inline(told.pop(lead))}"] if lead else [mark.rstrip()]
    parts: list[str] = []
    below: list[str] = []
    for name, one in told.items():
        if isinstance(one, list):
            below += _inner(name, cast("list[Any]", one))
        elif name in _TEXTS and lead not in _LEADS_OF_A_LINE:
            below.append(str(one))
        elif name in _TEXTS:
            parts.append(_inline(one))
        elif isinstance(one, str) and "\n" in one:
            below += [f"{name}:", _indented(one)]
        else:
            parts.append(f"{name} {_inline(one)}")
    if lead in _LEADS_OF_A_LINE:
        yield ": ".join([*begins, _BETWEEN.join(parts)])
    else:
        yield _BETWEEN.join([*begins, *parts])
    yield from map(_indented, below)


def _inner(name: str, entries: list[Any]) -> Iterator[str]:
    if entries and all(isinstance(entry, dict) for entry in entries):
        for entry in cast("list[JsonObject]", entries):
            yield from _entry("", entry)
    elif entries:
        yield from _list(name, entries)


def _inline(value: object) -> str:
    return _quoted(value, _BETWEEN)


def _quoted(value: object, between: str) -> str:
    if isinstance(value, str):
        plain = between not in value and "\n" not in value
        return value if plain else json.dumps(value, ensure_ascii=False)
    if isinstance(value, bool):
        return "true" if value else "false"
    return str(value) if isinstance(value, int) else json.dumps(value, ensure_ascii=False)


def _indented(text: str) -> str:
    return "\n".join(f"{_INDENT}{line}" for line in text.splitlines())
