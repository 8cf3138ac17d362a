"""Which vaults a caller reaches: those of their user, as far as their token goes.

The only place that asks the directory on behalf of a caller: a vault outside the token's reach is
absent from every list and not found by name, at every door.
"""

import unicodedata

from archivolt.domain.errors import NotFoundError
from archivolt.domain.identity import Principal
from archivolt.domain.vault import VaultAccess
from archivolt.ports.vaults import VaultDirectory


class ReachableVaults:
    """The vaults of a directory, as callers see them."""

    def __init__(self, directory: VaultDirectory) -> None:
        self._directory = directory

    def access(self, principal: Principal, name: str) -> VaultAccess:
        """Return the caller's access to a vault.

        Raises:
            NotFoundError: `vault_not_found`: there is none of that name, or it is not theirs.

        """
        access = self._directory.access(principal.tenant, principal.user, name)
        if not _is_reached(principal, access):
            raise NotFoundError("vault_not_found", vault=name)
        return access

    def asked_for(self, principal: Principal, name: str | None) -> list[VaultAccess]:
        """Return the caller's vault of a name, in any form of Unicode, or all of them.

        Raises:
            NotFoundError: As `access`.

        """
        if name is None:
            return self.accessible(principal)
        return [self.access(principal, unicodedata.normalize("NFC", name))]

    def accessible(self, principal: Principal) -> list[VaultAccess]:
        """Return the caller's vaults by name."""
        found = self._directory.accessible(principal.tenant, principal.user)
        return [access for access in found if _is_reached(principal, access)]


def _is_reached(principal: Principal, access: VaultAccess) -> bool:
    vaults = principal.reach.vaults
    return vaults is None or access.vault.ref.id in vaults
