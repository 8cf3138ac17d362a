"""How a run ends: one code, told by its status, its last event and the audit log alike."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Final

from archivolt.agent.state import StopReason
from archivolt.domain.audit import AuditEntry
from archivolt.domain.conversation import Author, Message
from archivolt.domain.messages import message_for
from archivolt.domain.run import Run, RunEvent, RunStatus
from archivolt.domain.tool import Surface
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
    """Return why a run is over, as a sentence in its own language."""
    limits: Mapping[str, int | None] = {
        StopReason.TOO_LONG: run.caps.minutes * 60,
        StopReason.TOO_MANY_STEPS: run.caps.steps,
        StopReason.TOO_MANY_CALLS: run.caps.tool_calls,
        "run_cost_cap": run.caps.micro_dollars,
    }
    return message_for(run.reason, run.language, {"limit": limits.get(run.reason)})


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
    told first: an end that is told twice is better than one that is not.

    Raises:
        ConflictError: Somebody else changed the run meanwhile.
        UnavailableError: It cannot be kept or recorded.

    """
    now = on.clock.now()
    over = replace(
        run,
        status=status_for(reason),
        reason=reason,
        updated_at=now,
        waiting_since=None,
        failing_since=None,
        ended_by=by,
    )
    data = {"status": over.status.value, "reason": reason, "message": reason_in_words(over)}
    recorded(on, over, "run:end", reason, **({"by": by} if by else {}))
    return on.store.save(
        over,
        events=[*events, RunEvent(name="run_end", data=data, at=now)],
        result=_result(over, so_far, reason) if so_far else None,
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


def _result(run: Run, so_far: SoFar, reason: str) -> Message:
    """Return what a run brought as the chat keeps an answer: excerpts are content (S25)."""
    collector = sources_of(so_far)
    if reason == StopReason.ANSWERED or so_far.text.strip():
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
