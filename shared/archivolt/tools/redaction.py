"""The redact step: no secret in any text of a result, excerpts and names included (O66)."""

from collections.abc import Callable, Generator, Mapping
from contextlib import contextmanager
from typing import Final, TypeVar, cast
from urllib.parse import unquote

from archivolt.domain.errors import ArchivoltError, Detail
from archivolt.domain.limits import MAX_ERROR_DETAIL_CHARS
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
        items = cast("dict[str, object]", value).items()
        return {key: _WITH_FORM.get(key, _redacted)(item) for key, item in items}
    return value


def _redacted_diff(diff: object) -> object:
    """Redact the lines of a diff without their marks: `+key` is not the `key` that rules know."""
    if not isinstance(diff, str):
        return _redacted(diff)
    return "".join(
        line[:1] + redact(line[1:]).text for line in redact(diff).text.splitlines(keepends=True)
    )


def _redacted_address(uri: object) -> object:
    """Redact an address as it is read: to the rules, `%20` before a token is a part of it."""
    if not isinstance(uri, str):
        return _redacted(uri)
    plain = redact(unquote(uri))
    return plain.text if plain.secrets else uri


_WITH_FORM: Final[Mapping[str, Callable[[object], object]]] = {
    "diff": _redacted_diff,
    "uri": _redacted_address,
    "new_uri": _redacted_address,
}
"""Texts whose form hides secrets from the rules, by the key they have in results."""


@contextmanager
def without_secrets() -> Generator[None, None, None]:
    """Let no error leave with a secret, or with a text of any length, in its details."""
    try:
        yield
    except ArchivoltError as error:
        error.details = {name: _shortened(value) for name, value in redacted(error.details).items()}
        raise


def _shortened(detail: Detail) -> Detail:
    if not isinstance(detail, str) or len(detail) <= MAX_ERROR_DETAIL_CHARS:
        return detail
    return detail[:MAX_ERROR_DETAIL_CHARS] + "…"
