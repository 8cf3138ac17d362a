"""Where vaults and their members are recorded."""

from datetime import datetime
from typing import Protocol

from archivolt.domain.identity import TenantId, UserId
from archivolt.domain.vault import Vault, VaultAccess, VaultRef, VaultRole


class VaultDirectory(Protocol):
    """Records vaults and members. Every implementation passes `tests/contract`."""

    def create(self, vault: Vault, *, owner: UserId) -> None:
        """Record a new vault and its owner, both or neither.

        Raises:
            ConflictError: `vault_exists`: the tenant has a vault of that name.

        """
        ...

    def access(self, tenant: TenantId, user: UserId, name: str) -> VaultAccess:
        """Return the vault as this user sees it.

        Raises:
            NotFoundError: `vault_not_found`: no such vault, or not a member of it.

        """
        ...

    def accessible(self, tenant: TenantId, user: UserId) -> list[VaultAccess]:
        """Return the user's vaults by name."""
        ...

    def get(self, ref: VaultRef) -> Vault:
        """Return a vault by where it is (for workers: it grants nothing).

        Raises:
            NotFoundError: `vault_not_found`.

        """
        ...

    def members(self, ref: VaultRef) -> list[tuple[UserId, VaultRole]]:
        """Return the members of a vault, by user id; empty for an unknown vault."""
        ...

    def set_member(
        self, ref: VaultRef, user: UserId, role: VaultRole, *, now: datetime | None = None
    ) -> None:
        """Add a member, since `now`, or change a role; whatever happens at once, an owner is left.

        Raises:
            NotFoundError: `vault_not_found`.
            ConflictError: `last_owner`: the only owner would become less.

        """
        ...

    def remove_member(self, ref: VaultRef, user: UserId) -> None:
        """Remove a member; whatever happens at once, an owner is left.

        Raises:
            NotFoundError: `member_not_found`.
            ConflictError: `last_owner`.

        """
        ...

    def set_destructive_tools(self, ref: VaultRef, *, allowed: bool) -> None:
        """Record whether an assistant may use dangerous tools in the vault.

        Raises:
            NotFoundError: `vault_not_found`.

        """
        ...

    def all_refs(self) -> list[VaultRef]:
        """Return every vault of every tenant (for reconciliation only)."""
        ...

    def refs(self, tenant: TenantId) -> list[VaultRef]:
        """Return the vaults of a tenant, by id (for workers: it grants nothing)."""
        ...

    def users(self, tenant: TenantId) -> list[UserId]:
        """Return who has a vault in a tenant, in order (for workers: it grants nothing)."""
        ...
