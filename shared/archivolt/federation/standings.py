"""How a person stands with a server of others, and where they go to sign in."""

from dataclasses import dataclass
from datetime import datetime
from urllib.parse import urlsplit

from archivolt.domain.federation import McpServer
from archivolt.domain.mcp_accounts import McpAccount, McpAccountState
from archivolt.federation.targets import address_of, place_of


@dataclass(frozen=True, slots=True, kw_only=True)
class SignInPlace:
    """Where a person goes to sign in, and until when they have to be back."""

    address: str
    expires_at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class Standing:
    """How a person stands with a server; `account` is None for who has none.

    `place` is the host that an account's token goes to. `is_open`: accounts can be connected, as
    the server is on and has an address.
    """

    server: McpServer
    state: McpAccountState
    account: McpAccount | None
    page: str
    place: str
    is_open: bool


def standing_of(server: McpServer, account: McpAccount | None, page: str) -> Standing:
    """Return how the person of an account stands, who may have none."""
    return Standing(
        server=server,
        state=state_of(server, account),
        account=account,
        page=page,
        place=urlsplit(address_of(server)).netloc,
        is_open=is_open(server),
    )


def is_open(server: McpServer) -> bool:
    """Tell whether accounts can be connected at a server."""
    return server.enabled and bool(address_of(server))


def state_of(server: McpServer, account: McpAccount | None) -> McpAccountState:
    """Return the state of an account at a server: what was let in elsewhere is not let in here."""
    if account is None:
        return McpAccountState.ABSENT
    return account.state if account.place == place_of(server) else McpAccountState.MOVED
