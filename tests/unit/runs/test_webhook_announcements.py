"""What webhooks are told of runs: once each, and never at the cost of the run."""

import json

import pytest

from archivolt.domain.errors import UnavailableError
from archivolt.domain.run import Run, RunStatus
from archivolt.domain.run_limits import RUN_APPROVAL_SECONDS
from archivolt.domain.webhook import Webhook, WebhookEvent, WebhookMessage
from archivolt.ports.chat_model import ModelTurn
from archivolt.runs.deciding import Decision
from tests.builders import ACME, ALICE, GLOBEX, principal
from tests.fakes.clock import START
from tests.fakes.faults import Death
from tests.fakes.models import RepeatableModel, calling
from tests.run_world import RunWorld

CHANGE = calling("create_file", "I write.", vault="notes", path="secret-plan.md", content="one")
DONE = ModelTurn(text="Done.")
GOAL = "Write about the secret plan."


def world(*script: ModelTurn) -> RunWorld:
    made = RunWorld(RepeatableModel(*script))
    made.vault("notes")
    made.webhooks.save(ACME, Webhook(id="ours", url="https://hooks.test"), over=None)
    return made


def told(on: RunWorld, webhook: str = "ours") -> list[WebhookMessage]:
    return [each for (_, name, _), each in on.deliveries.started.items() if name == webhook]


def decided(on: RunWorld, run: Run, decision: Decision) -> Run:
    [approval] = on.waiting(run)
    on.decisions.decide(principal(ALICE), run.id, approval.id, decision)
    return on.carry_on(run)


def test_a_change_that_waits_and_the_end_are_told_by_reference() -> None:
    on = world(CHANGE, DONE)
    run = on.drive(on.start_run(GOAL))
    [approval] = on.waiting(run)
    on.clock.advance(minutes=5)
    run = decided(on, run, Decision.APPROVE)

    asks, over = told(on)
    assert (asks.event, asks.at) == (WebhookEvent.APPROVAL_REQUIRED, START)
    assert asks.data == {
        "run": run.id,
        "approval": approval.id,
        "tool_name": "create_file",
        "expires_at": approval.expires_at.isoformat(),
    }
    assert (approval.expires_at - asks.at).total_seconds() == RUN_APPROVAL_SECONDS
    assert (over.event, over.at) == (WebhookEvent.RUN_ENDED, run.updated_at)
    assert over.data == {
        "run": run.id,
        "status": "completed",
        "reason": "answered",
        "started_at": run.created_at.isoformat(),
    }
    everything = json.dumps([each.body.decode() for each in (asks, over)])
    for what in ("secret", "plan", ALICE, "Done", "notes"):
        assert what not in everything


def test_a_change_that_is_edited_waits_anew_and_is_told_anew() -> None:
    on = world(CHANGE, DONE)
    run = on.drive(on.start_run())
    [approval] = on.waiting(run)
    arguments = {"vault": "notes", "path": "b.md", "content": "two"}
    _, edited = on.decisions.edit(principal(ALICE), run.id, approval.id, arguments)

    assert [each.data["approval"] for each in told(on)] == [approval.id, edited.id]


def test_a_run_that_is_cancelled_says_so_once_however_often_it_is_cancelled() -> None:
    on = world(CHANGE)
    run = on.drive(on.start_run())
    for _ in range(3):
        on.run_service.cancel(principal(ALICE), run.id)

    ends = [each for each in told(on) if each.event is WebhookEvent.RUN_ENDED]
    assert [each.data["reason"] for each in ends] == ["run_cancelled"]


def test_only_those_are_told_who_want_to_be() -> None:
    on = world(DONE)
    on.webhooks.save(
        ACME,
        Webhook(id="asks", url="https://a.test", events=(WebhookEvent.APPROVAL_REQUIRED,)),
        over=None,
    )
    on.webhooks.save(ACME, Webhook(id="off", url="https://b.test", enabled=False), over=None)
    on.webhooks.save(GLOBEX, Webhook(id="foreign", url="https://c.test"), over=None)

    on.drive(on.start_run())

    assert {(tenant, name) for tenant, name, _ in on.deliveries.started} == {(ACME, "ours")}


def test_a_run_ends_alike_though_nobody_can_be_told() -> None:
    on = world(CHANGE, DONE)
    on.deliveries.down = True
    run = on.drive(on.start_run())

    with pytest.raises(UnavailableError):  # for the machine, which tries again
        decided(on, run, Decision.APPROVE)

    assert (on.now(run).status, told(on)) == (RunStatus.COMPLETED, [])
    on.deliveries.down = False
    on.step(run)
    assert [each.event for each in told(on)] == [WebhookEvent.RUN_ENDED]


def test_a_webhook_that_cannot_be_told_keeps_no_other_from_being_told() -> None:
    on = world(CHANGE)
    on.webhooks.save(ACME, Webhook(id="after", url="https://b.test"), over=None)
    on.deliveries.down_for = {"after", "ours"}
    on.webhooks.save(ACME, Webhook(id="z-last", url="https://c.test"), over=None)

    run = on.drive(on.start_run())
    on.run_service.cancel(principal(ALICE), run.id)

    assert len(told(on, "z-last")) == 2
    assert told(on) == []


@pytest.mark.parametrize("dies_in", ["approval_required", "ended"])
def test_a_worker_that_dies_before_it_could_tell_is_made_up_for(dies_in: str) -> None:
    on = world(CHANGE, DONE)
    run = on.start_run()
    start, deaths = on.deliveries.start, [dies_in.replace("ended", "run_ended")]

    def dying(tenant: object, webhook: str, message: WebhookMessage) -> None:
        if deaths and message.event.name.lower() == deaths[0]:
            deaths.clear()
            raise Death
        start(ACME, webhook, message)

    on.deliveries.start = dying  # type: ignore[method-assign]
    with pytest.raises(Death):
        decided(on, on.drive(run), Decision.APPROVE)
    if not on.now(run).status.over:
        decided(on, on.drive(run), Decision.APPROVE)
    else:
        on.step(run)  # the machine tries the step again that broke off

    events = [each.event for each in told(on)]
    assert events == [WebhookEvent.APPROVAL_REQUIRED, WebhookEvent.RUN_ENDED]
    assert len({each.id for each in told(on)}) == 2
