"""A run is metered as a turn is, and stops where the tenant's budget does."""

from archivolt.domain.language import Language
from archivolt.domain.messages import message_for
from archivolt.domain.run import RunStatus
from archivolt.domain.usage import Usage
from archivolt.ports.chat_model import ModelTurn
from tests.builders import ACME, ALICE
from tests.fakes.clock import START
from tests.fakes.models import ScriptedModel, calling, counted
from tests.run_world import RunWorld

MONTH = f"{START:%Y-%m}"
DONE = ModelTurn(text="Done.", input_tokens=500, output_tokens=20)


def test_each_answer_is_counted_for_who_started_the_run_and_told_of_as_the_runs() -> None:
    on = RunWorld(ScriptedModel(counted(calling("list_vaults"), 300, 10), DONE))

    run = on.drive(on.start_run())

    used = on.ledger.usage_of_user(ACME, ALICE, MONTH).total
    assert run.status is RunStatus.COMPLETED
    assert used == Usage(calls=2, input_tokens=800, output_tokens=30, micros=860)
    assert run.use.micro_dollars == used.micros
    assert {each.conversation for each in on.usage_events.used} == {run.id}


def test_a_budget_without_room_stops_a_run_with_its_own_code_and_keeps_what_it_brought() -> None:
    on = RunWorld(ScriptedModel(counted(calling("list_vaults", "I look."), 300, 10), DONE))
    run = on.start_run()
    on.step(run)
    on.allow(chat_monthly_budget_usd="0.000400")

    over = on.drive(run)

    assert (over.status, over.reason) == (RunStatus.STOPPED, "budget")
    [event] = on.told(run, "run_end")
    assert event.data["message"] == message_for("budget", Language.EN, {})
    result = on.agent_runs.result(over)
    assert result is not None
    assert result.text == "I look."
    assert on.ledger.held == {}
