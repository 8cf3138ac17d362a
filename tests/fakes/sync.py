"""Leases and a queue for synchronisations."""

from archivolt.domain.identity import TenantId, UserId
from archivolt.domain.limits import SYNC_LEASE_SECONDS
from archivolt.domain.sync import SyncJob
from archivolt.ports.clock import Clock


class InMemorySyncLeases:
    """`SyncLeases` that live as long as the test."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._held: dict[tuple[TenantId, UserId], tuple[str, float]] = {}

    def take(self, tenant: TenantId, user: UserId, lease: str) -> bool:
        _, until = self._held.get((tenant, user), ("", 0.0))
        if until > self._clock.now().timestamp():
            return False
        self._hold(tenant, user, lease)
        return True

    def keep(self, tenant: TenantId, user: UserId, lease: str) -> bool:
        if self._held.get((tenant, user), ("", 0.0))[0] != lease:
            return False
        self._hold(tenant, user, lease)
        return True

    def give_back(self, tenant: TenantId, user: UserId, lease: str) -> None:
        if self._held.get((tenant, user), ("", 0.0))[0] == lease:
            del self._held[tenant, user]

    def _hold(self, tenant: TenantId, user: UserId, lease: str) -> None:
        until = self._clock.now().timestamp() + SYNC_LEASE_SECONDS
        self._held[tenant, user] = (lease, until)


class InMemorySyncQueue:
    """A `SyncQueue` whose jobs a test can take out."""

    def __init__(self) -> None:
        self.jobs: list[SyncJob] = []

    def send(self, job: SyncJob) -> None:
        self.jobs.append(job)

    def take(self) -> list[SyncJob]:
        """Return the waiting jobs, and empty the queue."""
        taken = list(self.jobs)
        self.jobs.clear()
        return taken
