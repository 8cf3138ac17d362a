"""Changes properties in the front matter of a note, and not one character beside them.

YAML is read with a library for where each value stands, and written by splicing the text, so that
comments, quotes and order stay. What was written is read again: if it does not say exactly what it
said before but for the change, the change is refused. Broken YAML is refused, never repaired.
"""

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final, NamedTuple, Protocol, TypeGuard, cast

from archivolt.domain.errors import InvalidRequestError
from archivolt.domain.folding import folded
from archivolt.domain.limits import MAX_FRONT_MATTER_CHARS
from archivolt.domain.paths import VaultPath

Scalar = str | int | float | bool | None
PropertyValue = Scalar | Sequence[Scalar]

_FENCED: Final = re.compile(r"\A---[ \t]*(\r?\n)((?:.*\n)*?)---[ \t]*(?:\r?\n|\Z)")
_OPENED: Final = re.compile(r"\A---[ \t]*\r?\n")
# Line breaks, and what YAML does not let stand as it is.
_NEEDS_ESCAPE: Final = re.compile(
    r"[\x00-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff\ufeff\ufffe\uffff]"
)
_BETWEEN_TAGS: Final = re.compile(r"[,\s]+")
# Aliases of aliases mean as much as the whole note has bytes, many times over.
_MAX_ALIASES: Final = 10


class _Node(Protocol):
    """A value as the YAML library finds it: what it is, and where it starts and ends."""

    id: str
    value: Any
    flow_style: Any
    start_mark: Any
    end_mark: Any


class _Property(NamedTuple):
    """A property of the mapping: where its key starts, its colon ends, and its value."""

    start: int
    colon: int
    value: _Node


class FrontMatter:
    """The front matter of one text, changed step by step.

    Every method raises `InvalidRequestError` `frontmatter_invalid` where it cannot do exactly
    what it says.
    """

    def __init__(self, text: str, path: VaultPath) -> None:
        self._path = path
        match = _FENCED.match(text)
        if match is None and _OPENED.match(text):
            raise self._refusal("yaml_broken", line=1)
        self._line_end = match[1] if match else "\r\n" if "\r\n" in text else "\n"
        self._head = match[0][: match.start(2)] if match else ""
        self._body = match[2] if match else ""
        self._rest = text[match.end(2) :] if match else text
        self._known = self._read()

    @property
    def text(self) -> str:
        """The whole text, with the front matter as it is now."""
        if self._head or not self._body:
            return self._head + self._body + self._rest
        return f"---{self._line_end}{self._body}---{self._line_end}{self._rest}"

    def set(self, name: str, value: PropertyValue) -> None:
        """Give a property a value; a new one comes last."""
        properties, before = self._known
        wanted = list(value) if _is_list(value) else value
        after = {**before, name: wanted}
        if name in properties:
            body = self._with_value(properties[name], value)
        else:
            line = f"{_scalar(name)}:{self._written(value, column=2)}{self._line_end}"
            body = self._body + " " * self._margin(properties) + line
        self._accept(body, after, name)

    def remove(self, name: str) -> None:
        """Remove a property; one that is not there is no mistake."""
        properties, before = self._known
        if name not in properties:
            return
        start = self._body.rfind("\n", 0, properties[name].start) + 1
        end = self._line_after(self._end(properties[name].value, properties[name].colon))
        after = {key: value for key, value in before.items() if key != name}
        self._accept(self._body[:start] + self._body[end:], after, name)

    def add_tags(self, tags: Sequence[str]) -> None:
        """Add tags that the note does not declare yet, with or without `#`."""
        properties, before = self._known
        name = "tag" if "tag" in properties and "tags" not in properties else "tags"
        value: Any = before.get(name)
        text = value if isinstance(value, str) else ""
        declared = cast("list[Any]", value) if isinstance(value, list) else []
        declared += [tag for tag in _BETWEEN_TAGS.split(text) if tag]
        known = {folded(str(tag).strip("# ")) for tag in declared}
        new = [tag for tag in dict.fromkeys(t.strip("# ") for t in tags) if tag]
        new = [tag for tag in new if folded(tag) not in known]
        if new and declared and not text:
            body = self._with_items(properties[name].value, new)
            self._accept(body, {**before, name: [*declared, *new]}, name)
        elif new:
            self.set(name, [*declared, *new])

    def _with_value(self, found: _Property, value: PropertyValue) -> str:
        node, end = found.value, self._end(found.value, found.colon)
        if _is_block(node):
            if _is_list(value) and value and node.id == "sequence":
                start = self._body.rfind("\n", 0, node.start_mark.index) + 1
                items = self._items(value, node.start_mark.column)
                return self._body[:start] + items[len(self._line_end) :] + self._body[end:]
            return self._spliced(found.colon, end, self._written(value, column=2))
        if node.start_mark.index == node.end_mark.index:
            return self._spliced(found.colon, found.colon, self._written(value, column=2))
        return self._spliced(node.start_mark.index, end, _inline(value))

    def _with_items(self, node: _Node, items: Sequence[str]) -> str:
        """Return the body with more items at the end of a sequence."""
        end = self._end(node, node.start_mark.index)
        if _is_block(node):
            return self._spliced(end, end, self._items(items, node.start_mark.column))
        more = ", ".join(_scalar(item) for item in items)
        return self._spliced(end - 1, end - 1, f", {more}")

    def _spliced(self, start: int, end: int, text: str) -> str:
        return self._body[:start] + text + self._body[end:]

    def _written(self, value: PropertyValue, *, column: int) -> str:
        """Return a value as it stands after its colon."""
        if _is_list(value) and value:
            return self._items(value, column)
        return f" {_inline(value)}"

    def _items(self, values: Sequence[Any], column: int) -> str:
        return "".join(f"{self._line_end}{' ' * column}- {_scalar(value)}" for value in values)

    def _end(self, node: _Node, least: int) -> int:
        """Return where a value ends; blank lines and comments below it are not its own."""
        if _is_block(node) and node.value:
            last: _Node = node.value[-1] if node.id == "sequence" else node.value[-1][1]
            return self._end(last, node.start_mark.index)
        text = self._body[node.start_mark.index : node.end_mark.index]
        return max(least, node.start_mark.index + len(text.rstrip()))

    def _line_after(self, place: int) -> int:
        end = self._body.find("\n", place)
        return len(self._body) if end < 0 else end + 1

    def _margin(self, properties: Mapping[str, _Property]) -> int:
        first = next(iter(properties.values()), None)
        return 0 if first is None else first.start - self._body.rfind("\n", 0, first.start) - 1

    def _accept(self, body: str, after: Mapping[str, Any], name: str) -> None:
        """Take a new body if it says what it should."""
        previous, self._body = self._body, body
        try:
            read = self._read()
            same = list(read[1].items()) == list(after.items())
        except (InvalidRequestError, RecursionError) as error:
            self._body = previous
            raise self._refusal("yaml_unlike", name=name) from error
        if not same:
            self._body = previous
            raise self._refusal("yaml_unlike", name=name)
        self._known = read

    def _read(self) -> tuple[dict[str, _Property], dict[str, Any]]:
        """Return the properties, and their values."""
        # Slow to import, and needed by the few calls that change front matter.
        import yaml  # noqa: PLC0415  for front matter only

        if len(self._body) > MAX_FRONT_MATTER_CHARS:
            raise self._refusal("yaml_too_long", limit=MAX_FRONT_MATTER_CHARS)
        try:
            if self._body.count("*") > _MAX_ALIASES:
                self._require_few_aliases(yaml.parse(self._body, Loader=yaml.SafeLoader))
            loader: Any = yaml.SafeLoader(self._body)
            root: Any = loader.get_single_node()
            properties = self._properties(root)
            # From here on the nodes no longer say what is written where.
            loaded: Any = {} if root is None else loader.construct_document(root)
        except (yaml.YAMLError, ValueError, RecursionError) as error:
            mark: Any = getattr(error, "problem_mark", None)
            raise self._refusal("yaml_broken", line=mark.line + 2 if mark else 1) from error
        if not isinstance(loaded, dict):
            raise self._refusal("yaml_not_properties")
        return properties, cast("dict[str, Any]", loaded)

    def _require_few_aliases(self, events: Iterable[Any]) -> None:
        import yaml  # noqa: PLC0415  for front matter only

        if sum(isinstance(event, yaml.AliasEvent) for event in events) > _MAX_ALIASES:
            raise self._refusal("yaml_aliases", limit=_MAX_ALIASES)

    def _properties(self, root: Any) -> dict[str, _Property]:  # noqa: ANN401  the library's own
        if root is None:
            return {}
        if root.id != "mapping" or root.flow_style:
            raise self._refusal("yaml_not_properties")
        properties: dict[str, _Property] = {}
        for key, value in root.value:
            if key.id != "scalar" or key.value in properties:
                raise self._refusal("yaml_twice", name=str(key.value))
            colon = self._body.find(":", key.end_mark.index) + 1
            if not colon:
                raise self._refusal("yaml_unlike", name=key.value)
            properties[key.value] = _Property(key.start_mark.index, colon, value)
        return properties

    def _refusal(self, problem: str, **details: str | int) -> InvalidRequestError:
        return InvalidRequestError(
            "frontmatter_invalid", path=self._path, problem=problem, **details
        )


def _is_list(value: PropertyValue) -> TypeGuard[Sequence[Scalar]]:
    return isinstance(value, Sequence) and not isinstance(value, str)


def _is_block(node: _Node) -> bool:
    return bool(node.id != "scalar" and not node.flow_style)


def _inline(value: PropertyValue) -> str:
    """Return a value on one line."""
    if not _is_list(value):
        return _scalar(cast("Scalar", value))
    return f"[{', '.join(_scalar(each) for each in value)}]"


def _scalar(value: Scalar) -> str:
    """Return one value on one line, quoted where it has to be."""
    if not isinstance(value, str):
        return json.dumps(value)
    if _NEEDS_ESCAPE.search(value):
        quoted = json.dumps(value, ensure_ascii=False)
        return _NEEDS_ESCAPE.sub(lambda sign: f"\\u{ord(sign[0]):04x}", quoted)
    return value if _is_plain(value) else "'" + value.replace("'", "''") + "'"


def _is_plain(value: str) -> bool:
    """Tell whether a text means itself without quotes, in a list of either style too."""
    import yaml  # noqa: PLC0415  for front matter only

    try:
        return yaml.safe_load(f"[{value}]") == yaml.safe_load(f"- {value}") == [value]
    except (yaml.YAMLError, ValueError, RecursionError):
        return False
