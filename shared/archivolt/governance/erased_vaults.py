"""Which vaults go with what is erased: with a user, those that are nobody else's by then.

Others may leave, or be erased too, while an erasure is under way: it looks again at each step.
"""

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime

from archivolt.domain.erasure import Erasure, ErasureScope, Subject
from archivolt.domain.errors import NotFoundError
from archivolt.domain.identity import TenantId, UserId
from archivolt.domain.personal_vaults import personal_vault
from archivolt.domain.vault import Vault, VaultRole
from archivolt.ports.erasure import ErasureRecords
from archivolt.ports.vaults import VaultDirectory


class ErasedVaults:
    """Tells which they are. All may raise `UnavailableError`.

    Args:
        records: Know who else is being erased.
        vaults: Knows who shares which vault.

    """

    def __init__(self, records: ErasureRecords, vaults: VaultDirectory) -> None:
        self._records = records
        self._vaults = vaults

    def of_user(self, tenant: TenantId, user: UserId) -> tuple[Sequence[Vault], Sequence[str]]:
        """Return the vaults that go with a user, and the names of those that lack an owner then.

        Who is being erased too counts for nobody.
        """
        leaving = {user, *(each.subject.user for each in self._records.under_way(tenant))}
        going: list[Vault] = []
        orphaned: list[str] = []
        for access in self._vaults.accessible(tenant, user):
            ref = access.vault.ref
            left = [role for who, role in self._vaults.members(ref) if who not in leaving]
            if not left or ref == personal_vault(tenant, user):
                going.append(access.vault)
            elif access.role is VaultRole.OWNER and VaultRole.OWNER not in left:
                orphaned.append(access.vault.name)
        return going, orphaned

    def by_now(self, erasure: Erasure, now: datetime) -> Subject:
        """Return what is erased with the vaults that go with it by now; none of them stays."""
        subject = erasure.subject
        if subject.scope is ErasureScope.TENANT:
            refs = [ref.id for ref in self._vaults.refs(subject.tenant)]
            return replace(subject, vaults=tuple(dict.fromkeys([*subject.vaults, *refs])))
        if subject.user is None:
            return subject
        going = list(self.of_user(subject.tenant, subject.user)[0])
        if erasure.begins_walk:
            going += self._deserted(subject.tenant)
        added = [vault for vault in going if vault.ref.id not in subject.vaults]
        if not added:
            return subject
        return replace(
            subject,
            vaults=(*subject.vaults, *(vault.ref.id for vault in added)),
            vault_names=(*subject.vault_names, *(vault.name for vault in added)),
            named_until=now,
        )

    def _deserted(self, tenant: TenantId) -> Sequence[Vault]:
        """Return the vaults that everybody left at once, and that no erasure is at."""
        known = {vault for each in self._records.under_way(tenant) for vault in each.subject.vaults}
        found: list[Vault] = []
        for ref in self._vaults.refs(tenant):
            if ref.id not in known and not self._vaults.members(ref):
                try:
                    found.append(self._vaults.get(ref))
                except NotFoundError:
                    continue  # it was erased meanwhile
        return found
