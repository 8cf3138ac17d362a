"""An index with what synchronises it in the background, on fakes."""

from collections.abc import Callable
from datetime import timedelta

from archivolt.ingestion.sync import SyncWorker
from archivolt.ingestion.sync_requests import LeasedSyncRequests, RebuildRequests
from archivolt.vaults.personal import PersonalVaults
from tests.fakes.sync import InMemorySyncLeases, InMemorySyncQueue
from tests.index_world import IndexWorld, plenty


class SyncWorld(IndexWorld):
    """An index with what synchronises it."""

    def __init__(self) -> None:
        super().__init__()
        self.leases = InMemorySyncLeases(self.clock)
        self.jobs = InMemorySyncQueue()
        self.requests = LeasedSyncRequests(self.leases, self.line.across(self.jobs))
        self.rebuilds = RebuildRequests(self.runs, self.line.across(self.jobs), self.clock)

    @property
    def worker(self) -> SyncWorker:
        """The use case of the reconcile function, for what users ask for."""
        return self.worker_of(PersonalVaults(self.directory, self.clock))

    def worker_of(self, personal: PersonalVaults) -> SyncWorker:
        """Return it with what makes personal vaults."""
        return SyncWorker(
            leases=self.leases,
            queue=self.line.across(self.jobs),
            directory=self.line.across(self.directory),
            reconcile=self.reconcile,
            personal=personal.make,
        )

    def work(self) -> list[str]:
        """Work off the jobs that wait now, and what follows of them; return those that failed."""
        jobs = {str(number): job for number, job in enumerate(self.jobs.take())}
        failed = list(self.worker.run(jobs, time_left=plenty).failed)
        self.embed()
        return failed


def running_out_after(asked: int) -> Callable[[], timedelta]:
    """Return a clock that has time for so many questions, and then none."""
    left = iter([timedelta(hours=1)] * asked)
    return lambda: next(left, timedelta(0))
