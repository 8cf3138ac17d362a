"""Keeping out who or what is being erased: nothing new comes in while the old goes."""

from datetime import datetime

from archivolt.domain.erasure import ErasureScope, Subject
from archivolt.domain.errors import ConflictError
from archivolt.domain.tenancy import TenantState
from archivolt.ports.clock import Clock
from archivolt.ports.tenancy import TenantDirectory


class ErasureDoors:
    """Closes a user's or a tenant's doors, and says at the end what becomes of them.

    Args:
        people: Keeps the states of tenants and users.
        clock: The time.

    """

    def __init__(self, people: TenantDirectory, clock: Clock) -> None:
        self._people = people
        self._clock = clock

    def close(self, subject: Subject) -> None:
        """Let nobody in; closing again is no error.

        Raises:
            NotFoundError: `tenant_not_found`.

        """
        if subject.user is not None:
            self._people.shut_out(subject.tenant, subject.user)
        if subject.scope is ErasureScope.TENANT:
            try:
                self._people.set_state(subject.tenant, TenantState.DELETING, self._now())
            except ConflictError:
                return  # that is its state, or what it led to

    def end(self, subject: Subject) -> None:
        """Forget a user, who is then a new one if they come again; a tenant never comes again."""
        if subject.user is not None:
            self._people.forget_user(subject.tenant, subject.user)
        if subject.scope is ErasureScope.TENANT:
            self._people.set_state(subject.tenant, TenantState.DELETED, self._now())

    def _now(self) -> datetime:
        return self._clock.now()
