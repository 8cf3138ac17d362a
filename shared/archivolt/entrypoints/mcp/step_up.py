"""A client that was let in to read and calls for a change is told what to ask its person for.

MCP, "Authorization", "Scope Challenge Handling": 403 with `insufficient_scope`, and every scope
that is needed. The pipeline would refuse the call anyway; this only says it where clients look.
"""

import json
from typing import Any, Final, cast

from archivolt.domain.identity import Principal, TokenKind
from archivolt.domain.oauth import ALL_SCOPES

_CHANGES: Final = ("propose_", "apply_")


def has_to_ask_for_more(principal: Principal, body: bytes) -> bool:
    """Tell whether a message calls for a change with a token that a person let only read."""
    if principal.kind is not TokenKind.MCP or not principal.reach.read_only:
        return False
    try:
        message: Any = json.loads(body)
    except (ValueError, RecursionError):
        return False
    if not isinstance(message, dict):
        return False
    fields = cast("dict[str, Any]", message)
    params = fields.get("params")
    name: object = cast("dict[str, Any]", params).get("name") if isinstance(params, dict) else None
    is_call = fields.get("method") == "tools/call"
    return is_call and isinstance(name, str) and name.startswith(_CHANGES)


def challenge(resource_metadata: str) -> str:
    """Return the value of `WWW-Authenticate`."""
    scopes = " ".join(ALL_SCOPES)
    return (
        f'Bearer error="insufficient_scope", scope="{scopes}", '
        f'resource_metadata="{resource_metadata}"'
    )
