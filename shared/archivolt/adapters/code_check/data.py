"""JSON, TOML and YAML: read as far as the first error, and nothing is built of them."""

import json
import re
import tomllib
from collections.abc import Iterator
from typing import Any, Final, Protocol, cast

import yaml

from archivolt.adapters.code_check.repeated_keys import YamlKeys, repeated_json_keys
from archivolt.domain.code_check import CodeError

_TOML_PLACE: Final = re.compile(r" \(at (?:line (\d+), column (\d+)|end of document)\)$")
_TWICE: Final = "the key is there already"
# The parser in C is a hundred times faster; wheels have it, other builds may not.
_YAML_LOADER: Final = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


class _Mark(Protocol):
    """A place in YAML, counted from 0."""

    @property
    def line(self) -> int: ...
    @property
    def column(self) -> int: ...


class _NoNumberError(ValueError):
    """NaN or an infinity, which JSON does not have."""


def json_errors(text: str) -> Iterator[CodeError]:
    """Yield the first error of a JSON text, or the keys that are there already."""
    try:
        json.loads(text, parse_constant=_no_number, parse_int=str, parse_float=str)
    except json.JSONDecodeError as error:
        yield CodeError(line=error.lineno, column=error.colno, message=error.msg)
    except _NoNumberError as error:
        line, column = _place(text, max(text.find(str(error)), 0))
        yield CodeError(line=line, column=column, message=f"{error} is no JSON number")
    else:
        for offset in repeated_json_keys(text):
            line, column = _place(text, offset)
            yield CodeError(line=line, column=column, message=_TWICE)


def _no_number(constant: str) -> Any:  # noqa: ANN401  never returns
    raise _NoNumberError(constant)


def toml_errors(text: str) -> Iterator[CodeError]:
    """Yield the first error of a TOML text."""
    try:
        tomllib.loads(text)
    except ValueError as error:
        told = str(error)
        place = _TOML_PLACE.search(told)
        line, column = _place(text, len(text))
        if place and place[1]:
            line, column = int(place[1]), int(place[2])
        yield CodeError(line=line, column=column, message=_TOML_PLACE.sub("", told))


def yaml_errors(text: str) -> Iterator[CodeError]:
    """Yield the first error of a YAML stream, and before it the keys that are there already.

    Aliases are looked up and not expanded.
    """
    anchors: set[str] = set()
    keys = YamlKeys()
    try:
        for event in cast("Iterator[Any]", yaml.parse(text, Loader=_YAML_LOADER)):
            if keys.is_repeated(event):
                yield _at(event.start_mark, _TWICE)
            if _lacks_anchor(event, anchors):
                yield _at(event.start_mark, "alias of no anchor")
    except yaml.MarkedYAMLError as error:
        told = ", ".join(filter(None, (error.context, error.problem)))
        yield _at(error.problem_mark or error.context_mark, told)
    except yaml.reader.ReaderError as error:
        line, column = _place(text, int(error.position))
        yield CodeError(line=line, column=column, message=error.reason)


def _lacks_anchor(event: Any, anchors: set[str]) -> bool:  # noqa: ANN401  events have no common type
    """Whether an event is an alias of none of the document's anchors, which this keeps."""
    if isinstance(event, yaml.DocumentStartEvent):
        anchors.clear()
    elif isinstance(event, yaml.AliasEvent):
        return event.anchor not in anchors
    elif anchor := getattr(event, "anchor", None):
        anchors.add(anchor)
    return False


def _at(mark: _Mark | None, message: str) -> CodeError:
    line, column = (mark.line, mark.column) if mark else (0, 0)
    return CodeError(line=line + 1, column=column + 1, message=message)


def _place(text: str, offset: int) -> tuple[int, int]:
    """Return the line and column of a character."""
    before = text[:offset]
    return before.count("\n") + 1, offset - (before.rfind("\n") + 1) + 1
