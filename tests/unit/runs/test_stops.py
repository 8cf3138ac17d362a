"""Whatever ends a run: its status, its last event and the audit log tell the same code."""

import json
import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from archivolt.agent.state import StopReason
from archivolt.domain.conversation import Message
from archivolt.domain.errors import (
    BudgetExceededError,
    ConflictError,
    InvalidRequestError,
    NotFoundError,
    RateLimitedError,
    UnavailableError,
)
from archivolt.domain.language import Language
from archivolt.domain.limits import CHAT_CONFIRMATION_SECONDS
from archivolt.domain.messages import MESSAGES
from archivolt.domain.packing import packed
from archivolt.domain.run import Run, RunCaps, RunStatus
from archivolt.domain.run_limits import RUN_PROVIDER_DOWN_SECONDS
from archivolt.domain.tenancy import UserState
from archivolt.domain.tenancy_limits import STANDING_SECONDS
from archivolt.ports.chat_model import ModelTurn
from archivolt.ports.confirmations import ProposalState
from archivolt.runs.deciding import Decision
from archivolt.runs.ending import reason_in_words
from tests.builders import ACME, ALICE, BOB, principal
from tests.fakes.governance import ReversibleBox
from tests.fakes.models import ScriptedModel, Wait, calling
from tests.run_world import RunWorld, by_token

CHANGE = calling("create_file", "I write.", vault="notes", path="a.md", content="one")
DOWN = UnavailableError("provider_unavailable", provider="openai", reason="HTTP 503")


def world(*script: ModelTurn | Exception) -> RunWorld:
    made = RunWorld(ScriptedModel(*script))
    notes = made.vault("notes")
    for number in range(9):
        made.write(notes, f"{number}.md", f"about {number}")
    return made


def looking(number: int) -> ModelTurn:
    return calling("read_file", f"Look {number}.", vault="notes", path=f"{number}.md")


def test_every_reason_that_people_are_told_of_is_tried_here() -> None:
    guide = Path(__file__).parents[3] / "docs" / "runs-guide.md"
    table = guide.read_text(encoding="utf-8").partition("| Code | |\n")[2].partition("\n\n")[0]
    codes = (row.split("|")[1] for row in table.splitlines())
    told = {code for each in codes for code in re.findall(r"`([a-z_]+)`", each)}

    of_runs = set(StopReason) - {StopReason.WAITING, StopReason.STOPPED}
    assert {each.value for each in of_runs} <= told
    assert told == STOPS.keys() | {"answered"}


def ended(on: RunWorld, run: Run) -> tuple[RunStatus, str]:
    """Return how a run ended, once everybody who tells it tells the same."""
    now = on.now(run)
    [event] = on.told(run, "run_end")
    [entry] = [each for each in on.audit.entries if each.action == "run:end"]
    assert now.status.over
    assert (event.data["status"], event.data["reason"]) == (now.status, now.reason)
    assert (entry.outcome, entry.details["run"]) == (now.reason, run.id)
    assert event.data["message"]
    assert not any(gap in event.data["message"] for gap in ("?", "None"))
    assert on.told(run)[-1] == event
    return now.status, now.reason


def too_many_steps() -> tuple[RunWorld, Run]:
    on = world(*map(looking, range(9)))
    return on, on.drive(on.start_run(caps=RunCaps(steps=4)))


def too_many_calls() -> tuple[RunWorld, Run]:
    on = world(*map(looking, range(9)))
    return on, on.drive(on.start_run(caps=RunCaps(tool_calls=2)))


def repeated() -> tuple[RunWorld, Run]:
    on = world(calling("list_vaults", "Again."))
    return on, on.drive(on.start_run())


def nothing_new() -> tuple[RunWorld, Run]:
    on = world(*(calling("read_file", vault="notes", path=f"absent{n}.md") for n in range(9)))
    return on, on.drive(on.start_run())


def unusable() -> tuple[RunWorld, Run]:
    on = world(calling("no_such_tool", "Hm."))
    return on, on.drive(on.start_run())


def too_long() -> tuple[RunWorld, Run]:
    on = world(looking(1), looking(2))
    run = on.start_run(caps=RunCaps(minutes=5))
    on.step(run)
    on.clock.advance(minutes=6)
    return on, on.drive(run)


def too_dear() -> tuple[RunWorld, Run]:
    on = world(*map(looking, range(9)))
    kept = on.settings.load(ACME)
    on.settings.save(ACME, replace(kept, chat_provider="openai", chat_model="gpt-4o-mini"))
    return on, on.drive(on.start_run(caps=RunCaps(micro_dollars=1)))


def cut() -> tuple[RunWorld, Run]:
    on = world(ModelTurn(text="It is", finish_reason="length"))
    return on, on.drive(on.start_run())


def empty() -> tuple[RunWorld, Run]:
    on = world(ModelTurn(text=""))
    return on, on.drive(on.start_run())


def filtered() -> tuple[RunWorld, Run]:
    on = world(ModelTurn(text="", finish_reason="filtered"))
    return on, on.drive(on.start_run())


def cancelled() -> tuple[RunWorld, Run]:
    on = world(looking(1))
    run = on.start_run()
    on.step(run)
    on.run_service.cancel(principal(ALICE), run.id)
    return on, on.drive(run)


def declined() -> tuple[RunWorld, Run]:
    on = world(CHANGE, ModelTurn(text="Then not."))
    run = on.drive(on.start_run())
    [approval] = on.waiting(run)
    on.decisions.decide(principal(ALICE), run.id, approval.id, Decision.DECLINE)
    return on, on.carry_on(run)


def expired() -> tuple[RunWorld, Run]:
    on = world(CHANGE, ModelTurn(text="Nobody said."))
    run = on.drive(on.start_run())
    on.clock.advance(seconds=CHAT_CONFIRMATION_SECONDS + 5)
    return on, on.carry_on(run)


def down_for_an_hour() -> tuple[RunWorld, Run]:
    on = world(looking(1), DOWN)
    run = on.start_run()
    on.step(run)
    on.calls.run_tool(on.ref(run), "1.0")
    for _ in range(4):
        with pytest.raises(UnavailableError):
            on.step(run)
        on.clock.advance(seconds=RUN_PROVIDER_DOWN_SECONDS / 4)
    return on, on.drive(run)


def turned_off() -> tuple[RunWorld, Run]:
    on = world(looking(1))
    run = on.start_run()
    on.step(run)
    on.settings.save(ACME, replace(on.settings.load(ACME), chat_enabled=False))
    return on, on.drive(run)


def suspended() -> tuple[RunWorld, Run]:
    on = world(looking(1))
    run = on.start_run()
    on.step(run)
    on.admission.admit(principal(ALICE))
    on.tenants.set_user_state(ACME, ALICE, UserState.SUSPENDED)
    on.clock.advance(seconds=STANDING_SECONDS)
    return on, on.drive(run)


def without_its_token() -> tuple[RunWorld, Run]:
    on = world(looking(1))
    caller, token = by_token(on.personal)
    run = on.start_run(by=caller)
    on.step(run)
    on.personal.remove(token)
    return on, on.drive(run)


def without_its_vault() -> tuple[RunWorld, Run]:
    on = world(looking(1))
    shared = on.vault("shared", owner=principal(BOB))
    on.share(shared, principal(ALICE))
    run = on.start_run(vaults=("notes", "shared"))
    on.step(run)
    on.directory.remove_member(shared, ALICE)
    return on, on.drive(run)


def over_the_tokens_of_a_day() -> tuple[RunWorld, Run]:
    on = world(looking(1))
    run = on.start_run()
    on.settings.save(ACME, replace(on.settings.load(ACME), chat_daily_tokens_per_user=1))
    return on, on.drive(run)


def without_its_provider() -> tuple[RunWorld, Run]:
    on = world(looking(1))
    run = on.start_run()
    on.step(run)
    on.settings.save(ACME, replace(on.settings.load(ACME), chat_allowed_providers=("gemini",)))
    return on, on.drive(run)


def out_of_budget() -> tuple[RunWorld, Run]:
    on = world(looking(1), looking(2))
    run = on.start_run()
    on.step(run)
    on.settings.save(ACME, replace(on.settings.load(ACME), chat_monthly_budget_usd="0.000001"))
    return on, on.drive(run)


def beyond_the_budget() -> tuple[RunWorld, Run]:
    on = world(looking(1))
    run = on.start_run()
    on.settings.save(ACME, replace(on.settings.load(ACME), chat_monthly_budget_usd="0.000001"))
    return on, on.drive(run)


def broke_off() -> tuple[RunWorld, Run]:
    on = world(looking(1))
    run = on.start_run()
    on.step(run)
    on.calls.broke_off(on.ref(run), error="Runtime.ExitError", cause="{}")
    return on, run


def refused() -> tuple[RunWorld, Run]:
    on = world(InvalidRequestError("provider_refused", provider="openai", reason="HTTP 400"))
    return on, on.drive(on.start_run())


STOPS: dict[str, tuple[Callable[[], tuple[RunWorld, Run]], RunStatus]] = {
    "loop_too_many_steps": (too_many_steps, RunStatus.STOPPED),
    "loop_too_many_calls": (too_many_calls, RunStatus.STOPPED),
    "loop_repeated_call": (repeated, RunStatus.STOPPED),
    "loop_no_progress": (nothing_new, RunStatus.STOPPED),
    "loop_unusable_calls": (unusable, RunStatus.STOPPED),
    "loop_too_long": (too_long, RunStatus.STOPPED),
    "run_cost_cap": (too_dear, RunStatus.STOPPED),
    "answer_cut": (cut, RunStatus.STOPPED),
    "answer_empty": (empty, RunStatus.STOPPED),
    "answer_filtered": (filtered, RunStatus.STOPPED),
    "run_cancelled": (cancelled, RunStatus.CANCELLED),
    "run_declined": (declined, RunStatus.STOPPED),
    "approval_expired": (expired, RunStatus.STOPPED),
    "run_provider_down": (down_for_an_hour, RunStatus.FAILED),
    "chat_disabled": (turned_off, RunStatus.STOPPED),
    "user_suspended": (suspended, RunStatus.STOPPED),
    "run_token_ended": (without_its_token, RunStatus.STOPPED),
    "run_vault_lost": (without_its_vault, RunStatus.STOPPED),
    "provider_not_allowed": (without_its_provider, RunStatus.STOPPED),
    "daily_tokens_exceeded": (over_the_tokens_of_a_day, RunStatus.STOPPED),
    "budget_exceeded": (beyond_the_budget, RunStatus.STOPPED),
    "budget": (out_of_budget, RunStatus.STOPPED),
    "provider_refused": (refused, RunStatus.STOPPED),
    "run_failed": (broke_off, RunStatus.FAILED),
}


@pytest.mark.parametrize("reason", STOPS)
def test_a_stop_is_told_with_one_code(reason: str) -> None:
    stop, status = STOPS[reason]

    on, run = stop()

    assert ended(on, run) == (status, reason)


@pytest.mark.parametrize(
    ("code", "told"),
    [
        ("answer_cut", "The answer was cut at 7 tokens"),
        ("provider_not_allowed", "does not use the provider openai"),
        ("provider_refused", "refuses the request (HTTP 400)"),
    ],
)
def test_a_reason_is_told_with_its_details(code: str, told: str) -> None:
    details = {"limit": 7, "provider": "openai", "reason": "HTTP 400"}
    over = replace(world().start_run(), reason=code, reason_details=details)

    assert told in reason_in_words(over)


@pytest.mark.parametrize("language", Language)
def test_no_sentence_has_a_gap_in_it(language: Language) -> None:
    run = replace(world().start_run(), language=language)

    for code, message in MESSAGES.items():
        told = reason_in_words(replace(run, reason=code, reason_details={"reason": None}))
        assert "None" not in told
        assert "?" not in told or "?" in message.spoken(language), code


@pytest.mark.parametrize(
    ("error", "told", "reason", "status"),
    [
        ("UnavailableError", "unavailable", "run_failed", RunStatus.FAILED),
        ("UnavailableError", "secret_unreadable", "run_failed", RunStatus.FAILED),
        ("ConflictError", "conflict", "run_failed", RunStatus.FAILED),
        ("RateLimitedError", "rate_limited", "run_failed", RunStatus.FAILED),
        ("NotFoundError", "run_not_found", "run_failed", RunStatus.FAILED),
        ("ForbiddenError", "chat_disabled", "chat_disabled", RunStatus.STOPPED),
    ],
)
def test_what_broke_on_our_side_is_no_rule(
    error: str, told: str, reason: str, status: RunStatus
) -> None:
    on = world(looking(1))
    run = on.start_run()
    cause = json.dumps({"errorMessage": f"{told}: A sentence.", "errorType": error})

    on.calls.broke_off(on.ref(run), error=error, cause=cause)

    assert ended(on, run) == (status, reason)


@pytest.mark.parametrize("way", ["cancel", "delete", "broke_off", "older"])
def test_a_run_ends_though_its_state_cannot_be_read(way: str) -> None:
    on = world(looking(1))
    run = on.start_run()
    sealed = "bm90IG91cnM="
    if way == "older":
        text, field = packed('{"state": {}, "so_far": {}}'), f"run:{run.id}:state"
        sealed = ReversibleBox().seal(text, tenant=ACME, field=field)
    on.agent_runs.save(on.now(run), sealed=sealed)
    with pytest.raises(UnavailableError):
        on.step(run)
    if way == "broke_off":
        on.calls.broke_off(on.ref(run), error="States.Timeout", cause="")
    else:
        on.run_service.cancel(principal(ALICE), run.id)

    assert ended(on, run)[0] is (RunStatus.FAILED if way == "broke_off" else RunStatus.CANCELLED)
    assert on.agent_runs.result(run) is None
    if way == "delete":
        on.run_service.delete(principal(ALICE), run.id)
        with pytest.raises(NotFoundError):
            on.now(run)


def changing(on: RunWorld, run: Run, times: int) -> None:
    """Have the run change just before each of so many ends is kept."""
    store: Any = on.agent_runs
    save, left = store.save, [None] * times

    def meanwhile(to_keep: Run, **beside: Any) -> Run:  # noqa: ANN401  as the store takes it
        if to_keep.status.over and left:
            left.pop()
            save(on.now(run))
        return save(to_keep, **beside)

    store.save = meanwhile


def test_a_run_that_changes_meanwhile_is_cancelled_once() -> None:
    on = world(CHANGE)
    run = on.drive(on.start_run())
    [approval] = on.waiting(run)
    changing(on, run, 3)

    over = on.run_service.cancel(principal(ALICE), run.id)

    assert ended(on, run) == (RunStatus.CANCELLED, "run_cancelled")
    assert on.engine.stopped == [(run.id, over.execution)]
    proposal = on.proposals.kept(ACME, approval.proposal)
    assert proposal.state is ProposalState.DECLINED


def test_a_run_that_cannot_be_cancelled_goes_on_as_if_nobody_had_tried() -> None:
    on = world(CHANGE, ModelTurn(text="Done."))
    run = on.drive(on.start_run())
    [approval] = on.waiting(run)
    changing(on, run, 5)

    with pytest.raises(ConflictError):
        on.run_service.cancel(principal(ALICE), run.id)

    assert on.waiting(run) == [approval]
    assert [entry for entry in on.audit.entries if entry.action == "run:end"] == []
    on.decisions.decide(principal(ALICE), run.id, approval.id, Decision.APPROVE)
    assert ended(on, on.carry_on(run)) == (RunStatus.COMPLETED, "answered")


def test_an_answer_is_told_as_the_end_of_a_run() -> None:
    on = world(ModelTurn(text="Here."))

    run = on.drive(on.start_run())

    assert ended(on, run) == (RunStatus.COMPLETED, "answered")


def test_what_a_run_had_when_it_was_stopped_is_its_result() -> None:
    on, run = too_many_steps()

    result = on.agent_runs.result(run)

    assert isinstance(result, Message)
    assert result.text.startswith("Look 0.")
    assert [call.tool_name for call in result.tool_calls] == ["read_file"] * 3


def test_the_time_that_people_take_is_no_work() -> None:
    on = world(CHANGE, ModelTurn(text="Done."))
    run = on.drive(on.start_run(caps=RunCaps(minutes=5)))
    [approval] = on.waiting(run)
    on.clock.advance(hours=20)

    on.decisions.decide(principal(ALICE), run.id, approval.id, Decision.APPROVE)
    run = on.carry_on(run)

    assert (run.status, run.use.waited_seconds) == (RunStatus.COMPLETED, 20 * 3600)


def test_a_provider_that_comes_back_in_time_is_asked_again() -> None:
    on = world(DOWN, ModelTurn(text="Here."))
    run = on.start_run()
    with pytest.raises(UnavailableError):
        on.step(run)
    on.clock.advance(minutes=50)

    run = on.drive(run)

    assert (run.status, run.failing_since) == (RunStatus.COMPLETED, None)
    assert run.use.waited_seconds == 50 * 60


def test_what_of_ours_is_down_is_no_providers_fault() -> None:
    on = world(UnavailableError("unavailable"))
    run = on.start_run()
    with pytest.raises(UnavailableError):
        on.step(run)
    on.clock.advance(seconds=RUN_PROVIDER_DOWN_SECONDS)

    assert ended(on, on.drive(run)) == (RunStatus.FAILED, "run_failed")


def test_a_budget_that_others_set_aside_for_a_moment_is_waited_for() -> None:
    momentary = BudgetExceededError("budget_exceeded")
    momentary.momentary = True
    on = world(momentary, ModelTurn(text="Here."))
    run = on.start_run()

    with pytest.raises(RateLimitedError):
        on.step(run)

    assert on.drive(run).reason == "answered"


def test_a_model_that_takes_too_long_is_cut_off_with_what_it_said() -> None:
    on = RunWorld(ScriptedModel(looking(1), Wait(says="So far")))
    on.vault("notes")
    run = on.start_run(caps=RunCaps(minutes=1))
    on.step(run)
    on.calls.run_tool(on.ref(run), "1.0")
    on.clock.advance(seconds=59.95)

    run = on.drive(run)

    assert ended(on, run) == (RunStatus.STOPPED, "loop_too_long")
    result = on.agent_runs.result(run)
    assert result is not None
    assert result.text == "Look 1.\n\nSo far"


def test_an_end_that_did_not_happen_is_not_told() -> None:
    on = world(ModelTurn(text="Here."))
    run = on.start_run()
    store: Any = on.agent_runs
    sealed_state, cancelled = store.sealed_state, list[None]()

    def meanwhile(of: Run) -> str:
        sealed: str = sealed_state(of)
        if not cancelled:
            cancelled.append(None)
            on.run_service.cancel(principal(ALICE), run.id)
        return sealed

    store.sealed_state = meanwhile
    with pytest.raises(ConflictError):
        on.step(run)

    assert ended(on, run) == (RunStatus.CANCELLED, "run_cancelled")


@pytest.mark.parametrize("down", ["append", "decline", "stop"])
def test_a_cancellation_that_broke_off_is_finished_by_the_next(down: str) -> None:
    on = world(CHANGE)
    run = on.drive(on.start_run())
    [approval] = on.waiting(run)
    audit, engine = on.audit, on.engine
    on.audit, on.engine = on.line.across(audit), on.line.across(engine)
    on.line.take_down(down)
    with pytest.raises(UnavailableError):
        on.run_service.cancel(principal(ALICE), run.id)
    on.line.calm()

    twice = [on.run_service.cancel(principal(ALICE), run.id) for _ in range(2)]

    assert twice[0] == twice[1]
    assert on.proposals.kept(ACME, approval.proposal).state is ProposalState.DECLINED
    assert engine.stopped == [(run.id, 1)]
    ends = [each for each in audit.entries if each.action == "run:end"]
    assert len(ends) == (1 if down == "append" else 2)


def test_what_a_person_declined_is_a_stop_only_where_the_run_had_nothing_else_to_do() -> None:
    on = world(CHANGE, looking(1), ModelTurn(text="Found another way."))
    run = on.drive(on.start_run())
    [approval] = on.waiting(run)

    on.decisions.decide(principal(ALICE), run.id, approval.id, Decision.DECLINE)
    run = on.carry_on(run)

    assert ended(on, run) == (RunStatus.COMPLETED, "answered")
