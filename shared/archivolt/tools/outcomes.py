"""What an apply came to, as text that is kept and told again to every retry."""

import json
from typing import Any, Final

from archivolt.domain import errors
from archivolt.domain.errors import ArchivoltError, UnavailableError
from archivolt.domain.tool import ToolResult

# By name: an error that is told again is of the kind that it was.
_KINDS: Final[dict[str, type[ArchivoltError]]] = {
    kind.__name__: kind
    for kind in vars(errors).values()
    if isinstance(kind, type) and issubclass(kind, ArchivoltError)
}


def outcome_of_result(result: ToolResult) -> str:
    """Return a result as text."""
    kept = {"value": result.value, "size": result.size, "truncated": result.truncated}
    return json.dumps(kept, ensure_ascii=False)


def outcome_of_error(error: ArchivoltError) -> str:
    """Return an error as text, without its sentence: that is told in each caller's language."""
    kept = {"kind": type(error).__name__, "code": error.code, "details": error.details}
    return json.dumps(kept, ensure_ascii=False)


def told_again(outcome: str) -> ToolResult:
    """Return the result that was kept.

    Raises:
        ArchivoltError: The one that was kept.

    """
    kept: dict[str, Any] = json.loads(outcome)
    if "code" in kept:
        kind = _KINDS.get(kept["kind"], UnavailableError)
        raise kind(kept["code"], **kept["details"])
    return ToolResult(**kept)
