"""The state machine of webhooks: valid, patient, and what it gives up is noted."""

import json
from typing import cast

import jsonschema
import pytest

from archivolt.domain.webhook_limits import WEBHOOK_SECONDS
from archivolt_local.places import REPOSITORY
from tests.infra.test_agent_run_machine import (
    OF_AWS,
    OURS,
    SCHEMA,
    TRIED_AGAIN,
    State,
    errors_in,
    tasks,
)

DOCUMENT = REPOSITORY / "infra" / "statemachines" / "webhook_delivery.asl.json"


@pytest.fixture(scope="module")
def machine() -> State:
    return json.loads(DOCUMENT.read_text(encoding="utf-8"))


def seconds_of(rule: State) -> tuple[float, float]:
    """For how long a rule tries again on average, and at most."""
    pause, waited = float(rule["IntervalSeconds"]), 0.0
    for _ in range(rule["MaxAttempts"]):
        waited += min(pause, rule["MaxDelaySeconds"])
        pause *= rule["BackoffRate"]
    return waited / 2, waited  # full jitter halves it on average


def test_it_is_valid_by_the_published_schema(machine: State) -> None:
    sam = REPOSITORY / ".tools" / "sam"
    if not sam.exists():
        pytest.skip("AWS SAM is not installed (make setup)")
    [schema_file] = sam.glob(SCHEMA)
    jsonschema.validate(machine, json.loads(schema_file.read_text(encoding="utf-8")))


def test_a_message_is_tried_for_about_a_day_with_pauses_that_grow_and_differ(
    machine: State,
) -> None:
    for name, task in tasks(machine):
        [rule] = task["Retry"]
        assert TRIED_AGAIN <= errors_in([rule]) <= OF_AWS | OURS, name
        assert (rule["JitterStrategy"], rule["BackoffRate"] > 1) == ("FULL", True), name

    average, longest = seconds_of(machine["States"]["Deliver"]["Retry"][0])
    assert 12 * 3_600 < average < longest < 48 * 3_600


def test_what_is_given_up_is_noted_and_fails_the_execution(machine: State) -> None:
    states: dict[str, State] = machine["States"]
    [caught] = states["Deliver"]["Catch"]

    assert (caught["ErrorEquals"], caught["Next"]) == (["States.ALL"], "GiveUp")
    assert states["GiveUp"]["Next"] == states["GiveUp"]["Catch"][0]["Next"] == "NotDelivered"
    assert states["NotDelivered"]["Type"] == "Fail"
    assert states["Delivered"]["Type"] == "Succeed"


def test_a_task_waits_longer_than_a_receiver_may_take(machine: State) -> None:
    for name, task in tasks(machine):
        assert task["TimeoutSeconds"] > WEBHOOK_SECONDS * 2, name
        payload = cast("State", task["Parameters"]["Payload"])
        assert set(payload) == {"do", "tenant.$", "webhook.$", "message.$"}
        assert task["ResultPath"] is None
