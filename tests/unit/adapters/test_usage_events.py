"""Usage as EventBridge is given it."""

import json
from collections.abc import Iterator
from decimal import Decimal
from typing import Any

import pytest
from botocore.stub import Stubber

from archivolt.adapters.eventbridge.usage_events import EventBridgeUsage
from archivolt.domain.errors import UnavailableError
from archivolt.domain.usage import BudgetWarning, Tokens, TokensUsed
from tests.builders import ACME
from tests.contract.conftest import client_of
from tests.fakes.clock import START

USED = TokensUsed(
    tenant=ACME,
    user="user_0123",
    conversation="c-1",
    provider="anthropic",
    model="claude-sonnet-4-5",
    tokens=Tokens(input=1_250, output=380),
    tool_calls=2,
    micros=9_500,
    at=START,
)


@pytest.fixture
def bus() -> Iterator[tuple[EventBridgeUsage, Stubber, list[dict[str, Any]]]]:
    client, sent = client_of("events"), list[dict[str, Any]]()

    def note(params: dict[str, Any], **_: object) -> None:
        sent.extend(params["Entries"])

    client.meta.events.register("provide-client-params.events.PutEvents", note)
    with Stubber(client) as stub:
        yield EventBridgeUsage(client, "default"), stub, sent


def test_a_call_is_told_of_with_the_fields_of_the_source_and_no_others(
    bus: tuple[EventBridgeUsage, Stubber, list[dict[str, Any]]],
) -> None:
    events, stub, sent = bus
    stub.add_response("put_events", {"FailedEntryCount": 0, "Entries": []})

    events.tokens_used(USED)

    [entry] = sent
    assert (entry["EventBusName"], entry["Source"]) == ("default", "archivolt.usage")
    assert entry["DetailType"] == "chat.tokens_used"
    assert json.loads(entry["Detail"], parse_float=Decimal) == {
        "event_type": "chat.tokens_used",
        "tenant_id": "acme",
        "user_id": "user_0123",
        "conversation_id": "c-1",
        "provider": "anthropic",
        "model": "claude-sonnet-4-5",
        "input_tokens": 1250,
        "output_tokens": 380,
        "tool_calls": 2,
        "estimated_cost_usd": Decimal("0.0095"),
        "timestamp": "2026-09-01T08:30:00Z",
    }


def test_a_warning_says_of_which_month_and_how_much(
    bus: tuple[EventBridgeUsage, Stubber, list[dict[str, Any]]],
) -> None:
    events, stub, sent = bus
    stub.add_response("put_events", {"FailedEntryCount": 0, "Entries": []})

    events.budget_warning(
        BudgetWarning(tenant=ACME, month="2026-09", spent=400_000, budget=500_000, at=START)
    )

    assert sent[0]["DetailType"] == "chat.budget_warning"
    told = json.loads(sent[0]["Detail"])
    assert (told["period"], told["spent_usd"], told["budget_usd"]) == ("2026-09", "0.40", "0.50")


def test_an_event_that_the_bus_did_not_take_is_no_success(
    bus: tuple[EventBridgeUsage, Stubber, list[dict[str, Any]]],
) -> None:
    events, stub, _ = bus
    stub.add_response("put_events", {"FailedEntryCount": 1, "Entries": []})

    with pytest.raises(UnavailableError):
        events.tokens_used(USED)
