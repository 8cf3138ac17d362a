"""Agent runs as people and workers see them: what is over age is not there, purged or not (S19).

They age as conversations do (kept_conversations), from when they were last active.
"""

from archivolt.domain.errors import NotFoundError
from archivolt.domain.identity import TenantId, UserId
from archivolt.domain.run import Run, RunId
from archivolt.governance.kept import Kept
from archivolt.ports.clock import Clock
from archivolt.ports.governance import TenantSettingsStore
from archivolt.ports.runs import RunStore


class KeptRuns:
    """A `RunStore` that shows what its tenant still keeps; all else is the store's own.

    Args:
        store: Has all of them.
        settings: Each tenant's.
        clock: The time.

    """

    def __init__(self, store: RunStore, settings: TenantSettingsStore, clock: Clock) -> None:
        self._store = store
        self._kept = Kept(settings, clock)
        self.create = store.create
        self.save = store.save
        self.forget = store.forget
        self.sealed_state = store.sealed_state
        self.result = store.result
        self.events = store.events
        self.keep_outcome = store.keep_outcome
        self.outcome = store.outcome
        self.put_approval = store.put_approval
        self.approvals = store.approvals
        self.decide = store.decide
        self.keep_task_token = store.keep_task_token
        self.unfinished = store.unfinished
        self.delete = store.delete

    def get(self, tenant: TenantId, run_id: RunId) -> Run:
        """Return a run, strongly consistent."""
        found = self._store.get(tenant, run_id)
        if self._kept.is_over_age(tenant, found):
            raise NotFoundError("run_not_found")
        return found

    def of_user(
        self, tenant: TenantId, user: UserId, *, limit: int, after: str | None = None
    ) -> tuple[list[Run], str | None]:
        """Return one page of a user's runs; what is over age comes last, and is not."""
        page, next_after = self._store.of_user(tenant, user, limit=limit, after=after)
        return self._kept.of_page(tenant, page, next_after)
