"""Where agent runs are kept, and what drives them."""

from collections.abc import Iterator, Sequence
from datetime import datetime
from typing import Protocol

from archivolt.domain.conversation import Message
from archivolt.domain.identity import TenantId, UserId
from archivolt.domain.run import ApprovalState, Run, RunApproval, RunEvent, RunId


class RunStore(Protocol):
    """Keeps runs, always within a tenant. Implementations pass `tests/contract`.

    What a model and its tools said is handed in and out sealed. All may raise `UnavailableError`.
    """

    def create(self, run: Run, sealed: str, events: Sequence[RunEvent]) -> Run:
        """Keep a new run with where its loop stands, and return it as it is kept.

        Raises:
            ConflictError: `conflict`: the id is taken.

        """
        ...

    def get(self, tenant: TenantId, run_id: RunId) -> Run:
        """Return a run, strongly consistent.

        Raises:
            NotFoundError: `run_not_found`.

        """
        ...

    def save(
        self,
        run: Run,
        *,
        sealed: str | None = None,
        events: Sequence[RunEvent] = (),
        result: Message | None = None,
    ) -> Run:
        """Keep the next state of a run with its events, all or none, and return it.

        `sealed` is where its loop stands; None leaves that. One that is over loses it, and what
        its calls came to; its changes that wait are declined, and no change says any more what it
        was.

        Raises:
            ConflictError: `conflict`: it was saved since `run` was read, or is gone.
            TooLargeError: `turn_too_large`.

        """
        ...

    def forget(self, run: Run) -> None:
        """Remove what was said in a run that is over, should `save` have broken off before it did.

        Repeating is no error.
        """
        ...

    def sealed_state(self, run: Run) -> str:
        """Return where the loop of a run stands.

        Raises:
            NotFoundError: `run_not_found`: it is over, or gone.

        """
        ...

    def result(self, run: Run) -> Message | None:
        """Return what a run brought, None if nothing so far."""
        ...

    def events(self, run: Run, *, after: int, limit: int) -> list[RunEvent]:
        """Return the events with higher numbers than `after`, in order."""
        ...

    def keep_outcome(
        self, run: Run, place: str, sealed: str, events: Sequence[RunEvent] = ()
    ) -> bool:
        """Keep what the call of a place came to, and tell it, both or none.

        False if that is known already: it stays. False, too, if the run is over or gone.

        Raises:
            TooLargeError: `turn_too_large`.

        """
        ...

    def outcome(self, run: Run, place: str) -> str | None:
        """Return what the call of a place came to, None if that is not known."""
        ...

    def put_approval(
        self,
        run: Run,
        approval: RunApproval,
        *,
        instead_of: str = "",
        events: Sequence[RunEvent] = (),
    ) -> bool:
        """Keep a change that waits, and tell it; `instead_of` is the id of the one it replaces.

        False if that place holds another one, that one's state is not the state of `approval`, or
        the run is over or gone.

        Raises:
            TooLargeError: `turn_too_large`.

        """
        ...

    def approvals(self, run: Run) -> list[RunApproval]:
        """Return the changes that wait for a person or did, in the order of their places."""
        ...

    def decide(
        self,
        run: Run,
        approval: RunApproval,
        state: ApprovalState,
        *,
        by: str,
        at: datetime,
        events: Sequence[RunEvent] = (),
    ) -> RunApproval | None:
        """Decide on a change, once, and tell it.

        None if its place holds another one, it is decided, or the run is over or gone.
        """
        ...

    def keep_task_token(self, run: Run, approval: RunApproval, token: str) -> RunApproval | None:
        """Note what lets the execution that waits go on, and return the change as it is then.

        None if it is gone, or its run is over.
        """
        ...

    def of_user(
        self, tenant: TenantId, user: UserId, *, limit: int, after: str | None = None
    ) -> tuple[list[Run], str | None]:
        """Return one page of a user's runs, last active first, and the next page's key."""
        ...

    def unfinished(self) -> Iterator[tuple[TenantId, RunId]]:
        """Yield the runs of all tenants that are not over; a moment late."""
        ...

    def delete(self, run: Run) -> None:
        """Remove a run and all that is kept of it; repeating is no error."""
        ...


class RunEngine(Protocol):
    """Drives runs durably. All may raise `UnavailableError`."""

    def start(self, run: Run) -> None:
        """Start the execution that the run names; one that was started stays as it is."""
        ...

    def go_on(self, task_token: str) -> bool:
        """Let an execution that waits for a person go on; False if it no longer waits."""
        ...

    def stop(self, run: Run) -> None:
        """End the execution of a run at once; one that ended already is no error."""
        ...

    def works_on(self, run: Run) -> bool:
        """Tell whether the execution that the run names is under way."""
        ...
