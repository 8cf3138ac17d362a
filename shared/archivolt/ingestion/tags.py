"""The tags of a document: those of its front matter, and `#tags` in its text."""

import re
from collections.abc import Iterable
from typing import Any, Final, cast

import yaml

from archivolt.domain.limits import MAX_TAG_CHARS, MAX_TAGS

_FRONT_MATTER: Final = re.compile(
    r"\A\ufeff?---[ \t]*\r?\n(.{0,20000}?)\r?\n---[ \t]*(?:\r?\n|\Z)", re.DOTALL
)
_FENCES: Final = re.compile(r"(?m)^(```|~~~).*?(?:^\1|\Z)|`[^`\n]*`", re.DOTALL)
# After a space, since `#` inside a word is an anchor; not all digits, since `#12` is an issue.
_INLINE: Final = re.compile(r"(?:(?<=\s)|\A)#(?=[\w/-]*[^\W\d])([\w/-]+)")

# YAML can write characters that no store takes.
_UNWRITABLE: Final = re.compile(r"[\x00-\x1f\x7f-\x9f\ud800-\udfff]")
_TEXT: Final = "tag:yaml.org,2002:str"
_WORDS: Final = (_TEXT, "tag:yaml.org,2002:int")


def tags_of(markdown: str) -> tuple[str, ...]:
    """Return the tags of a document in order, each once, lower-cased, without `#`."""
    found: list[str] = []
    match = _FRONT_MATTER.match(markdown)
    if match is not None:
        found += _declared(match[1])
        markdown = markdown[match.end() :]
    found += _INLINE.findall(_FENCES.sub("", markdown))
    return _normal(found)


def _normal(tags: Iterable[str]) -> tuple[str, ...]:
    writable = (tag for tag in tags if not _UNWRITABLE.search(tag))
    normal = (tag.strip().strip("#/").casefold() for tag in writable)
    return tuple(dict.fromkeys(tag for tag in normal if 0 < len(tag) <= MAX_TAG_CHARS))[:MAX_TAGS]


def _declared(front_matter: str) -> list[str]:
    """Return the tags as they are written: no value is made, since some never end or never fit."""
    try:
        root: Any = yaml.compose(front_matter, Loader=yaml.SafeLoader)
    except (yaml.YAMLError, ValueError, RecursionError):
        return []
    if not isinstance(root, yaml.MappingNode):
        return []
    properties: dict[Any, Any] = {key.value: value for key, value in _pairs(root)}
    value: Any = properties.get("tags", properties.get("tag"))
    if isinstance(value, yaml.SequenceNode):
        return [each.value for each in cast("list[Any]", value.value) if each.tag in _WORDS]
    return re.split(r"[,\s]+", value.value) if value is not None and value.tag == _TEXT else []


def _pairs(mapping: yaml.MappingNode) -> list[tuple[Any, Any]]:
    pairs = cast("list[tuple[Any, Any]]", mapping.value)
    return [(key, value) for key, value in pairs if isinstance(key, yaml.ScalarNode)]
