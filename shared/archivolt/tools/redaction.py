"""The redact step: no secret in any text of a result, excerpts and names included (O66)."""

from typing import TypeVar, cast

from archivolt.domain.redaction import redact

JsonT = TypeVar("JsonT")


def redacted(value: JsonT) -> JsonT:
    """Return a JSON value with every text in it redacted; keys are the product's own."""
    return cast("JsonT", _redacted(value))


def _redacted(value: object) -> object:
    if isinstance(value, str):
        return redact(value).text
    if isinstance(value, list):
        return [_redacted(item) for item in cast("list[object]", value)]
    if isinstance(value, dict):
        return {key: _redacted(item) for key, item in cast("dict[str, object]", value).items()}
    return value
