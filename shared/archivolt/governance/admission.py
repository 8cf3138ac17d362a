"""Who comes in: nobody of a suspended tenant, and nobody who is suspended, by any door.

What is known of a caller is kept for a moment, so that most requests cost no read; a suspension is
in force everywhere when that moment is over.
"""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextvars import copy_context
from datetime import date, datetime
from threading import Event
from typing import Final, TypeVar

from archivolt.domain.errors import ForbiddenError
from archivolt.domain.identity import Principal, Role, TenantId, TokenKind, UserId
from archivolt.domain.tenancy import (
    Standing,
    Tenant,
    TenantUser,
    require_active,
    require_welcome,
)
from archivolt.domain.tenancy_limits import BEGINNING_SECONDS, STANDING_SECONDS
from archivolt.observability import failure, logger
from archivolt.ports.clock import Clock
from archivolt.ports.governance import TokenVerifier
from archivolt.ports.tenancy import TenantDirectory

_REMEMBERED: Final = 10_000
# A read takes less; whoever waits longer reads by themselves.
_PATIENCE_SECONDS: Final = 2.0
_Key = TypeVar("_Key")
_Kept = TypeVar("_Kept")


class Admission:
    """Lets callers in, and notes whom it saw.

    Args:
        directory: Gives what keeps tenants and people, when first needed.
        clock: The time.

    """

    def __init__(self, directory: Callable[[], TenantDirectory], clock: Clock) -> None:
        self._directory = directory
        self._clock = clock
        self._tenants: dict[TenantId, tuple[datetime, Tenant | None]] = {}
        self._users: dict[tuple[TenantId, UserId], tuple[datetime, TenantUser | None]] = {}
        self._reading: dict[TenantId, Event] = {}

    def was_welcome(self, principal: Principal) -> bool:
        """Tell whether a caller might come in when they were last looked at, a while ago at most.

        Whoever lets them begin on this looks again meanwhile, before anything comes of it.
        """
        of_tenant = self._tenants.get(principal.tenant)
        of_user = self._users.get((principal.tenant, principal.user))
        if not of_tenant or not of_user:
            return False
        try:
            require_welcome(Standing(tenant=of_tenant[1], user=of_user[1]))
        except ForbiddenError:
            return False
        age = (self._clock.now() - min(of_tenant[0], of_user[0])).total_seconds()
        return 0 <= age < BEGINNING_SECONDS

    def admit_while(self, principal: Principal, work: Callable[[], None]) -> None:
        """Let a caller in while something is done that a refusal may follow; as `admit`.

        Raises:
            ArchivoltError: Of `work`, unless the caller is turned away.

        """
        context = copy_context()
        with ThreadPoolExecutor(1) as beside:
            admitting = beside.submit(context.run, self.admit, principal)
            try:
                work()
            finally:
                admitting.result()

    def admit(self, principal: Principal) -> None:
        """Let a verified caller in.

        Raises:
            ForbiddenError: `tenant_suspended`, `tenant_deleting`, `user_suspended`.
            UnavailableError: What is known of them cannot be read.

        """
        standing = self.require(principal.tenant, principal.user)
        self._note(principal, standing)

    def require(self, tenant: TenantId, user: UserId) -> Standing:
        """Check that somebody may come in, and return what is known of them; as `admit`."""
        standing = self._standing(tenant, user)
        require_welcome(standing)
        return standing

    def require_tenant(self, tenant: TenantId) -> None:
        """Check that a tenant's work is to be done, whoever asked for it.

        Raises:
            ForbiddenError: `tenant_suspended`, `tenant_deleting`.
            UnavailableError: What is known of it cannot be read.

        """
        require_active(self._tenant(tenant))

    def require_account(self, tenant: TenantId, user: UserId) -> None:
        """Check that work is to be done for a user, or for a tenant where `user` is "".

        Raises:
            ForbiddenError: `tenant_suspended`, `tenant_deleting`, `user_suspended`.
            UnavailableError: What is known of them cannot be read.

        """
        if user:
            self.require(tenant, user)
        else:
            self.require_tenant(tenant)

    def calls_per_window(self, tenant: TenantId) -> int:
        """Return a tenant's own limit of calls in a window; 0: it has none.

        Raises:
            UnavailableError: What is known of it cannot be read.

        """
        found = self._tenant(tenant)
        return found.calls_per_window if found else 0

    def forget(self, tenant: TenantId) -> None:
        """Look again at the next caller of a tenant: something of it was changed here."""
        self._tenants.pop(tenant, None)
        for who in [who for who in list(self._users) if who[0] == tenant]:
            self._users.pop(who, None)

    def _tenant(self, tenant: TenantId) -> Tenant | None:
        kept = self._tenants.get(tenant)
        if not (kept and self._is_fresh(kept[0])) and (reading := self._reading.get(tenant)):
            # Somebody of the tenant is being let in: what is read for them is enough.
            reading.wait(_PATIENCE_SECONDS)
            kept = self._tenants.get(tenant)
        if kept is not None and self._is_fresh(kept[0]):
            return kept[1]
        now, found = self._clock.now(), self._directory().tenant(tenant)
        _keep(self._tenants, tenant, (now, found))
        return found

    def _standing(self, tenant: TenantId, user: UserId) -> Standing:
        of_tenant, of_user = self._tenants.get(tenant), self._users.get((tenant, user))
        if of_tenant and of_user and self._is_fresh(of_tenant[0]) and self._is_fresh(of_user[0]):
            return Standing(tenant=of_tenant[1], user=of_user[1])
        # The moment of before the read: what is read may be as old as that.
        now, done = self._clock.now(), Event()
        self._reading[tenant] = done
        try:
            found = self._directory().standing(tenant, user)
            _keep(self._tenants, tenant, (now, found.tenant))
            _keep(self._users, (tenant, user), (now, found.user))
        finally:
            self._reading.pop(tenant, None)
            done.set()
        return found

    def _is_fresh(self, moment: datetime) -> bool:
        age = (self._clock.now() - moment).total_seconds()
        return 0 <= age < STANDING_SECONDS

    def _note(self, principal: Principal, standing: Standing) -> None:
        """Note that somebody was seen, once a day and with each new role."""
        now, before = self._clock.now(), standing.user
        seen = _seen(principal, before, now)
        if standing.tenant is not None and before is not None and _says(before, seen.role, now):
            return
        try:
            self._directory().note(seen, known=standing)
        except Exception as error:  # noqa: BLE001  nobody is turned away for want of a note
            logger.warning("a user could not be noted", extra=failure(error))
            return
        tenant = standing.tenant or Tenant(id=principal.tenant, first_seen=now)
        _keep(self._tenants, principal.tenant, (now, tenant))
        _keep(self._users, (principal.tenant, principal.user), (now, seen))


class AdmittingVerifier:
    """A `TokenVerifier` around another that turns away whoever may not come in."""

    def __init__(self, verifier: TokenVerifier, admission: Admission) -> None:
        self._verifier = verifier
        self._admission = admission

    def verify(self, token: str) -> Principal:
        """Return who the token speaks for, if they may come in.

        Raises:
            UnauthenticatedError: `invalid_token`.
            ForbiddenError: `tenant_suspended`, `tenant_deleting`, `user_suspended`.
            UnavailableError: Something cannot be read.

        """
        principal = self._verifier.verify(token)
        self._admission.admit(principal)
        return principal


class EarlyVerifier:
    """A `TokenVerifier` for work that lets its caller in itself, beside what it reads first.

    Args:
        whole: Verifies a token and lets its caller in.
        verifier: Verifies alone.
        knows: Tells who might come in a while ago: nobody else gets past `whole`.

    """

    def __init__(
        self,
        whole: TokenVerifier,
        verifier: TokenVerifier,
        knows: Callable[[Principal], bool],
    ) -> None:
        self._whole = whole
        self._verifier = verifier
        self._knows = knows

    def verify(self, token: str) -> Principal:
        """Return who the token speaks for; raises as `AdmittingVerifier.verify`."""
        principal = self._verifier.verify(token)
        return principal if self._knows(principal) else self._whole.verify(token)


def _seen(principal: Principal, before: TenantUser | None, now: datetime) -> TenantUser:
    # Only a person's own sign-in tells the role of today: tokens of programs have the weakest.
    is_own = principal.kind is TokenKind.INTERACTIVE
    known = before.role if before else Role.VIEWER
    return TenantUser(
        tenant=principal.tenant,
        id=principal.user,
        role=principal.role if is_own else known,
        first_seen=before.first_seen if before else now,
        last_seen=_day(now),
    )


def _says(before: TenantUser, role: Role, now: datetime) -> bool:
    return before.last_seen == _day(now) and before.role is role


def _day(now: datetime) -> date:
    return now.date()


def _keep(kept: dict[_Key, _Kept], key: _Key, value: _Kept) -> None:
    if len(kept) >= _REMEMBERED:
        kept.clear()
    kept[key] = value
