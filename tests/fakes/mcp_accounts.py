"""People's accounts at MCP servers of others, in dictionaries."""

from dataclasses import replace
from datetime import datetime
from threading import Lock

from archivolt.domain.identity import TenantId, UserId
from archivolt.domain.mcp_accounts import KeptClient, McpAccount, PendingSignIn


class InMemoryMcpAccounts:
    """An `McpAccountStore` that lives as long as the test."""

    def __init__(self) -> None:
        self._accounts: dict[tuple[TenantId, UserId, str], McpAccount] = {}
        self._pending: dict[tuple[TenantId, str], PendingSignIn] = {}
        self._used: dict[tuple[TenantId, str], PendingSignIn] = {}
        self._clients: dict[tuple[TenantId, str], KeptClient] = {}
        self._lock = Lock()

    def find(self, tenant: TenantId, user: UserId, server: str) -> McpAccount | None:
        return self._accounts.get((tenant, user, server))

    def of_user(self, tenant: TenantId, user: UserId) -> list[McpAccount]:
        own = [each for key, each in self._accounts.items() if key[:2] == (tenant, user)]
        return sorted(own, key=lambda account: account.server)

    def connect(self, account: McpAccount, digest: str) -> bool:
        with self._lock:
            is_there = self._used.pop((account.tenant, digest), None) is not None
            if is_there:
                self._keep(account)
            return is_there

    def claim(self, account: McpAccount, *, now: datetime, until: datetime) -> bool:
        with self._lock:
            kept = self._same(account)
            if kept is None or (kept.claimed_until is not None and kept.claimed_until > now):
                return False
            self._keep(replace(kept, claimed_until=until))
            return True

    def renew(self, before: McpAccount, after: McpAccount) -> bool:
        with self._lock:
            kept = self._same(before)
            if kept is None:
                return False
            self._keep(
                replace(
                    kept,
                    sealed=after.sealed,
                    expires_at=after.expires_at,
                    renewable=after.renewable,
                    scope=after.scope,
                    edition=after.edition,
                    claimed_until=after.claimed_until,
                )
            )
            return True

    def want(self, account: McpAccount, scope: str) -> None:
        with self._lock:
            kept = self.find(account.tenant, account.user, account.server)
            if kept is not None and kept.id == account.id:
                self._keep(replace(kept, wanted=scope))

    def refuse(self, account: McpAccount, *, refused: bool) -> None:
        with self._lock:
            kept = self.find(account.tenant, account.user, account.server)
            if kept is not None and kept.id == account.id:
                self._keep(replace(kept, refused=refused))

    def disconnect(self, tenant: TenantId, user: UserId, server: str) -> McpAccount | None:
        return self._accounts.pop((tenant, user, server), None)

    def forget_server(self, tenant: TenantId, server: str) -> None:
        for key in [key for key in self._accounts if (key[0], key[2]) == (tenant, server)]:
            del self._accounts[key]
        for signing_in in (self._pending, self._used):
            for key in [key for key, each in signing_in.items() if each.server == server]:
                if key[0] == tenant:
                    del signing_in[key]
        self._clients.pop((tenant, server), None)

    def begin(self, pending: PendingSignIn) -> None:
        self._pending[pending.tenant, pending.digest] = pending

    def pending(self, tenant: TenantId, digest: str) -> PendingSignIn | None:
        return self._pending.get((tenant, digest))

    def take(self, tenant: TenantId, digest: str) -> bool:
        with self._lock:
            taken = self._pending.pop((tenant, digest), None)
            if taken is not None:
                self._used[tenant, digest] = replace(taken, sealed="")
            return taken is not None

    def client(self, tenant: TenantId, server: str) -> KeptClient | None:
        return self._clients.get((tenant, server))

    def keep_client(self, tenant: TenantId, client: KeptClient) -> None:
        self._clients[tenant, client.server] = client

    def _keep(self, account: McpAccount) -> None:
        self._accounts[account.tenant, account.user, account.server] = account

    def _same(self, account: McpAccount) -> McpAccount | None:
        kept = self.find(account.tenant, account.user, account.server)
        if kept is None or (kept.id, kept.edition) != (account.id, account.edition):
            return None
        return kept
