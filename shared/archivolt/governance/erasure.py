"""Having something erased, and reading the receipt of it (S21, S22).

It cannot be undone: who asks repeats the name of what goes. A vault is out of everybody's reach
from the answer on, a user or a tenant within STANDING_SECONDS; the work follows in the background.
"""

import uuid
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from archivolt.domain.erasure import (
    Erasure,
    ErasureScope,
    Subject,
    pseudonym,
)
from archivolt.domain.errors import (
    ConflictError,
    ForbiddenError,
    InvalidRequestError,
    NotFoundError,
)
from archivolt.domain.identity import Principal, Role, UserId
from archivolt.domain.personal_vaults import personal_vault
from archivolt.domain.rights import may_reach_others, may_reach_tenant
from archivolt.domain.tenancy import require_no_lesser_role
from archivolt.domain.vault import VaultAccess, VaultRole
from archivolt.governance.erased_vaults import ErasedVaults
from archivolt.governance.erasure_doors import ErasureDoors
from archivolt.governance.tenants import reached_known, user_named
from archivolt.ports.clock import Clock
from archivolt.ports.erasure import ErasureQueue, ErasureRecords
from archivolt.ports.tenancy import TenantDirectory
from archivolt.ports.vaults import VaultDirectory


@dataclass(frozen=True, slots=True, kw_only=True)
class ErasureSupport:
    """The collaborators of `Erasures`.

    `withdraw` takes a vault out of everybody's reach at once, as the first part of its erasure.
    """

    records: ErasureRecords
    queue: ErasureQueue
    doors: ErasureDoors
    people: TenantDirectory
    vaults: VaultDirectory
    withdraw: Callable[[Erasure], None]
    clock: Clock


class Erasures:
    """Starts erasures and shows their receipts."""

    def __init__(self, support: ErasureSupport) -> None:
        self._with = support
        self._erased_vaults = ErasedVaults(support.records, support.vaults)

    def erase_vault(self, principal: Principal, access: VaultAccess, *, confirm: str) -> Erasure:
        """Erase a vault with everything that is held of it; only an owner may.

        Raises:
            ForbiddenError: `owner_required`.
            InvalidRequestError: `erasure_unconfirmed`: another name was repeated.
            ConflictError: `personal_vault`: a user's own goes with them.

        """
        vault = access.vault
        if access.role is not VaultRole.OWNER:
            raise ForbiddenError("owner_required", vault=vault.name)
        _confirmed(vault.name, confirm)
        if vault.ref == personal_vault(principal.tenant, principal.user):
            raise ConflictError("personal_vault", vault=vault.name)
        subject = Subject(
            scope=ErasureScope.VAULT,
            tenant=principal.tenant,
            name=vault.ref.id,
            vaults=(vault.ref.id,),
            vault_names=(vault.name,),
        )
        return self._started(principal, subject)

    def erase_user(self, principal: Principal, user: str, *, confirm: str) -> Erasure:
        """Erase a user of the caller's tenant: the caller, or another for its administrators.

        Vaults that are nobody else's go with them, and their personal one in any case.

        Raises:
            ForbiddenError: `forbidden`: another one, and the caller is no administrator or has the
                lesser role.
            NotFoundError: `user_not_found`.
            InvalidRequestError: `erasure_unconfirmed`.
            ConflictError: `last_owner_of`: somebody has to own what others use.

        """
        erased = self._erasable(principal, user)
        _confirmed(erased, confirm)
        going, orphaned = self._erased_vaults.of_user(principal.tenant, erased)
        if orphaned:
            raise ConflictError("last_owner_of", user=erased, vaults=", ".join(orphaned))
        subject = Subject(
            scope=ErasureScope.USER,
            tenant=principal.tenant,
            name=erased,
            vaults=tuple(vault.ref.id for vault in going),
            vault_names=tuple(vault.name for vault in going),
        )
        return self._started(principal, subject)

    def erase_tenant(self, principal: Principal, tenant: str, *, confirm: str) -> Erasure:
        """Erase a tenant with everything that is held of it; only a cpi-admin may, of another one.

        Raises:
            NotFoundError: `tenant_not_found`.
            ForbiddenError: `forbidden`.
            InvalidRequestError: `erasure_unconfirmed`.
            ConflictError: `own_tenant_erased`.

        """
        if principal.role is not Role.CPI_ADMIN:
            raise ForbiddenError("forbidden")
        if tenant == principal.tenant:
            raise ConflictError("own_tenant_erased")
        # One that is going already is not begun again, and shows where it is.
        erased = reached_known(principal, tenant, self._with.people, changes=False)
        _confirmed(erased, confirm)
        vaults = tuple(ref.id for ref in self._with.vaults.refs(erased))
        subject = Subject(scope=ErasureScope.TENANT, tenant=erased, name=erased, vaults=vaults)
        return self._started(principal, subject)

    def receipt(self, principal: Principal, erasure_id: str) -> Erasure:
        """Return an erasure: to who asked for it, the tenant's administrators, a cpi-admin.

        Raises:
            NotFoundError: `erasure_not_found`.

        """
        found = self._with.records.get(erasure_id)
        if found is None or not _may_see(principal, found):
            raise NotFoundError("erasure_not_found")
        return found

    def receipts(
        self, principal: Principal, *, limit: int, after: str = "", conversations: bool = False
    ) -> tuple[Sequence[Erasure], str | None]:
        """Return one page of the erasures of the caller's tenant, and the next page's key.

        Of others, those that they asked for: what else is on a page is left out of it.
        """
        found, next_after = self._with.records.of_tenant(
            principal.tenant, limit=limit, after=after, conversations=conversations
        )
        return [each for each in found if _may_see(principal, each)], next_after

    def _started(self, principal: Principal, subject: Subject) -> Erasure:
        """Note an erasure, close the doors, queue the work; one under way is not begun again."""
        erasure = self._under_way(subject)
        if erasure is None:
            now = self._with.clock.now()
            erasure = Erasure(
                id=uuid.uuid4().hex,
                subject=replace(subject, named_until=now),
                asked_by=pseudonym(principal.tenant, principal.user),
                asked_role=principal.role,
                asked_at=now,
            )
            self._with.records.add(erasure)
        self._with.doors.close(subject)
        if subject.scope is ErasureScope.VAULT:
            self._with.withdraw(erasure)
        self._with.queue.send(erasure.id)
        return self._with.records.get(erasure.id) or erasure

    def _under_way(self, subject: Subject) -> Erasure | None:
        same = (subject.scope, subject.name)
        return next(
            (
                each
                for each in self._with.records.under_way(subject.tenant)
                if (each.subject.scope, each.subject.name) == same
            ),
            None,
        )

    def _erasable(self, principal: Principal, user: str) -> UserId:
        erased = user_named(user)
        if erased == principal.user:
            return erased
        if not principal.role.includes(Role.TENANT_ADMIN):
            raise ForbiddenError("forbidden")
        seen = self._with.people.user(principal.tenant, erased)
        if seen is None and not self._with.vaults.accessible(principal.tenant, erased):
            raise NotFoundError("user_not_found", user=user)
        require_no_lesser_role(principal, seen)
        return erased


def _confirmed(name: str, confirm: str) -> None:
    if confirm != name:
        raise InvalidRequestError("erasure_unconfirmed", name=name)


def _may_see(principal: Principal, erasure: Erasure) -> bool:
    if not may_reach_tenant(principal, erasure.subject.tenant):
        return False
    own = pseudonym(principal.tenant, principal.user)
    concerned = {erasure.asked_by, erasure.subject.name}
    is_own = own in concerned or erasure.subject.user == principal.user
    return is_own or may_reach_others(principal, "show_erasure")
