"""Vaults and their members in the control table.

    TENANT#{tenant}              VAULT#{name}    the name is taken, and by which vault
    VAULT#{tenant}#{vault_id}    VAULT           the vault
    VAULT#{tenant}#{vault_id}    MEMBER#{user}   a member's role
    USER#{tenant}#{user}         VAULT#{name}    the same membership, from the user's side

What says one thing twice is written in one transaction. No tenant or user id holds a `#`.
"""

from collections.abc import Callable
from dataclasses import replace
from datetime import datetime
from typing import Any, Final, NamedTuple

from boto3.dynamodb.conditions import Attr, ConditionBase

from archivolt.adapters.dynamodb.table import (
    ConditionFailedError,
    DynamoTable,
    StoredItem,
    is_key_text,
)
from archivolt.adapters.dynamodb.writes import (
    ABSENT,
    PRESENT,
    Check,
    Delete,
    Key,
    Put,
    Update,
    Write,
)
from archivolt.domain.errors import ConflictError, NotFoundError
from archivolt.domain.identity import TenantId, UserId
from archivolt.domain.vault import Vault, VaultAccess, VaultId, VaultRef, VaultRole

_VAULT: Final = "VAULT"
_ATTEMPTS: Final = 5
_REMEMBERED: Final = 10_000


class _Keeping(NamedTuple):
    """That the one who leaves is as they were `seen`, and that another `owner` stays one."""

    seen: ConditionBase | None = None
    owner: tuple[Check, ...] = ()


class DynamoVaultDirectory:
    """A `VaultDirectory` in the control table."""

    def __init__(self, table: DynamoTable) -> None:
        self._table = table
        self._known: dict[Key, Key] = {}

    def create(self, vault: Vault, *, owner: UserId) -> None:
        """Record a new vault and its owner."""
        ref = vault.ref
        name = Key(f"TENANT#{ref.tenant}", f"VAULT#{vault.name}")
        taken = {**name._asdict(), "vault_id": ref.id}
        record = {
            **_vault_key(ref)._asdict(),
            "tenant": ref.tenant,
            "vault_id": ref.id,
            "name": vault.name,
            "created_at": vault.created_at.isoformat(),
            "ai_destructive_tools": vault.ai_destructive_tools,
        }
        try:
            self._table.transact(
                [
                    Put(item=taken, condition=ABSENT),
                    Put(item=record, condition=ABSENT),
                    *_membership(vault, owner, VaultRole.OWNER),
                ]
            )
        except ConditionFailedError as error:
            raise ConflictError("vault_exists", vault=vault.name) from error

    def access(self, tenant: TenantId, user: UserId, name: str) -> VaultAccess:
        """Return the vault as this user sees it."""
        of_user = Key(_user_pk(tenant, user), f"VAULT#{name}")
        # Which vault the name led to before, so that both are read at once; they say what holds.
        known = self._known.get(of_user)
        wanted = [of_user, known] if known else [of_user]
        found = self._table.get_many(wanted) if is_key_text(name) else {}
        membership = found.get(of_user)
        key = _vault_key(_ref_of(tenant, membership)) if membership else None
        vault = (found.get(key) or self._table.get(key)) if key else None
        if membership is None or vault is None or key is None:
            self._known.pop(of_user, None)
            raise NotFoundError("vault_not_found", vault=name)
        if len(self._known) >= _REMEMBERED:
            self._known.clear()
        self._known[of_user] = key
        return _access(vault, user, membership)

    def accessible(self, tenant: TenantId, user: UserId) -> list[VaultAccess]:
        """Return the user's vaults by name."""
        memberships = list(self._table.items(_user_pk(tenant, user), prefix="VAULT#"))
        keys = [_vault_key(_ref_of(tenant, membership)) for membership in memberships]
        vaults = self._table.get_many(keys)
        return [
            _access(vaults[key], user, membership)
            for key, membership in zip(keys, memberships, strict=True)
            if key in vaults
        ]

    def get(self, ref: VaultRef) -> Vault:
        """Return a vault by where it is."""
        item = self._table.get(_vault_key(ref))
        if item is None:
            raise NotFoundError("vault_not_found", vault=ref.id)
        return _vault(item)

    def members(self, ref: VaultRef) -> list[tuple[UserId, VaultRole]]:
        """Return the members of a vault, by user id."""
        items = self._table.items(_vault_key(ref).pk, prefix="MEMBER#")
        return [(UserId(item["user"]), VaultRole(item["role"])) for item in items]

    def set_member(
        self, ref: VaultRef, user: UserId, role: VaultRole, *, now: datetime | None = None
    ) -> None:
        """Add a member or change a role."""

        def writes() -> list[Write]:
            vault = self.get(ref)
            known = self._membership(ref.tenant, user, vault.name)
            since = _since(known) if known else now
            keeps = _Keeping() if role is VaultRole.OWNER else self._keeping_an_owner(ref, user)
            member, of_user = _membership(vault, user, role, since=since)
            stays = Check(key=_vault_key(ref), condition=PRESENT)
            return [stays, replace(member, condition=keeps.seen), of_user, *keeps.owner]

        self._transact_as_seen(writes)

    def remove_member(self, ref: VaultRef, user: UserId) -> None:
        """Remove a member."""

        def writes() -> list[Write]:
            vault = self._table.get(_vault_key(ref))
            if vault is None or self._table.get(_member_key(ref, user)) is None:
                raise NotFoundError("member_not_found", user=user)
            keeps = self._keeping_an_owner(ref, user)
            return [
                Delete(key=_member_key(ref, user), condition=keeps.seen),
                Delete(key=Key(_user_pk(ref.tenant, user), f"VAULT#{vault['name']}")),
                *keeps.owner,
            ]

        self._transact_as_seen(writes)

    def set_destructive_tools(self, ref: VaultRef, *, allowed: bool) -> None:
        """Record whether an assistant may use dangerous tools in the vault."""
        changed = {"ai_destructive_tools": allowed}
        try:
            self._table.update(Update(key=_vault_key(ref), set=changed, condition=PRESENT))
        except ConditionFailedError as error:
            raise NotFoundError("vault_not_found", vault=ref.id) from error

    def all_refs(self) -> list[VaultRef]:
        """Return every vault of every tenant; reads the whole table, once a day."""
        return [
            _ref_of(TenantId(item["tenant"]), item)
            for item in self._table.scan(Attr("sk").eq(_VAULT))
        ]

    def refs(self, tenant: TenantId) -> list[VaultRef]:
        """Return the vaults of a tenant, by id."""
        items = self._table.items(f"TENANT#{tenant}", prefix="VAULT#")
        return sorted((_ref_of(tenant, item) for item in items), key=lambda ref: ref.id)

    def users(self, tenant: TenantId) -> list[UserId]:
        """Return who has a vault in a tenant; costs a query a vault."""
        return sorted({user for ref in self.refs(tenant) for user, _ in self.members(ref)})

    def _keeping_an_owner(self, ref: VaultRef, leaving: UserId) -> _Keeping:
        """Return what has to hold while `leaving` becomes less than an owner.

        Raises:
            ConflictError: `last_owner`.

        """
        members = dict(self.members(ref))
        role = members.get(leaving)
        seen = ABSENT if role is None else Attr("role").eq(role.value)
        if role is not VaultRole.OWNER:
            return _Keeping(seen)
        stays = next(
            (user for user, held in members.items() if held is role and user != leaving), None
        )
        if stays is None:
            raise ConflictError("last_owner", user=leaving)
        return _Keeping(seen, (Check(key=_member_key(ref, stays), condition=seen),))

    def _transact_as_seen(self, writes: Callable[[], list[Write]]) -> None:
        """Do the writes, made anew whenever what they rest on has changed since it was read."""
        for attempt in range(_ATTEMPTS):
            try:
                self._table.transact(writes())
            except ConditionFailedError:
                if attempt + 1 == _ATTEMPTS:
                    raise
            else:
                return

    def _membership(self, tenant: TenantId, user: UserId, name: str) -> StoredItem | None:
        if not is_key_text(name):
            return None
        return self._table.get(Key(_user_pk(tenant, user), f"VAULT#{name}"))


def _membership(
    vault: Vault, user: UserId, role: VaultRole, *, since: datetime | None = None
) -> tuple[Put, Put]:
    """Return the two sides of a membership."""
    ref = vault.ref
    of_user = Key(_user_pk(ref.tenant, user), f"VAULT#{vault.name}")
    joined = {"since": since.isoformat()} if since else {}
    return (
        Put(item={**_member_key(ref, user)._asdict(), "user": user, "role": role.value}),
        Put(item={**of_user._asdict(), "vault_id": ref.id, "role": role.value, **joined}),
    )


def _access(vault: StoredItem, user: UserId, membership: StoredItem) -> VaultAccess:
    role = VaultRole(membership["role"])
    return VaultAccess(vault=_vault(vault), user=user, role=role, since=_since(membership))


def _since(membership: StoredItem) -> datetime | None:
    since = membership.get("since")
    return datetime.fromisoformat(since) if since else None


def _vault_key(ref: VaultRef) -> Key:
    return Key(f"VAULT#{ref.tenant}#{ref.id}", _VAULT)


def _member_key(ref: VaultRef, user: UserId) -> Key:
    return Key(_vault_key(ref).pk, f"MEMBER#{user}")


def _user_pk(tenant: TenantId, user: UserId) -> str:
    return f"USER#{tenant}#{user}"


def _ref_of(tenant: TenantId, item: StoredItem) -> VaultRef:
    return VaultRef(tenant=tenant, id=VaultId(item["vault_id"]))


def _vault(item: dict[str, Any]) -> Vault:
    return Vault(
        ref=_ref_of(TenantId(item["tenant"]), item),
        name=item["name"],
        created_at=datetime.fromisoformat(item["created_at"]),
        ai_destructive_tools=item["ai_destructive_tools"],
    )
