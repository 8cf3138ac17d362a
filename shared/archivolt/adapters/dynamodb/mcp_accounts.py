"""People's accounts at MCP servers of others, in the control table.

MCP_ACCOUNTS#{tenant}    {user}#{server}    an account, its tokens sealed
MCP_CLIENTS#{tenant}     SERVER#{id}        a client that we registered for the tenant
MCP_SIGN_IN#{tenant}     SIGN_IN#{digest}   somebody who went to sign in
"""

from datetime import datetime

from boto3.dynamodb.conditions import Attr, ConditionBase

from archivolt.adapters.dynamodb.moments import (
    from_number,
    moment_or_none,
    number_or_none,
    to_number,
)
from archivolt.adapters.dynamodb.table import (
    ConditionFailedError,
    DynamoTable,
    StoredItem,
    is_key_text,
)
from archivolt.adapters.dynamodb.values import Value
from archivolt.adapters.dynamodb.writes import PRESENT, Delete, Key, Put, Update
from archivolt.domain.identity import TenantId, UserId
from archivolt.domain.mcp_accounts import KeptClient, McpAccount, PendingSignIn


class DynamoMcpAccounts:
    """An `McpAccountStore` in the control table."""

    def __init__(self, table: DynamoTable) -> None:
        self._table = table

    def find(self, tenant: TenantId, user: UserId, server: str) -> McpAccount | None:
        """Return a person's account at a server, or None."""
        if not is_key_text(server):
            return None
        item = self._table.get(_key(tenant, user, server))
        return None if item is None else _account(item)

    def of_user(self, tenant: TenantId, user: UserId) -> list[McpAccount]:
        """Return a person's accounts by their servers' ids."""
        pk, prefix = _key(tenant, user, "")
        return [_account(item) for item in self._table.items(pk, prefix=prefix)]

    def connect(self, account: McpAccount, digest: str) -> bool:
        """Keep what came of a sign-in that was used, and end that, both or neither."""
        item: dict[str, Value] = {
            **_key(account.tenant, account.user, account.server)._asdict(),
            "tenant": account.tenant,
            "user": account.user,
            "server": account.server,
            "place": account.place,
            "id": account.id,
            "issuer": account.issuer,
            "connected_at": to_number(account.connected_at),
            "wanted": account.wanted,
            "refused": account.refused,
            **_renewed(account),
        }
        used = Delete(key=_pending_key(account.tenant, digest), condition=Attr("used").eq(True))
        try:
            self._table.transact([used, Put(item=item)])
        except ConditionFailedError:
            return False
        return True

    def claim(self, account: McpAccount, *, now: datetime, until: datetime) -> bool:
        """Take the right to renew an account's tokens."""
        free = Attr("claimed_until").eq(None) | Attr("claimed_until").lte(to_number(now))
        claimed: dict[str, Value] = {"claimed_until": to_number(until)}
        key = _key(account.tenant, account.user, account.server)
        return self._updated(Update(key=key, set=claimed, condition=_same(account) & free))

    def renew(self, before: McpAccount, after: McpAccount) -> bool:
        """Keep what became of an account's tokens."""
        key = _key(before.tenant, before.user, before.server)
        return self._updated(Update(key=key, set=_renewed(after), condition=_same(before)))

    def want(self, account: McpAccount, scope: str) -> None:
        """Note the scope that an account lacks."""
        key = _key(account.tenant, account.user, account.server)
        self._updated(Update(key=key, set={"wanted": scope}, condition=Attr("id").eq(account.id)))

    def refuse(self, account: McpAccount, *, refused: bool) -> None:
        """Note whether the newest token of an account was refused."""
        key = _key(account.tenant, account.user, account.server)
        same = Attr("id").eq(account.id)
        self._updated(Update(key=key, set={"refused": refused}, condition=same))

    def disconnect(self, tenant: TenantId, user: UserId, server: str) -> McpAccount | None:
        """Remove an account and return it as it was."""
        if not is_key_text(server):
            return None
        item = self._table.remove(_key(tenant, user, server))
        return None if item is None else _account(item)

    def forget_server(self, tenant: TenantId, server: str) -> None:
        """Remove everybody's accounts and sign-ins at a server, and our client there."""
        # Sign-ins first: of one that is gone no account comes that would not be seen after it.
        for pk in (_pending_key(tenant, "").pk, f"MCP_ACCOUNTS#{tenant}"):
            for item in self._table.items(pk, attributes=("pk", "sk", "server")):
                if item["server"] == server:
                    self._table.write(Delete(key=Key(item["pk"], item["sk"])))
        self._table.write(Delete(key=_client_key(tenant, server)))

    def begin(self, pending: PendingSignIn) -> None:
        """Remember a sign-in until it expires."""
        item: dict[str, Value] = {
            **_pending_key(pending.tenant, pending.digest)._asdict(),
            "digest": pending.digest,
            "tenant": pending.tenant,
            "user": pending.user,
            "server": pending.server,
            "place": pending.place,
            "sealed": pending.sealed,
            "expires_at": to_number(pending.expires_at),
            "ttl": int(pending.expires_at.timestamp()),
        }
        self._table.write(Put(item=item))

    def pending(self, tenant: TenantId, digest: str) -> PendingSignIn | None:
        """Return a sign-in that was begun and not used, even one that has expired."""
        item = self._table.get(_pending_key(tenant, digest))
        if item is None or "used" in item:
            return None
        return PendingSignIn(
            digest=item["digest"],
            tenant=TenantId(item["tenant"]),
            user=UserId(item["user"]),
            server=item["server"],
            place=item["place"],
            sealed=item["sealed"],
            expires_at=from_number(int(item["expires_at"])),
        )

    def take(self, tenant: TenantId, digest: str) -> bool:
        """Use a sign-in."""
        unused = PRESENT & Attr("used").not_exists()
        key = _pending_key(tenant, digest)
        used = Update(key=key, set={"used": True}, remove=("sealed",), condition=unused)
        return self._updated(used)

    def client(self, tenant: TenantId, server: str) -> KeptClient | None:
        """Return the client that we registered for a server, or None."""
        item = self._table.get(_client_key(tenant, server))
        if item is None:
            return None
        return KeptClient(
            server=item["server"],
            place=item["place"],
            issuer=item["issuer"],
            id=item["id"],
            sealed=item["sealed"],
            method=item["method"],
            good_until=from_number(int(item["good_until"])),
            ends_at=moment_or_none(item.get("ends_at")),
        )

    def keep_client(self, tenant: TenantId, client: KeptClient) -> None:
        """Keep a client in place of the one before."""
        item: dict[str, Value] = {
            **_client_key(tenant, client.server)._asdict(),
            "server": client.server,
            "place": client.place,
            "issuer": client.issuer,
            "id": client.id,
            "sealed": client.sealed,
            "method": client.method,
            "good_until": to_number(client.good_until),
            "ends_at": number_or_none(client.ends_at),
        }
        self._table.write(Put(item=item))

    def _updated(self, update: Update) -> bool:
        try:
            self._table.update(update)
        except ConditionFailedError:
            return False
        return True


def _key(tenant: TenantId, user: UserId, server: str) -> Key:
    return Key(f"MCP_ACCOUNTS#{tenant}", f"{user}#{server}")


def _client_key(tenant: TenantId, server: str) -> Key:
    return Key(f"MCP_CLIENTS#{tenant}", f"SERVER#{server}")


def _pending_key(tenant: TenantId, digest: str) -> Key:
    return Key(f"MCP_SIGN_IN#{tenant}", f"SIGN_IN#{digest}")


def _same(account: McpAccount) -> ConditionBase:
    """Return that an account is the one that was read; one connected anew has another id."""
    return Attr("id").eq(account.id) & Attr("edition").eq(account.edition)


def _renewed(account: McpAccount) -> dict[str, Value]:
    return {
        "sealed": account.sealed,
        "expires_at": number_or_none(account.expires_at),
        "renewable": account.renewable,
        "scope": account.scope,
        "edition": account.edition,
        "claimed_until": number_or_none(account.claimed_until),
    }


def _account(item: StoredItem) -> McpAccount:
    return McpAccount(
        tenant=TenantId(item["tenant"]),
        user=UserId(item["user"]),
        server=item["server"],
        place=item["place"],
        id=item["id"],
        issuer=item["issuer"],
        sealed=item["sealed"],
        connected_at=from_number(int(item["connected_at"])),
        expires_at=moment_or_none(item["expires_at"]),
        renewable=item["renewable"],
        scope=item["scope"],
        wanted=item["wanted"],
        refused=item.get("refused", False),
        edition=int(item["edition"]),
        claimed_until=moment_or_none(item["claimed_until"]),
    )
