"""What people's accounts at MCP servers of others stand on, over the fakes of a world."""

from collections.abc import Callable
from dataclasses import replace
from datetime import timedelta
from typing import Any

from archivolt.domain.federation import McpServer
from archivolt.domain.identity import Principal, TenantId, UserId
from archivolt.domain.mcp_accounts import KeptClient, McpAccount, PendingSignIn
from archivolt.domain.token_forms import digest_of
from archivolt.federation.access import McpAccess, SignInPages
from archivolt.federation.accounts import AccountSupport, McpAccounts
from archivolt.federation.our_clients import OurClients
from archivolt.federation.renewal import TokenRenewal
from archivolt.ports.federation import McpServerStore
from archivolt.ports.mcp_accounts import McpAccountStore
from tests.builders import ACME, ALICE
from tests.fakes.authorization_server import AuthorizationScript
from tests.fakes.clock import START, FrozenClock
from tests.fakes.governance import ReversibleBox
from tests.fakes.mcp_accounts import InMemoryMcpAccounts
from tests.oauth import PUBLIC_URL


def an_account(tenant: TenantId = ACME, user: UserId = ALICE, **changed: Any) -> McpAccount:  # noqa: ANN401  its fields
    """Return an account with everything in it."""
    usual = McpAccount(
        tenant=tenant,
        user=user,
        server="ours",
        place="0123456789abcdef",
        id="one",
        issuer="https://login.test",
        sealed="sealed",
        connected_at=START,
        expires_at=START + timedelta(hours=1),
        renewable=True,
        scope="read",
        wanted="write",
        edition=3,
    )
    return replace(usual, **changed)


def a_pending_sign_in(
    tenant: TenantId = ACME,
    user: UserId = ALICE,
    *,
    digest: str = "",
    sealed: str = "sealed",
) -> PendingSignIn:
    """Return somebody who went to sign in."""
    return PendingSignIn(
        digest=digest or digest_of(f"{tenant} {user}"),
        tenant=tenant,
        user=user,
        server="ours",
        place="0123456789abcdef",
        sealed=sealed,
        expires_at=START + timedelta(minutes=10),
    )


def connected(store: McpAccountStore, account: McpAccount) -> None:
    """Keep an account as what came of a sign-in."""
    pending = a_pending_sign_in(account.tenant, account.user)
    store.begin(pending)
    assert store.take(account.tenant, pending.digest)
    assert store.connect(account, pending.digest)


def a_kept_client(**changed: Any) -> KeptClient:  # noqa: ANN401  its fields
    """Return a client that was registered."""
    usual = KeptClient(
        server="ours",
        place="0123456789abcdef",
        issuer="https://login.test",
        id="client-1",
        sealed="sealed",
        method="client_secret_basic",
        good_until=START + timedelta(days=30),
    )
    return replace(usual, **changed)


class AccountWorld:
    """Accounts over fakes; who waits for somebody moves the clock.

    `asked` are whom `ask` asked, `given` the seconds that they had.
    """

    def __init__(
        self,
        servers: McpServerStore,
        clock: FrozenClock,
        *,
        store: InMemoryMcpAccounts | None = None,
        public_url: str = PUBLIC_URL,
        pause: Callable[[float], object] | None = None,
    ) -> None:
        self.servers = servers
        self.clock = clock
        self.store = store or InMemoryMcpAccounts()
        self.login = AuthorizationScript()
        self.asked: list[str] = []
        self.given: list[float] = []
        self.pages = SignInPages(public_url)
        self.renewal = TokenRenewal(
            lambda: self.store,
            ReversibleBox,
            self.login.servers,
            clock,
            pause or (lambda seconds: clock.advance(seconds=seconds)),
        )
        self.access = McpAccess(lambda: self.store, ReversibleBox, self.renewal, clock, self.pages)
        self.accounts = McpAccounts(
            AccountSupport(
                servers=servers,
                accounts=self.store,
                secrets=ReversibleBox,
                authorization=self.login.servers,
                renewal=self.renewal,
                clients=OurClients(
                    self.store, ReversibleBox, self.login.servers, self.pages, clock
                ),
                pages=self.pages,
                clock=clock,
                ask=self._ask,
            )
        )

    def _ask(self, principal: Principal, server: McpServer, seconds: float) -> None:
        self.asked.append(f"{principal.user} {server.id}")
        self.given.append(seconds)
