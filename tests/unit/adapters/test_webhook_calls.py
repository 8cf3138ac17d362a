"""The calls behind webhooks: to receivers, and to the state machine that tries again."""

import json

import pytest

from archivolt.adapters.http.addresses import OutboundRules
from archivolt.adapters.http.outbound import Caps, guarded_client
from archivolt.adapters.stepfunctions.webhook_deliveries import StepFunctionsDeliveries
from archivolt.adapters.webhooks.sender import HttpWebhookSender
from archivolt.domain.errors import UnavailableError
from archivolt.domain.webhook import WebhookEvent, WebhookMessage
from archivolt.domain.webhook_limits import MAX_WEBHOOK_ID_CHARS
from archivolt.ports.webhooks import WebhookAnswer
from tests.builders import ACME
from tests.fakes.clock import START
from tests.unit.adapters.loopback_server import Answer, loopback_server
from tests.unit.adapters.test_stepfunctions_engine import States, refusal

MACHINE = "arn:aws:states:eu-west-1:1:stateMachine:archivolt-webhooks"
MESSAGE = WebhookMessage(
    id="msg_" + "a" * 32, event=WebhookEvent.RUN_ENDED, at=START, data={"run": "r1"}
)


def sent(url: str, *allowed: str, seconds: float = 5) -> WebhookAnswer:
    rules = OutboundRules(frozenset(allowed))
    with guarded_client(rules, Caps(seconds=seconds)) as client:
        return HttpWebhookSender(lambda: client).send(url, {"webhook-id": "m"}, b"{}")


def test_a_receiver_is_posted_to_and_its_status_is_the_answer() -> None:
    with loopback_server({"/hook": Answer(status=202)}) as server:
        answer = sent(f"http://127.0.0.1:{server.port}/hook", "127.0.0.1")

    assert answer == WebhookAnswer(status=202)
    assert (server.paths, server.bodies) == (["/hook"], [b"{}"])
    assert server.request_headers[0]["webhook-id"] == "m"


@pytest.mark.parametrize(
    "answer",
    [
        Answer(body=b"x", headers={"Content-Encoding": "gzip"}),
        Answer(body=b"x" * 2_000),
    ],
)
def test_of_an_answer_its_status_alone_counts(answer: Answer) -> None:
    rules = OutboundRules(frozenset({"127.0.0.1"}))
    caps = Caps(max_bytes=1_000)
    with loopback_server({"/": answer}) as server, guarded_client(rules, caps) as client:
        url = f"http://127.0.0.1:{server.port}/"
        assert HttpWebhookSender(lambda: client).send(url, {}, b"{}").status == answer.status


def test_a_redirect_is_not_followed() -> None:
    elsewhere = Answer(status=307, headers={"Location": "/other"})
    with loopback_server({"/hook": elsewhere}) as server:
        assert sent(f"http://127.0.0.1:{server.port}/hook", "127.0.0.1").status == 307

    assert server.paths == ["/hook"]


def test_a_private_address_is_not_called() -> None:
    with loopback_server({}) as server:
        for host in ("127.0.0.1", "localhost"):
            answer = sent(f"http://{host}:{server.port}/hook")
            assert answer == WebhookAnswer(reason="webhook_address_private")

    assert server.paths == []


def test_who_does_not_answer_in_time_keeps_nobody_waiting() -> None:
    with loopback_server({}) as server:
        server.dribble = 0.02
        answer = sent(f"http://127.0.0.1:{server.port}/", "127.0.0.1", seconds=0.1)

    assert answer == WebhookAnswer(reason="webhook_slow")


def test_an_address_where_nobody_is_does_not_answer() -> None:
    with loopback_server({}) as server:
        port = server.port

    assert sent(f"http://127.0.0.1:{port}/", "127.0.0.1").reason == "webhook_unreachable"


def test_an_execution_is_named_after_its_message_and_its_webhook() -> None:
    states = States()
    name = "o" * MAX_WEBHOOK_ID_CHARS

    StepFunctionsDeliveries(states, MACHINE).start(ACME, name, MESSAGE)

    [asked] = states.asked
    assert (asked["stateMachineArn"], asked["name"]) == (MACHINE, f"{MESSAGE.id}-{name}")
    assert len(asked["name"]) <= 80
    assert json.loads(asked["input"]) == {
        "tenant": "acme",
        "webhook": name,
        "message": {
            "id": MESSAGE.id,
            "event": "run.ended",
            "at": "2026-09-01T08:30:00+00:00",
            "data": {"run": "r1"},
        },
    }


def test_a_message_that_is_under_way_is_not_sent_twice() -> None:
    StepFunctionsDeliveries(States(refusal("ExecutionAlreadyExists")), MACHINE).start(
        ACME, "ours", MESSAGE
    )


def test_a_machine_that_does_not_answer_is_unavailable() -> None:
    with pytest.raises(UnavailableError):
        StepFunctionsDeliveries(States(refusal("ThrottlingException")), MACHINE).start(
            ACME, "ours", MESSAGE
        )
