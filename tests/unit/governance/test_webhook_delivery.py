"""What is sent to webhooks, and what becomes of it."""

from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest

from archivolt.domain.errors import ForbiddenError, UnavailableError
from archivolt.domain.identity import TenantId
from archivolt.domain.webhook import Webhook, WebhookEvent, WebhookMessage, secret_text
from archivolt.domain.webhook_limits import WEBHOOK_FAILING_DAYS
from archivolt.entrypoints.events.webhooks import build_webhooks
from archivolt.governance.webhook_delivery import WebhookDelivery, WebhookPost
from archivolt.ports.webhooks import WebhookAnswer
from tests.builders import ACME
from tests.fakes.clock import START, FrozenClock
from tests.fakes.governance import ReversibleBox
from tests.fakes.webhooks import InMemoryWebhooks, ScriptedReceiver
from tests.receivers import verified

OLD, NEW = secret_text(bytes(32)), secret_text(bytes(range(32)))
MESSAGE = WebhookMessage(id="msg_1", event=WebhookEvent.RUN_ENDED, at=START, data={"run": "r1"})


class Deliveries:
    """One webhook and its receiver."""

    def __init__(self, *answers: WebhookAnswer, **fields: Any) -> None:  # noqa: ANN401  those of a webhook
        self.clock = FrozenClock()
        self.store = InMemoryWebhooks()
        self.receiver = ScriptedReceiver(*answers)
        self.closed: set[TenantId] = set()
        webhook = Webhook(id="ours", url="https://hooks.test", **fields)
        sealed = ReversibleBox().seal(NEW, tenant=ACME, field=webhook.secret_field)
        self.store.save(ACME, replace(webhook, sealed=sealed), over=None)
        post = WebhookPost(self.store, ReversibleBox, lambda: self.receiver, self.clock)
        self.delivery = WebhookDelivery(self.store, post, self._require, self.clock)

    def _require(self, tenant: TenantId) -> None:
        if tenant in self.closed:
            raise ForbiddenError("tenant_suspended")

    @property
    def webhook(self) -> Webhook:
        found = self.store.get(ACME, "ours")
        assert found is not None
        return found

    def deliver(self, message: WebhookMessage = MESSAGE) -> None:
        self.delivery.deliver(ACME, "ours", message)


def status(code: int) -> WebhookAnswer:
    return WebhookAnswer(status=code)


@pytest.mark.parametrize("code", [200, 202, 204])
def test_a_message_that_is_taken_is_signed_and_noted(code: int) -> None:
    on = Deliveries(status(code))
    on.clock.advance(seconds=90)

    on.deliver()

    [sent] = on.receiver.posted
    now = on.clock.now()
    assert sent.url == "https://hooks.test"
    assert verified(NEW, sent.headers, sent.body, now=now.timestamp()) == {
        "type": "run.ended",
        "timestamp": "2026-09-01T08:30:00.000Z",
        "data": {"run": "r1"},
    }
    after = on.webhook
    assert (after.delivered_at, after.tried_at, after.last_message) == (now, now, "msg_1")
    assert (after.problem, after.failing_since) == ("", None)


@pytest.mark.parametrize("code", [301, 307, 400, 404, 429, 500, 503])
def test_whatever_else_is_answered_is_tried_again(code: int) -> None:
    on = Deliveries(status(code))

    with pytest.raises(UnavailableError, match=f"webhook_not_delivered.*HTTP {code}"):
        on.deliver()

    after = on.webhook
    assert after.problem_details == {
        "webhook": "ours",
        "reason": "webhook_http_status",
        "status": code,
    }
    assert (after.failing_since, after.delivered_at, after.enabled) == (START, None, True)


def test_each_attempt_has_the_same_id_and_a_moment_of_its_own() -> None:
    on = Deliveries(WebhookAnswer(reason="webhook_slow"), status(200))
    with pytest.raises(UnavailableError):
        on.deliver()
    on.clock.advance(hours=2)

    on.deliver()

    first, second = on.receiver.posted
    assert first.headers["webhook-id"] == second.headers["webhook-id"] == "msg_1"
    assert first.body == second.body
    assert first.headers["webhook-timestamp"] != second.headers["webhook-timestamp"]
    assert verified(NEW, second.headers, second.body, now=on.clock.now().timestamp())
    assert (on.webhook.problem, on.webhook.failing_since) == ("", None)


def test_a_receiver_that_says_that_it_is_gone_is_told_nothing_more() -> None:
    on = Deliveries(status(410))

    on.deliver()
    on.deliver()

    assert len(on.receiver.posted) == 1
    assert (on.webhook.enabled, on.webhook.problem) == (False, "webhook_gone")


@pytest.mark.parametrize(
    "fields", [{"enabled": False}, {"events": (WebhookEvent.APPROVAL_REQUIRED,)}]
)
def test_nobody_is_told_what_they_do_not_want_any_more(fields: dict[str, Any]) -> None:
    on = Deliveries(**fields)

    on.deliver()
    on.store.delete(ACME, "ours")
    on.deliver()

    assert on.receiver.posted == []


def test_the_messages_of_a_suspended_tenant_wait() -> None:
    on = Deliveries()
    on.closed.add(ACME)
    with pytest.raises(UnavailableError, match="tenant_suspended"):
        on.deliver()
    assert on.receiver.posted == []

    on.closed.clear()
    on.deliver()

    assert len(on.receiver.posted) == 1


def test_the_secret_before_signs_too_until_its_end() -> None:
    on = Deliveries()
    kept = on.webhook
    before = ReversibleBox().seal(OLD, tenant=ACME, field=kept.secret_field)
    until = START + timedelta(hours=24)
    on.store.save(ACME, replace(kept, sealed_before=before, both_until=until), over=kept)

    on.deliver()
    on.clock.advance(hours=24)
    on.deliver()

    first, second = on.receiver.posted
    for secret in (OLD, NEW):
        assert verified(secret, first.headers, first.body, now=START.timestamp())
    now = on.clock.now().timestamp()
    assert verified(NEW, second.headers, second.body, now=now)
    assert verified(OLD, second.headers, second.body, now=now) is None


def test_an_administrator_who_turns_a_webhook_off_meanwhile_has_the_last_word() -> None:
    on = Deliveries()

    def off(url: str, headers: object, body: bytes) -> WebhookAnswer:
        kept = on.webhook
        on.store.save(ACME, replace(kept, enabled=False), over=kept)
        return status(500)

    on.receiver.send = off  # type: ignore[method-assign]
    with pytest.raises(UnavailableError):
        on.deliver()

    assert (on.webhook.enabled, on.webhook.problem) == (False, "webhook_not_delivered")


def test_a_message_that_is_given_up_is_counted_and_after_days_the_webhook_is_off() -> None:
    on = Deliveries(*[status(500)] * 3)
    for passed, enabled in ((0, True), (WEBHOOK_FAILING_DAYS - 1, True), (1, False)):
        on.clock.advance(days=passed)
        with pytest.raises(UnavailableError):
            on.deliver()
        on.delivery.give_up(ACME, "ours", MESSAGE)
        assert on.webhook.enabled is enabled

    assert (on.webhook.missed, on.webhook.problem) == (3, "webhook_failing")
    on.store.delete(ACME, "ours")
    on.delivery.give_up(ACME, "ours", MESSAGE)


def test_the_function_does_what_its_machine_asks() -> None:
    on = Deliveries(status(500), status(200))
    handler = build_webhooks(lambda: on.delivery)
    told = {
        "id": "msg_1",
        "event": "run.ended",
        "at": START.isoformat(),
        "data": {"run": "r1"},
    }
    task = {"tenant": "acme", "webhook": "ours", "message": told}

    with pytest.raises(UnavailableError):
        handler({**task, "do": "deliver"}, None)
    assert handler({**task, "do": "give_up"}, None) == {}
    assert handler({**task, "do": "deliver"}, None) == {}

    assert on.receiver.posted[1].body == MESSAGE.body
    assert on.webhook.missed == 1
