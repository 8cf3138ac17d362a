"""Names for JSON whose shape is another product's: templates, AWS events, Qdrant's requests."""

from collections.abc import Mapping
from typing import Any, TypeAlias

JsonValue: TypeAlias = Any
JsonObject: TypeAlias = Mapping[str, Any]


def json_items(value: JsonValue) -> list[JsonValue]:
    """Return a list as it is, and a single value as a list of one."""
    return value if isinstance(value, list) else [value]  # pyright: ignore[reportUnknownVariableType]
