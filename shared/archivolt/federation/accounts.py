"""Connecting an account of one's own to a server of others: there and back, and how it stands.

Between going there and coming back a sign-in is kept by the digest of its `state`, for whoever
began it: it is good once, soon over, and for nobody else's browser (RFC 9700 §4.7).
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from archivolt.domain.deadlines import Deadline
from archivolt.domain.errors import ConflictError, ForbiddenError, NotFoundError
from archivolt.domain.federation import McpServer
from archivolt.domain.federation_limits import (
    MAX_MCP_ID_CHARS,
    MCP_LEAST_SECONDS,
    MCP_SIGN_IN_SECONDS,
    MCP_WAIT_SECONDS,
)
from archivolt.domain.identity import Principal, Role
from archivolt.domain.mcp_accounts import (
    McpAccount,
    McpAccountState,
    McpTokens,
    OAuthRefusedError,
    PendingSignIn,
    SignInSecrets,
    TokenAnswer,
)
from archivolt.domain.token_forms import ID_CHARS, SECRET_CHARS, digest_of, random_text
from archivolt.federation.access import SignInPages
from archivolt.federation.our_clients import OurClients
from archivolt.federation.renewal import TokenRenewal, with_answer
from archivolt.federation.sign_ins import (
    SignInAnswer,
    address_for,
    require_answer_of,
    scope_for,
    way_of,
)
from archivolt.federation.standings import (
    SignInPlace,
    Standing,
    is_open,
    standing_of,
    state_of,
)
from archivolt.federation.targets import address_of, place_of
from archivolt.ports.clock import Clock
from archivolt.ports.federation import McpServerStore
from archivolt.ports.governance import SecretBox
from archivolt.ports.mcp_accounts import AuthorizationServers, McpAccountStore


@dataclass(frozen=True, slots=True, kw_only=True)
class AccountSupport:
    """What connecting accounts stands on.

    `ask` has a server list its tools for somebody, in so many seconds.
    """

    servers: McpServerStore
    accounts: McpAccountStore
    secrets: Callable[[], SecretBox]
    authorization: Callable[[], AuthorizationServers]
    renewal: TokenRenewal
    clients: OurClients
    pages: SignInPages
    clock: Clock
    ask: Callable[[Principal, McpServer, float], None]


class McpAccounts:
    """Connects and disconnects people's own accounts."""

    def __init__(self, support: AccountSupport) -> None:
        self._on = support

    def standing(self, principal: Principal, server_id: str) -> Standing:
        """Return how the caller stands with a server; one that is off has to have their account.

        Raises:
            NotFoundError: `mcp_server_not_found`.

        """
        server = self._server(principal, server_id)
        account = self._on.accounts.find(principal.tenant, principal.user, server.id)
        if account is None:
            _require_open(server)
        page = self._on.pages.page(server.id) if self._on.pages else ""
        return standing_of(server, account, page)

    def states(
        self, principal: Principal, servers: Sequence[McpServer]
    ) -> Mapping[str, McpAccountState]:
        """Return how the caller stands with those of some servers that have an address."""
        own = self._on.accounts.of_user(principal.tenant, principal.user)
        kept = {account.server: account for account in own}
        return {
            server.id: state_of(server, kept.get(server.id))
            for server in servers
            if address_of(server)
        }

    def begin(self, principal: Principal, server_id: str) -> SignInPlace:
        """Return where the caller signs in to a server, for a few minutes.

        Raises:
            NotFoundError: `mcp_server_not_found`.
            ConflictError: `mcp_sign_in_unavailable`, `mcp_sign_in_unusable`, `mcp_client_needed`,
                `mcp_sign_in_refused`.
            UnavailableError: `mcp_server_unavailable`.

        """
        standing = self.standing(principal, server_id)
        server = standing.server
        _require_open(server)
        if not self._on.pages:
            raise ConflictError("mcp_sign_in_unavailable", server=server.id)
        deadline = self._deadline()
        letting = self._on.authorization().discover(server.id, address_of(server), deadline)
        redirect_uri = self._on.pages.callback(server)
        client = self._on.clients.of(principal.tenant, server, letting, redirect_uri, deadline)
        secrets = SignInSecrets(
            way=way_of(server, letting, client),
            verifier=random_text(SECRET_CHARS),
            redirect_uri=redirect_uri,
            issuer=letting.issuer,
            says_issuer=letting.says_issuer,
            scope=scope_for(server, letting, standing),
        )
        state = random_text(SECRET_CHARS)
        expires_at = self._keep(principal, server, secrets, state)
        address = address_for(letting.authorization_endpoint, secrets, state)
        return SignInPlace(address=address, expires_at=expires_at)

    def finish(self, principal: Principal, place: str, answer: SignInAnswer) -> McpServer:
        """Take what the browser of the caller brought back, and return what they are connected to.

        An administrator's account is what a server is first asked with for its tools.

        Raises:
            ForbiddenError: `mcp_sign_in_over`: not begun by the caller, or too long ago, or used,
                or its person or server was removed meanwhile.
            ConflictError: `mcp_sign_in_refused`, `mcp_sign_in_unusable`.
            UnavailableError: `mcp_server_unavailable`.

        """
        deadline = self._deadline()
        server, secrets = self._taken(principal, place, answer.state)
        require_answer_of(secrets, server, answer)
        authorization = self._on.authorization()
        try:
            tokens = authorization.exchange(
                secrets.way,
                code=answer.code,
                verifier=secrets.verifier,
                redirect_uri=secrets.redirect_uri,
                deadline=deadline,
            )
        except OAuthRefusedError as error:
            self._on.clients.refused(principal.tenant, server, secrets.way.client, error)
            raise
        account = self._account(principal, server, secrets, tokens)
        self._connect(account, digest_of(answer.state), deadline)
        self._on.clients.proved(principal.tenant, server, secrets.way.client)
        self._ask(principal, server, deadline)
        return server

    def end(self, principal: Principal, server_id: str) -> None:
        """Forget the caller's account at a server, and have its tokens ended there if they can be.

        Raises:
            NotFoundError: `mcp_account_not_found`.

        """
        account = self._on.accounts.disconnect(principal.tenant, principal.user, server_id)
        if account is None:
            raise NotFoundError("mcp_account_not_found", server=server_id[:MAX_MCP_ID_CHARS])
        self._on.renewal.end(account, self._deadline())

    def callback(self, server: McpServer) -> str:
        """Return the address of ours that a server has to know, "" where nobody can sign in."""
        return self._on.pages.callback(server) if self._on.pages and address_of(server) else ""

    def _deadline(self) -> Deadline:
        return Deadline(self._on.clock.now, MCP_WAIT_SECONDS)

    def _server(self, principal: Principal, server_id: str) -> McpServer:
        kept = self._on.servers.of_tenant(principal.tenant)
        found = next((server for server in kept if server.id == server_id), None)
        if found is None:
            raise NotFoundError("mcp_server_not_found", server=server_id[:MAX_MCP_ID_CHARS])
        return found

    def _keep(
        self, principal: Principal, server: McpServer, secrets: SignInSecrets, state: str
    ) -> datetime:
        digest = digest_of(state)
        expires_at = self._on.clock.now() + timedelta(seconds=MCP_SIGN_IN_SECONDS)
        sealed = self._on.secrets().seal(
            secrets.as_text(), tenant=principal.tenant, field=_pending_field(digest)
        )
        self._on.accounts.begin(
            PendingSignIn(
                digest=digest,
                tenant=principal.tenant,
                user=principal.user,
                server=server.id,
                place=place_of(server),
                sealed=sealed,
                expires_at=expires_at,
            )
        )
        return expires_at

    def _taken(
        self, principal: Principal, place: str, state: str
    ) -> tuple[McpServer, SignInSecrets]:
        """Return what was begun, which is used up with it, if it was by who is back.

        Another person's browser uses nothing up: they may have been led here (RFC 9700 §4.7).
        """
        digest = digest_of(state)
        pending = self._on.accounts.pending(principal.tenant, digest)
        own = pending is not None and (pending.tenant, pending.user, pending.place) == (
            *(principal.tenant, principal.user, place),
        )
        if pending is None or not own or not self._on.accounts.take(principal.tenant, digest):
            raise ForbiddenError("mcp_sign_in_over")
        try:
            server = self._server(principal, pending.server)
            _require_open(server)
        except NotFoundError as error:
            raise ForbiddenError("mcp_sign_in_over") from error
        if pending.expires_at <= self._on.clock.now() or place_of(server) != place:
            raise ForbiddenError("mcp_sign_in_over")
        opened = self._on.secrets().open(
            pending.sealed, tenant=principal.tenant, field=_pending_field(digest)
        )
        return server, SignInSecrets.of_text(opened)

    def _account(
        self,
        principal: Principal,
        server: McpServer,
        secrets: SignInSecrets,
        tokens: TokenAnswer,
    ) -> McpAccount:
        now = self._on.clock.now()
        account = McpAccount(
            tenant=principal.tenant,
            user=principal.user,
            server=server.id,
            place=place_of(server),
            id=random_text(ID_CHARS),
            issuer=secrets.issuer,
            sealed="",
            connected_at=now,
            scope=secrets.scope,
        )
        empty = McpTokens(way=secrets.way, access="")
        return with_answer(account, empty, tokens, self._on.secrets(), now)

    def _connect(self, account: McpAccount, digest: str, deadline: Deadline) -> None:
        """Keep an account, and have the one that it replaces ended, or it where it may not be."""
        replaced = self._on.accounts.find(account.tenant, account.user, account.server)
        if not self._on.accounts.connect(account, digest):
            self._on.renewal.end(account, deadline)
            raise ForbiddenError("mcp_sign_in_over")
        if replaced is not None:
            self._on.renewal.end(replaced, deadline, by=account)

    def _ask(self, principal: Principal, server: McpServer, deadline: Deadline) -> None:
        """Have a server asked for its tools as an administrator, if it was not, and in time.

        The chat asks it at its next message.
        """
        administers = principal.role.includes(Role.TENANT_ADMIN)
        left = deadline.left()
        if administers and (server.tools is None or server.problem) and left >= MCP_LEAST_SECONDS:
            self._on.ask(principal, server, left)


def _require_open(server: McpServer) -> None:
    if not is_open(server):
        raise NotFoundError("mcp_server_not_found", server=server.id)


def _pending_field(digest: str) -> str:
    return f"mcp-sign-in:{digest}"
