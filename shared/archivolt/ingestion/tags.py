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
    normal = (tag.strip().strip("#/").casefold() for tag in tags)
    return tuple(dict.fromkeys(tag for tag in normal if 0 < len(tag) <= MAX_TAG_CHARS))[:MAX_TAGS]


def _declared(front_matter: str) -> list[str]:
    try:
        loaded: Any = yaml.safe_load(front_matter)
    except (yaml.YAMLError, ValueError, RecursionError):
        return []
    if not isinstance(loaded, dict):
        return []
    declared = cast("dict[Any, Any]", loaded)
    value: Any = declared.get("tags", declared.get("tag"))
    if isinstance(value, str):
        return re.split(r"[,\s]+", value)
    if isinstance(value, list):
        return [str(each) for each in cast("list[Any]", value) if isinstance(each, str | int)]
    return []
