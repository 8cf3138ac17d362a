"""How a run ends: one code, told by its status, its last event and the audit log alike."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from string import Formatter
from typing import Final

from archivolt.agent.state import StopReason
from archivolt.domain.audit import AuditEntry
from archivolt.domain.conversation import Author, Message
from archivolt.domain.errors import ArchivoltError, ConflictError
from archivolt.domain.identity import Principal
from archivolt.domain.messages import MESSAGES, message_for
from archivolt.domain.run import ApprovalState, Run, RunEvent, RunStatus
from archivolt.domain.run_limits import RUN_PROVIDER_DOWN_SECONDS
from archivolt.domain.tool import Surface
from archivolt.observability import failure, logger
from archivolt.runs.keeping import SoFar
from archivolt.runs.support import RunSupport, sources_of

_FAILURES: Final = frozenset({"run_failed", "run_provider_down", "internal"})


def status_for(reason: str) -> RunStatus:
    """Return the status of a run that is over for this reason."""
    if reason == StopReason.ANSWERED:
        return RunStatus.COMPLETED
    if reason == "run_cancelled":
        return RunStatus.CANCELLED
    return RunStatus.FAILED if reason in _FAILURES else RunStatus.STOPPED


def reason_in_words(run: Run) -> str:
    """Return why a run is over, as a sentence in its own language, with nothing left open in it."""
    told = MESSAGES.get(run.reason, MESSAGES["run_failed"]).spoken(run.language)
    limit = _limit(run)
    given = ({} if limit is None else {"limit": limit}) | run.reason_details
    details = {name: value for name, value in given.items() if value is not None}
    if all(name in details for _, name, _, _ in Formatter().parse(told) if name):
        return message_for(run.reason, run.language, details)
    return message_for("run_stopped", run.language, {"code": run.reason})


def _limit(run: Run) -> int | None:
    """Return the limit that a run came to, as its reason says."""
    limits: Mapping[str, int | None] = {
        StopReason.TOO_LONG: run.caps.minutes * 60,
        StopReason.TOO_MANY_STEPS: run.caps.steps,
        StopReason.TOO_MANY_CALLS: run.caps.tool_calls,
        "run_cost_cap": run.caps.micro_dollars,
        "run_provider_down": RUN_PROVIDER_DOWN_SECONDS,
    }
    return limits.get(run.reason)


def ended(
    on: RunSupport,
    run: Run,
    reason: str,
    so_far: SoFar | None,
    *,
    events: Sequence[RunEvent] = (),
    by: str = "",
) -> Run:
    """Keep that a run is over, and tell it; what it brought so far is kept as its result.

    `events` are told before the end; `by` is who ended it, "" for the run itself. The audit log is
    told first: an end that is told twice is better than one that is not. It is told of none that
    somebody else's change has overtaken.

    Raises:
        ConflictError: Somebody else changed the run meanwhile.
        UnavailableError: It cannot be kept or recorded.

    """
    if on.store.get(run.tenant, run.id).revision != run.revision:
        raise ConflictError("conflict")
    over = _over(on, run, reason, by)
    _end_recorded(on, over)
    kept = _kept(on, over, so_far, events)
    on.announcements.ended(kept, again=True)
    return kept


def cancelled(on: RunSupport, run: Run, so_far: SoFar | None, *, by: Principal) -> Run:
    """Keep that somebody ended a run; `unsettled` until what follows from that is done.

    Raises:
        ConflictError: Somebody else changed the run meanwhile.
        UnavailableError: It cannot be kept.

    """
    over = _over(on, run, "run_cancelled", run.named(by.user))
    return _kept(on, replace(over, unsettled=True), so_far, ())


def settled(on: RunSupport, over: Run, *, by: Principal) -> Run:
    """Do what follows once a cancelled run is kept as over; all of it can be done again.

    The audit log is told of an end that is kept alone, as theirs who ended it. What nobody agreed
    to is never made: it is declined with the run's end.

    Raises:
        UnavailableError: Not all of it is done: do it again.

    """
    _end_recorded(on, replace(over, principal=by))
    on.announcements.ended(over)
    for approval in on.store.approvals(over):
        if approval.state is ApprovalState.DECLINED:
            on.proposals().store.decline(over.tenant, approval.proposal)
    on.engine.stop(over)
    return on.store.save(replace(over, unsettled=False))


def so_far_of(on: RunSupport, run: Run) -> SoFar | None:
    """Return what a run has brought, None where that cannot be read: it has to end all the same."""
    try:
        return on.seals.opened_loop(run, on.store.sealed_state(run)).so_far
    except ArchivoltError as error:
        logger.warning("run ends without a result", extra={"run": run.id, **failure(error)})
        return None


def _over(on: RunSupport, run: Run, reason: str, by: str) -> Run:
    now = on.clock.now()
    return replace(
        run,
        status=status_for(reason),
        reason=reason,
        updated_at=now,
        waiting_since=None,
        failing_since=None,
        ended_by=by,
    )


def _end_recorded(on: RunSupport, over: Run) -> None:
    recorded(on, over, "run:end", over.reason, **({"by": over.ended_by} if over.ended_by else {}))


def _kept(on: RunSupport, over: Run, so_far: SoFar | None, events: Sequence[RunEvent]) -> Run:
    message = reason_in_words(over)
    data = {"status": over.status.value, "reason": over.reason, "message": message}
    return on.store.save(
        over,
        events=[*events, RunEvent(name="run_end", data=data, at=over.updated_at)],
        result=_result(over, so_far) if so_far else None,
    )


def recorded(on: RunSupport, run: Run, action: str, outcome: str, **details: str) -> None:
    """Record something of a run in the audit log.

    Raises:
        UnavailableError: It cannot be recorded.

    """
    now = on.clock.now()
    on.audit.append(
        AuditEntry(
            principal=run.principal,
            action=action,
            at=now,
            outcome=outcome,
            surface=Surface.IN_APP,
            milliseconds=0,
            details={"run": run.id, **details},
        )
    )


def _result(run: Run, so_far: SoFar) -> Message:
    """Return what a run brought as the chat keeps an answer: excerpts are content (S25)."""
    collector = sources_of(so_far)
    if run.reason == StopReason.ANSWERED or so_far.text.strip():
        citations = collector.used_in(so_far.text, so_far.sources)
    else:
        citations = ()
    return Message(
        number=1,
        author=Author.ASSISTANT,
        text=so_far.text,
        written_at=run.updated_at,
        tool_calls=so_far.calls,
        citations=tuple(replace(citation, excerpt="") for citation in citations),
        input_tokens=run.use.input_tokens,
        output_tokens=run.use.output_tokens,
    )
