"""Keys that a mapping of JSON or YAML has twice: what stands there first is lost without a word."""

import json
import re
from collections.abc import Iterator
from typing import Any, Final

import yaml

_JSON_PART: Final = re.compile(r'(?P<key>"(?:[^"\\]|\\.)*")\s*:|"(?:[^"\\]|\\.)*"|[{}]')
# What stands for a comment in JSON, by custom; what takes another mapping in, in YAML.
_COMMENTS: Final = ("//", "$comment", "_comment")
_MERGE: Final = "<<"


def repeated_json_keys(text: str) -> Iterator[int]:
    """Yield where a key is told again; the text is one that JSON's parser took."""
    objects: list[set[str]] = []
    for part in _JSON_PART.finditer(text):
        if part[0] == "{":
            objects.append(set())
        elif part[0] == "}":
            objects.pop()
        elif part["key"]:
            key = json.loads(part["key"], strict=False)
            if key in objects[-1] and not key.startswith(_COMMENTS):
                yield part.start()
            objects[-1].add(key)


class YamlKeys:
    """The keys of the mappings that a stream of events is in."""

    def __init__(self) -> None:
        # A sequence has no keys; of a mapping, whether what comes next is one.
        self._around: list[set[tuple[str, bool]] | None] = []
        self._key_next: list[bool] = []

    def is_repeated(self, event: Any) -> bool:  # noqa: ANN401  events have no common type
        """Whether an event, told after those before it, is a key that its mapping has already."""
        if isinstance(event, yaml.CollectionEndEvent):
            self._around.pop()
            self._key_next.pop()
            return False
        if not isinstance(event, yaml.NodeEvent):
            return False
        repeated = self._is_known_key(event)
        if isinstance(event, yaml.CollectionStartEvent):
            self._around.append(set() if isinstance(event, yaml.MappingStartEvent) else None)
            self._key_next.append(True)
        return repeated

    def _is_known_key(self, event: Any) -> bool:  # noqa: ANN401  as above
        keys = self._around[-1] if self._around else None
        if keys is None:
            return False
        is_key, self._key_next[-1] = self._key_next[-1], not self._key_next[-1]
        if not is_key or not isinstance(event, yaml.ScalarEvent) or event.value == _MERGE:
            return False
        # 1 and "1" are two keys.
        key = event.value, bool(event.implicit[0])
        known = key in keys
        keys.add(key)
        return known
