"""Our errors as JSON-RPC errors, where MCP has no other place for them (resources, lists)."""

from typing import Final

from mcp.shared.exceptions import MCPError
from mcp_types import INVALID_PARAMS
from mcp_types.version import HANDSHAKE_PROTOCOL_VERSIONS

from archivolt.domain.errors import (
    ArchivoltError,
    ConflictError,
    RateLimitedError,
    UnavailableError,
)
from archivolt.domain.messages import Language

_NOT_FOUND_BEFORE_2026: Final = -32002
# Ours: in JSON-RPC's range for servers, outside what MCP keeps for itself (-32020 and below).
_TRY_AGAIN: Final = -32010


def resource_not_found(uri: str, protocol_version: str) -> MCPError:
    """Return the one answer for what is absent, malformed, or somebody else's."""
    legacy = protocol_version in HANDSHAKE_PROTOCOL_VERSIONS
    code = _NOT_FOUND_BEFORE_2026 if legacy else INVALID_PARAMS
    return MCPError(code, "Resource not found", {"uri": uri})


def protocol_error(error: ArchivoltError, language: Language) -> MCPError:
    """Return an error whose text starts with our stable code; `data` carries code and values."""
    temporary = isinstance(error, RateLimitedError | UnavailableError | ConflictError)
    return MCPError(
        _TRY_AGAIN if temporary else INVALID_PARAMS,
        f"{error.code}: {error.message(language)}",
        {"code": error.code, **error.details},
    )
