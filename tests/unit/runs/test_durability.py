"""A run survives whoever works on it: each step can be taken again, each effect happens once."""

import os
from datetime import timedelta
from types import SimpleNamespace
from typing import Any

import pytest

from archivolt.adapters.dynamodb.table import ConditionFailedError
from archivolt.domain.errors import ConflictError, NotFoundError, UnavailableError
from archivolt.domain.limits import MAX_ROUND_CALLS
from archivolt.domain.paths import VaultPath
from archivolt.domain.run import ApprovalState, Run, RunPhase, RunRef, RunStatus
from archivolt.domain.run_limits import (
    RUN_APPROVAL_SECONDS,
    RUN_CALL_RETRIES,
    RUN_QUIET_SECONDS,
)
from archivolt.domain.vault import VaultRef
from archivolt.entrypoints.events.agent import build_agent
from archivolt.ports.chat_model import ModelToolCall, ModelTurn
from archivolt.runs.deciding import Decision
from archivolt.runs.resuming import RunSweep
from archivolt.runs.stepping import Next
from tests.builders import ALICE, principal
from tests.fakes.faults import Death
from tests.fakes.models import RepeatableModel, calling
from tests.run_world import RunWorld

CHANGE = calling("append_to_file", "I add.", vault="notes", path="log.md", content="- one\n")
DONE = ModelTurn(text="Done.")
# The worker of a run dies at each so manieth moment; 1 is every one.
MOMENTS_APART = int(os.environ.get("RUN_MOMENTS_APART", "13"))  # noqa: TID251  a test's own


def world(
    *script: ModelTurn, max_history: int = 12_000
) -> tuple[RunWorld, RepeatableModel, VaultRef]:
    model = RepeatableModel(*script)
    made = RunWorld(model, max_history=max_history)
    notes = made.vault("notes")
    made.write(notes, "log.md", "# Log\n")
    for number in range(9):
        made.write(notes, f"{number}.md", f"about {number}")
    return made, model, notes


def looking(*numbers: int) -> ModelTurn:
    calls = tuple(
        ModelToolCall(
            id=f"r{n}", name="read_file", arguments=f'{{"vault": "notes", "path": "{n}.md"}}'
        )
        for n in numbers
    )
    return ModelTurn(text="I look.", tool_calls=calls, finish_reason="tool_calls")


def content(on: RunWorld, vault: VaultRef) -> str:
    return on.store.read(vault, VaultPath("log.md")).data.decode()


def agree(on: RunWorld, run: Run) -> None:
    for approval in on.waiting(run):
        on.decisions.decide(principal(ALICE), run.id, approval.id, Decision.APPROVE)


def test_a_step_that_is_taken_again_asks_the_model_no_more() -> None:
    on, model, _ = world(looking(1, 2), DONE)
    run = on.start_run()

    first, again = on.step(run), on.step(run)

    assert first == again
    assert [call["call"] for call in first.calls] == ["1.0", "1.1"]
    assert len(model.requests) == 1


def test_only_the_calls_without_an_outcome_are_run_again() -> None:
    on, _, _ = world(looking(1, 2, 3), DONE)
    run = on.start_run()
    on.step(run)
    on.calls.run_tool(on.ref(run), "1.1")

    again = on.step(run)

    assert [call["call"] for call in again.calls] == ["1.0", "1.2"]


def test_a_call_that_is_run_again_is_not_run_again() -> None:
    on, _, _ = world(looking(1), DONE)
    run = on.start_run()
    on.step(run)
    for _ in range(3):
        on.calls.run_tool(on.ref(run), "1.0")

    reads = [entry for entry in on.audit.entries if entry.action == "read_file"]
    assert len(reads) == 1
    assert len(on.told(run, "tool_use_result")) == 1


@pytest.mark.parametrize("turn", [looking(1), CHANGE])
def test_what_is_down_for_a_moment_is_tried_again_and_then_told(turn: ModelTurn) -> None:
    on, _, _ = world(turn, DONE)
    run = on.start_run()
    on.step(run)
    on.line.take_down("read")
    for retries in range(RUN_CALL_RETRIES):
        with pytest.raises(UnavailableError):
            on.calls.run_tool(on.ref(run, retries=retries), "1.0")
    kept = on.agent_runs.outcome(run, "1.0")

    on.calls.run_tool(on.ref(run, retries=RUN_CALL_RETRIES), "1.0")

    assert kept is None
    [told] = on.told(run, "tool_use_result")
    assert told.data["status"] == "error"


def test_a_change_is_proposed_once_whoever_breaks_off() -> None:
    on, _, _ = world(CHANGE, DONE)
    run = on.start_run()
    on.step(run)
    on.calls.run_tool(on.ref(run), "1.0")
    [shown] = on.agent_runs.approvals(run)
    on.agent_runs.forget_outcome(run, "1.0")

    on.calls.run_tool(on.ref(run), "1.0")
    run = on.drive(run)

    assert [each.id for each in on.waiting(run)] == [shown.id]
    assert on.agent_runs.approvals(run)[0].proposal == shown.proposal
    assert len(on.told(run, "approval_required")) == 1


def test_a_change_that_people_were_shown_waits_though_it_could_not_be_proposed_again() -> None:
    on, _, notes = world(CHANGE, DONE)
    run = on.start_run()
    on.step(run)
    on.calls.run_tool(on.ref(run), "1.0")
    on.agent_runs.forget_outcome(run, "1.0")
    on.line.take_down("read")

    on.calls.run_tool(on.ref(run, retries=RUN_CALL_RETRIES), "1.0")
    on.line.calm()
    run = on.drive(run)
    agree(on, run)
    run = on.carry_on(run)

    assert content(on, notes) == "# Log\n- one\n"
    assert run.reason == "answered"


def test_a_change_that_was_made_before_its_worker_died_is_not_made_again() -> None:
    on, _, notes = world(CHANGE, DONE)
    run = on.drive(on.start_run())
    agree(on, run)
    on.calls.decided(on.ref(run), "1.0")
    on.agent_runs.forget_outcome(run, "1.0.decided")

    run = on.carry_on(run)

    assert content(on, notes) == "# Log\n- one\n"
    assert run.status is RunStatus.COMPLETED


def survived(on: RunWorld, run: Run) -> Run:
    """Go on as a fresh worker after one died: the engine asks again what it asked."""
    on.line.calm()
    on.clock.advance(minutes=2)
    if not on.now(run).status.over:
        on.drive(run)
    agree(on, run)
    return on.carry_on(run)


def died_at(moment: int) -> tuple[RunWorld, Run, VaultRef, bool]:
    """Take a run to its end with a worker that dies at a moment, and others that go on."""
    on, _, notes = world(looking(1, 2), CHANGE, DONE)
    run = on.start_run()
    on.line.strike_after(moment)
    died = False
    try:
        on.drive(run)
        agree(on, run)
        run = on.carry_on(run)
    except Death:
        died = True
        run = survived(on, run)
    on.line.calm()
    return on, run, notes, died


def test_a_run_ends_alike_whenever_its_worker_dies() -> None:
    died, moment = True, 0
    while died:
        on, run, notes, died = died_at(moment)
        moment += MOMENTS_APART
        result = on.agent_runs.result(run)
        assert result is not None
        assert (run.status, run.reason) == (RunStatus.COMPLETED, "answered")
        assert content(on, notes) == "# Log\n- one\n"
        for name, count in (("tool_use_result", 3), ("approval_required", 1)):
            assert len(on.told(run, name)) == count
        assert [call.tool_name for call in result.tool_calls] == [
            "read_file",
            "read_file",
            "append_to_file",
        ]
        assert result.text == "I look.\n\nI add.\n\nDone."
    assert moment > 100


def test_an_execution_that_was_replaced_does_nothing() -> None:
    on, model, _ = world(looking(1), DONE)
    run = on.start_run()
    old = on.ref(run)
    on.engine.forget()
    assert RunSweep(on.run_support).sweep() == 1

    assert on.steps.step(old).what == "over"
    on.calls.run_tool(old, "1.0")

    assert model.requests == []
    assert on.drive(run).status is RunStatus.COMPLETED


def test_an_engine_that_forgot_a_run_is_given_it_again() -> None:
    on, model, _ = world(looking(1), looking(2), DONE)
    run = on.start_run()
    on.step(run)
    on.engine.forget()

    count = RunSweep(on.run_support).sweep()
    run = on.drive(run)

    assert (count, run.execution, run.status) == (1, 2, RunStatus.COMPLETED)
    assert on.engine.started == [(run.id, 1), (run.id, 2)]
    assert len(model.requests) == 3


@pytest.mark.parametrize("key", ["", "k1"])
def test_a_run_that_could_not_be_driven_is_started_once_when_it_is_asked_for_again(
    key: str,
) -> None:
    on, model, _ = world(DONE)
    engine, on.engine = on.engine, on.line.across(on.engine)
    on.line.take_down("start")
    with pytest.raises(UnavailableError):
        on.start_run(idempotency_key=key)
    kept = list(on.agent_runs.unfinished())
    on.line.calm()

    run = on.start_run(idempotency_key=key)

    assert kept == ([(run.tenant, run.id)] if key else [])
    assert list(on.agent_runs.unfinished()) == [(run.tenant, run.id)]
    assert engine.started == [(run.id, 1)]
    assert on.drive(run).reason == "answered"
    assert len(model.requests) == 1


def test_who_looks_at_a_quiet_run_has_it_gone_on_with() -> None:
    on, _, _ = world(looking(1), DONE)
    run = on.start_run()
    on.step(run)
    on.engine.forget()

    at_once = on.run_service.read(principal(ALICE), run.id)
    on.clock.advance(seconds=RUN_QUIET_SECONDS + 1)
    later = on.run_service.read(principal(ALICE), run.id)

    assert (at_once.execution, later.execution) == (1, 2)
    assert on.drive(run).status is RunStatus.COMPLETED


def test_a_run_that_somebody_works_on_is_left_alone() -> None:
    on, _, _ = world(CHANGE, DONE)
    run = on.drive(on.start_run())

    assert RunSweep(on.run_support).sweep() == 0
    assert on.now(run).execution == 1


def test_a_decision_is_carried_out_though_the_engine_forgot_who_waits() -> None:
    on, _, notes = world(CHANGE, DONE)
    run = on.drive(on.start_run())
    on.engine.forget()

    agree(on, run)
    run = on.carry_on(run)

    assert run.execution == 2
    assert (run.status, content(on, notes)) == (RunStatus.COMPLETED, "# Log\n- one\n")


def test_a_change_that_was_agreed_to_at_the_last_moment_is_made() -> None:
    on, _, notes = world(CHANGE, DONE)
    run = on.drive(on.start_run())
    [approval] = on.waiting(run)
    assert approval.expires_at == on.clock.now() + timedelta(seconds=RUN_APPROVAL_SECONDS)
    on.clock.advance(seconds=RUN_APPROVAL_SECONDS - 1)
    agree(on, run)
    on.clock.advance(hours=47)

    run = on.carry_on(run)

    assert (run.reason, content(on, notes)) == ("answered", "# Log\n- one\n")


def test_who_comes_to_wait_after_the_decision_does_not_wait() -> None:
    on, _, _ = world(CHANGE, DONE)
    run = on.start_run()
    on.step(run)
    on.calls.run_tool(on.ref(run), "1.0")
    on.step(run)
    agree(on, run)

    on.engine.waiting.add("late")
    on.calls.await_person(on.ref(run), "1.0", "late")

    assert on.engine.waiting == set()


def test_an_execution_is_renewed_before_it_has_recorded_too_much() -> None:
    on, _, _ = world(*(looking(n) for n in range(9)), DONE, max_history=60)

    run = on.drive(on.start_run())

    assert run.status is RunStatus.COMPLETED
    assert run.execution > 2
    assert on.engine.started == [(run.id, n) for n in range(1, run.execution + 1)]


def test_a_fresh_execution_is_started_though_the_one_before_died_in_between() -> None:
    on, _, _ = world(looking(1), DONE, max_history=1)
    run = on.start_run()
    old = on.ref(run)
    on.step(run)
    on.engine.started.remove((run.id, 2))

    assert on.steps.step(old).what == "over"

    assert on.engine.started == [(run.id, 1), (run.id, 2)]


def test_nothing_of_what_was_said_is_left_when_a_run_is_over() -> None:
    on, _, _ = world(looking(1), CHANGE, CHANGE, DONE)
    run = on.drive(on.start_run())
    agree(on, run)
    run = on.carry_on(run)
    [agreed, waiting] = on.agent_runs.approvals(run)

    over = on.run_service.cancel(principal(ALICE), run.id)

    with pytest.raises(NotFoundError):
        on.agent_runs.sealed_state(over)
    places = ("1.0", agreed.call, agreed.call + ".decided", waiting.call)
    assert [on.agent_runs.outcome(over, place) for place in places] == [None] * 4
    left = on.agent_runs.approvals(over)
    assert [(each.sealed, each.task_token) for each in left] == [("", "")] * 2
    assert [each.state for each in left] == [ApprovalState.APPROVED, ApprovalState.DECLINED]
    assert left[0].decided_by == ALICE
    with pytest.raises(NotFoundError) as gone:
        on.decisions.show(principal(ALICE), run.id, agreed.id)
    assert gone.value.code == "approval_not_found"


def test_what_was_said_is_forgotten_though_who_ended_the_run_died_before() -> None:
    on, _, _ = world(looking(1), DONE)
    run = on.start_run()
    on.step(run)
    old = on.ref(run)
    on.run_service.cancel(principal(ALICE), run.id)
    on.line.take_down("forget")

    with pytest.raises(UnavailableError):
        on.steps.step(old)


def test_the_machine_is_told_of_a_conflict_by_the_name_that_it_knows() -> None:
    class Beaten:
        def step(self, ref: RunRef) -> Next:
            raise ConditionFailedError(frozenset({len(ref.run)}))

    on, _, _ = world(DONE)
    run = on.start_run()
    services: Any = SimpleNamespace(steps=Beaten(), calls=on.calls)
    task = {"do": "step", "tenant": run.tenant, "run": run.id, "execution": 1}

    with pytest.raises(ConflictError) as told:
        build_agent(lambda: services)(task, None)

    assert type(told.value).__name__ == "ConflictError"


def test_more_calls_than_one_round_takes_are_asked_for_again() -> None:
    on, model, _ = world(looking(*range(130)), DONE)
    run = on.start_run()

    first = on.step(run)

    assert len(first.calls) == MAX_ROUND_CALLS
    assert on.drive(run).reason == "answered"
    told = [each.text for each in model.requests[1].messages if each.role == "tool"]
    assert sum("Make this one again" in text for text in told) == 130 - MAX_ROUND_CALLS


def test_the_same_word_is_heard_again_though_the_run_is_over() -> None:
    on, _, _ = world(CHANGE, DONE)
    run = on.drive(on.start_run())
    [approval] = on.waiting(run)
    agree(on, run)
    assert on.carry_on(run).status.over

    again = on.decisions.decide(principal(ALICE), run.id, approval.id, Decision.APPROVE)

    assert again.state is ApprovalState.APPROVED
    assert len(on.told(run, "approval_decided")) == 1


@pytest.mark.parametrize("decision", [Decision.APPROVE, Decision.DECLINE])
def test_a_word_that_cannot_be_audited_is_not_heard(decision: Decision) -> None:
    on, _, notes = world(CHANGE, DONE)
    run = on.drive(on.start_run())
    [approval] = on.waiting(run)
    kept, on.audit = on.audit, on.line.across(on.audit)
    on.line.take_down("append")
    with pytest.raises(UnavailableError):
        on.decisions.decide(principal(ALICE), run.id, approval.id, decision)
    on.line.calm()
    [still] = on.agent_runs.approvals(run)

    on.decisions.decide(principal(ALICE), run.id, approval.id, decision)
    on.carry_on(run)

    assert still.state is ApprovalState.PENDING
    assert [e.action for e in kept.entries if e.action in {"run:approved", "run:declined"}]
    assert len(on.told(run, "approval_decided")) == 1
    assert (content(on, notes) == "# Log\n") is (decision is Decision.DECLINE)


def test_a_cancelled_run_makes_none_of_its_changes() -> None:
    on, _, notes = world(CHANGE, DONE)
    run = on.drive(on.start_run())
    [approval] = on.waiting(run)

    over = on.run_service.cancel(principal(ALICE), run.id)
    on.calls.decided(on.ref(run), approval.call)

    assert over.phase is RunPhase.APPROVAL
    assert on.engine.stopped == [(run.id, 1)]
    assert on.agent_runs.approvals(run)[0].state is ApprovalState.DECLINED
    assert content(on, notes) == "# Log\n"


def test_cancelling_twice_is_cancelling_once() -> None:
    on, _, _ = world(looking(1))
    run = on.start_run()

    both = [on.run_service.cancel(principal(ALICE), run.id) for _ in range(2)]

    assert both[0] == both[1]
    assert len(on.told(run, "run_end")) == 1
