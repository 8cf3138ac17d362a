"""Vaults and members in a dictionary."""

from dataclasses import replace
from datetime import datetime

from archivolt.domain.errors import ConflictError, NotFoundError
from archivolt.domain.identity import TenantId, UserId
from archivolt.domain.vault import Vault, VaultAccess, VaultRef, VaultRole


class InMemoryVaults:
    """A `VaultDirectory` that lives as long as the test."""

    def __init__(self) -> None:
        self._vaults: dict[VaultRef, Vault] = {}
        self._members: dict[VaultRef, dict[UserId, VaultRole]] = {}
        self._since: dict[tuple[VaultRef, UserId], datetime] = {}

    def create(self, vault: Vault, *, owner: UserId) -> None:
        if self._named(vault.ref.tenant, vault.name) or vault.ref in self._vaults:
            raise ConflictError("vault_exists", vault=vault.name)
        self._vaults[vault.ref] = vault
        self._members[vault.ref] = {owner: VaultRole.OWNER}

    def access(self, tenant: TenantId, user: UserId, name: str) -> VaultAccess:
        vault = self._named(tenant, name)
        role = self._members[vault.ref].get(user) if vault else None
        if vault is None or role is None:
            raise NotFoundError("vault_not_found", vault=name)
        return VaultAccess(
            vault=vault, user=user, role=role, since=self._since.get((vault.ref, user))
        )

    def accessible(self, tenant: TenantId, user: UserId) -> list[VaultAccess]:
        vaults = sorted(self._vaults.values(), key=lambda vault: vault.name)
        return [
            VaultAccess(
                vault=vault,
                user=user,
                role=self._members[vault.ref][user],
                since=self._since.get((vault.ref, user)),
            )
            for vault in vaults
            if vault.ref.tenant == tenant and user in self._members[vault.ref]
        ]

    def get(self, ref: VaultRef) -> Vault:
        if ref not in self._vaults:
            raise NotFoundError("vault_not_found", vault=ref.id)
        return self._vaults[ref]

    def members(self, ref: VaultRef) -> list[tuple[UserId, VaultRole]]:
        return sorted(self._members.get(ref, {}).items())

    def set_member(
        self, ref: VaultRef, user: UserId, role: VaultRole, *, now: datetime | None = None
    ) -> None:
        self.get(ref)
        if role is not VaultRole.OWNER:
            self._keep_an_owner(ref, user)
        if now and user not in self._members[ref]:
            self._since[ref, user] = now
        self._members[ref][user] = role

    def remove_member(self, ref: VaultRef, user: UserId) -> None:
        if user not in self._members.get(ref, {}):
            raise NotFoundError("member_not_found", user=user)
        self._keep_an_owner(ref, user)
        del self._members[ref][user]
        self._since.pop((ref, user), None)

    def forget(self, ref: VaultRef) -> None:
        """Have a vault gone, as the first part of its erasure does."""
        self._vaults.pop(ref, None)
        self._members.pop(ref, None)

    def all_refs(self) -> list[VaultRef]:
        return list(self._vaults)

    def refs(self, tenant: TenantId) -> list[VaultRef]:
        own = [ref for ref in self._vaults if ref.tenant == tenant]
        return sorted(own, key=lambda ref: ref.id)

    def users(self, tenant: TenantId) -> list[UserId]:
        members = [self._members[ref] for ref in self._vaults if ref.tenant == tenant]
        return sorted({user for users in members for user in users})

    def set_destructive_tools(self, ref: VaultRef, *, allowed: bool) -> None:
        self._vaults[ref] = replace(self.get(ref), ai_destructive_tools=allowed)

    def forbid_destructive_tools(self, ref: VaultRef) -> None:
        """Change the vault's setting, as its owner would."""
        self.set_destructive_tools(ref, allowed=False)

    def rename(self, ref: VaultRef, name: str) -> None:
        """Give a vault another name."""
        self._vaults[ref] = replace(self.get(ref), name=name)

    def _keep_an_owner(self, ref: VaultRef, leaving: UserId) -> None:
        owners = [user for user, role in self.members(ref) if role is VaultRole.OWNER]
        if owners == [leaving]:
            raise ConflictError("last_owner", user=leaving)

    def _named(self, tenant: TenantId, name: str) -> Vault | None:
        for vault in self._vaults.values():
            if vault.ref.tenant == tenant and vault.name == name:
                return vault
        return None
