"""Where a list of resources goes on, as the opaque text that a client gives back."""

import json
from base64 import urlsafe_b64decode, urlsafe_b64encode
from dataclasses import dataclass

from mcp.shared.exceptions import MCPError
from mcp_types import INVALID_PARAMS


@dataclass(frozen=True, slots=True)
class Place:
    """The files of a vault after `after` come next; None: its first files.

    It grants nothing: the vault is looked up among the caller's each time.
    """

    vault: str
    after: str | None = None

    def cursor(self) -> str:
        """Return the place as a client carries it."""
        return urlsafe_b64encode(json.dumps([self.vault, self.after]).encode()).decode()


def read_cursor(cursor: str) -> Place:
    """Return the place in a cursor.

    Raises:
        MCPError: -32602: it is none of ours (MCP, "Pagination").

    """
    try:
        decoded: object = json.loads(urlsafe_b64decode(cursor))
    except (ValueError, RecursionError):
        decoded = None
    match decoded:
        case [str() as vault, (str() | None) as after]:
            return Place(vault, after)
        case _:
            raise MCPError(INVALID_PARAMS, "Invalid cursor")


def require_no_cursor(cursor: str | None) -> None:
    """Refuse a cursor where there is one page only: none was ever given out.

    Raises:
        MCPError: -32602.

    """
    if cursor is not None:
        raise MCPError(INVALID_PARAMS, "Invalid cursor")
