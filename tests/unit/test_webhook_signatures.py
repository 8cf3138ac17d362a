"""Messages to webhooks, and their signatures by the specification of Standard Webhooks."""

import json
from datetime import UTC, datetime, timedelta, timezone

import pytest

from archivolt.domain.http_addresses import http_address
from archivolt.domain.webhook import (
    WebhookEvent,
    WebhookMessage,
    message_id,
    secret_text,
    signed_headers,
)
from tests.fakes.clock import START
from tests.receivers import verified

KEY, OTHER = bytes(range(32)), bytes(32)


class Published(WebhookMessage):
    """The message of the test vector that the libraries of the specification share."""

    @property
    def body(self) -> bytes:
        return b'{"test": 2432232314}'


def a_message(**data: str) -> WebhookMessage:
    return WebhookMessage(id="msg_1", event=WebhookEvent.RUN_ENDED, at=START, data=data)


def test_a_signature_is_that_of_the_published_vector() -> None:
    told = Published(id="msg_p5jXN8AQM9LWM0D4loKWxJek", event=WebhookEvent.TEST, at=START, data={})
    secret = "whsec_" + "MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"

    headers = signed_headers(told, [secret], now=datetime.fromtimestamp(1614265330, tz=UTC))

    assert headers == {
        "content-type": "application/json",
        "webhook-id": "msg_p5jXN8AQM9LWM0D4loKWxJek",
        "webhook-timestamp": "1614265330",
        "webhook-signature": "v1," + "g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=",
    }


def test_a_receiver_verifies_what_we_sign_and_nothing_else() -> None:
    told, secret = a_message(run="r1", reason="été"), secret_text(KEY)
    headers = signed_headers(told, [secret], now=START)

    assert verified(secret, headers, told.body, now=START.timestamp()) == json.loads(told.body)
    assert verified(secret, headers, told.body + b" ", now=START.timestamp()) is None
    assert verified(secret_text(OTHER), headers, told.body, now=START.timestamp()) is None
    assert verified(secret, headers, told.body, now=START.timestamp() + 301) is None
    forged = {**headers, "webhook-id": "msg_2"}
    assert verified(secret, forged, told.body, now=START.timestamp()) is None


def test_two_secrets_sign_side_by_side() -> None:
    told, secrets = a_message(), [secret_text(KEY), secret_text(OTHER)]
    headers = signed_headers(told, secrets, now=START)

    for secret in secrets:
        assert verified(secret, headers, told.body, now=START.timestamp())


def test_a_body_tells_what_when_and_of_which() -> None:
    at = datetime(2026, 9, 1, 10, 30, 1, 5000, tzinfo=timezone(timedelta(hours=2)))
    told = WebhookMessage(id="m", event=WebhookEvent.RUN_ENDED, at=at, data={"run": "r1"})

    assert told.body == (
        b'{"type":"run.ended","timestamp":"2026-09-01T08:30:01.005Z","data":{"run":"r1"}}'
    )


def test_an_id_is_the_same_for_the_same_thing_and_for_no_other() -> None:
    assert message_id("a", "b") == message_id("a", "b")
    assert message_id("a", "b") != message_id("a/b") != message_id("ab", "")
    assert "." not in message_id("a.b")
    assert len(message_id("a")) <= 80 - 1 - 40


@pytest.mark.parametrize(
    "address",
    [
        *("ftp://a.test", "//a.test", "https://", "https://u:p@a.test", "https://a.test/#x"),
        *("https://a.test/a b", "https://é.test", "https://a.test\\x", "https://a.test:0/"),
    ],
)
def test_an_address_that_hides_something_is_none(address: str) -> None:
    with pytest.raises(ValueError, match=r"address|Port"):
        http_address(address)
