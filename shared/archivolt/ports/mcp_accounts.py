"""People's accounts at MCP servers of others: where they are kept, and who lets them in."""

from datetime import datetime
from typing import Protocol

from archivolt.domain.deadlines import Deadline
from archivolt.domain.identity import TenantId, UserId
from archivolt.domain.mcp_accounts import (
    AuthorizationServer,
    KeptClient,
    McpAccount,
    OAuthWay,
    PendingSignIn,
    Registration,
    TokenAnswer,
)


class McpAccountStore(Protocol):
    """Keeps accounts, sign-ins that are under way, and our clients. Passes `tests/contract`.

    All may raise `UnavailableError`.
    """

    def find(self, tenant: TenantId, user: UserId, server: str) -> McpAccount | None:
        """Return a person's account at a server, or None."""
        ...

    def of_user(self, tenant: TenantId, user: UserId) -> list[McpAccount]:
        """Return a person's accounts by their servers' ids."""
        ...

    def connect(self, account: McpAccount, digest: str) -> bool:
        """Keep what came of a sign-in that was used, in place of the account before, and end that.

        False, and nothing is kept, if it is gone: its person or its server was removed meanwhile.
        """
        ...

    def claim(self, account: McpAccount, *, now: datetime, until: datetime) -> bool:
        """Take the right to renew an account's tokens; False if somebody has it, or has done so."""
        ...

    def renew(self, before: McpAccount, after: McpAccount) -> bool:
        """Keep what became of an account's tokens; False if it is not `before` any more.

        The right to renew them ends with it; what `want` and `refuse` note stays as it is.
        """
        ...

    def want(self, account: McpAccount, scope: str) -> None:
        """Note the scope that an account lacks, and nothing else of it; none of another id."""
        ...

    def refuse(self, account: McpAccount, *, refused: bool) -> None:
        """Note whether its newest token was refused, and nothing else of it; none of another id."""
        ...

    def disconnect(self, tenant: TenantId, user: UserId, server: str) -> McpAccount | None:
        """Remove an account and return it as it was; None if there was none."""
        ...

    def forget_server(self, tenant: TenantId, server: str) -> None:
        """Remove everybody's accounts and sign-ins at a server, and our client there."""
        ...

    def begin(self, pending: PendingSignIn) -> None:
        """Remember a sign-in until it expires."""
        ...

    def pending(self, tenant: TenantId, digest: str) -> PendingSignIn | None:
        """Return a sign-in that was begun and not used, even one that has expired."""
        ...

    def take(self, tenant: TenantId, digest: str) -> bool:
        """Use a sign-in, once whatever happens at the same time; False if it was already.

        That it was stays known until it expires, and nothing of what was sealed.
        """
        ...

    def client(self, tenant: TenantId, server: str) -> KeptClient | None:
        """Return the client that we registered for a server, or None."""
        ...

    def keep_client(self, tenant: TenantId, client: KeptClient) -> None:
        """Keep a client in place of the one before."""
        ...


class AuthorizationServers(Protocol):
    """Speaks to the authorization servers of MCP servers of others.

    All are over by their deadline, and may raise `UnavailableError` (`mcp_server_unavailable`): an
    address does not answer, or not as it should, or not in time.
    """

    def discover(self, server: str, url: str, deadline: Deadline) -> AuthorizationServer:
        """Return who lets people in to the MCP server at an address.

        Raises:
            ConflictError: `mcp_sign_in_unusable`: nobody, or nobody that can be trusted to.

        """
        ...

    def register(
        self, way: OAuthWay, endpoint: str, redirect_uri: str, deadline: Deadline
    ) -> Registration:
        """Register a client of ours (RFC 7591).

        Raises:
            OAuthRefusedError: `mcp_sign_in_refused`.

        """
        ...

    def exchange(
        self, way: OAuthWay, *, code: str, verifier: str, redirect_uri: str, deadline: Deadline
    ) -> TokenAnswer:
        """Return the tokens for a code.

        Raises:
            OAuthRefusedError: `mcp_sign_in_refused`.

        """
        ...

    def renew(self, way: OAuthWay, refresh: str, deadline: Deadline) -> TokenAnswer:
        """Return new tokens for a refresh token, which stays good where no new one comes.

        Raises:
            OAuthRefusedError: `mcp_sign_in_refused`.

        """
        ...

    def revoke(self, way: OAuthWay, token: str, deadline: Deadline) -> None:
        """Have a token ended, where that can be asked for."""
        ...
