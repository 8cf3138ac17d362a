"""What every `WebhookStore` promises."""

from dataclasses import replace
from datetime import timedelta

import pytest

from archivolt.adapters.dynamodb.webhooks import DynamoWebhooks
from archivolt.domain.errors import ConflictError
from archivolt.domain.webhook import Webhook, WebhookEvent
from archivolt.ports.webhooks import WebhookStore
from tests.builders import ACME, GLOBEX
from tests.contract.conftest import FAKE
from tests.fakes.clock import START
from tests.fakes.webhooks import InMemoryWebhooks

FULL = Webhook(
    id="ours",
    url="https://hooks.test/a?b=c",
    events=(WebhookEvent.RUN_ENDED,),
    sealed="sealed",
    sealed_before="before",
    both_until=START,
    problem="webhook_not_delivered",
    problem_details={"webhook": "ours", "reason": "webhook_http_status", "status": 503},
    tried_at=START,
    delivered_at=START - timedelta(days=1),
    failing_since=START,
    last_message="msg_1",
    missed=3,
)
NEW = Webhook(id="new", url="https://hooks.test", sealed="another")


@pytest.fixture
def webhooks(store: str, request: pytest.FixtureRequest) -> WebhookStore:
    if store == FAKE:
        return InMemoryWebhooks()
    return DynamoWebhooks(request.getfixturevalue("new_table")("ControlTable"))


def test_what_was_kept_is_given_back_to_its_tenant(webhooks: WebhookStore) -> None:
    webhooks.save(ACME, FULL, over=None)
    webhooks.save(ACME, NEW, over=None)

    assert webhooks.of_tenant(ACME) == [NEW, FULL]
    assert webhooks.get(ACME, "ours") == FULL
    assert webhooks.of_tenant(GLOBEX) == []
    assert webhooks.get(GLOBEX, "ours") is None


def test_a_webhook_is_changed_by_who_knows_its_secret_of_now(webhooks: WebhookStore) -> None:
    webhooks.save(ACME, FULL, over=None)
    rotated = replace(FULL, sealed="third", sealed_before="sealed")

    with pytest.raises(ConflictError):
        webhooks.save(ACME, FULL, over=None)
    webhooks.save(ACME, rotated, over=FULL)
    with pytest.raises(ConflictError):
        webhooks.save(ACME, replace(FULL, sealed="fourth"), over=FULL)
    webhooks.delete(ACME, "ours")
    with pytest.raises(ConflictError):
        webhooks.save(ACME, rotated, over=rotated)

    assert webhooks.of_tenant(ACME) == []


def test_of_two_changes_of_one_reading_the_second_is_refused(webhooks: WebhookStore) -> None:
    webhooks.save(ACME, NEW, over=None)
    read = webhooks.get(ACME, "new")
    elsewhere = replace(NEW, url="https://elsewhere.test")
    webhooks.save(ACME, elsewhere, over=read)

    with pytest.raises(ConflictError):
        webhooks.save(ACME, replace(NEW, sealed="rotated"), over=read)

    assert webhooks.get(ACME, "new") == elsewhere


def test_what_was_turned_off_since_it_was_read_is_not_turned_on_unseen(
    webhooks: WebhookStore,
) -> None:
    webhooks.save(ACME, NEW, over=None)
    read = webhooks.get(ACME, "new")
    assert read is not None
    assert webhooks.note(ACME, read, missed=1)
    webhooks.save(ACME, read, over=read)
    read = webhooks.get(ACME, "new")
    webhooks.note(ACME, NEW, turned_off=True)

    with pytest.raises(ConflictError):
        webhooks.save(ACME, NEW, over=read)

    assert webhooks.get(ACME, "new") == replace(NEW, enabled=False)


def test_what_becomes_of_a_message_is_noted_and_nothing_else(webhooks: WebhookStore) -> None:
    webhooks.save(ACME, FULL, over=None)
    noted = replace(
        FULL, problem="", problem_details={}, failing_since=None, last_message="msg_2", missed=9
    )

    assert webhooks.note(ACME, replace(noted, events=(), enabled=False))
    assert webhooks.get(ACME, "ours") == replace(noted, missed=3)


def test_what_is_missed_is_counted_and_may_turn_a_webhook_off(webhooks: WebhookStore) -> None:
    webhooks.save(ACME, FULL, over=None)

    assert webhooks.note(ACME, FULL, missed=1)
    assert webhooks.note(ACME, FULL, missed=1, turned_off=True)
    assert webhooks.get(ACME, "ours") == replace(FULL, missed=5, enabled=False)


@pytest.mark.parametrize(
    "meanwhile", [None, replace(FULL, url="https://x.test"), replace(FULL, sealed="other")]
)
def test_of_a_webhook_that_changed_meanwhile_nothing_is_noted(
    webhooks: WebhookStore, meanwhile: Webhook | None
) -> None:
    if meanwhile:
        webhooks.save(ACME, meanwhile, over=None)

    assert not webhooks.note(ACME, replace(FULL, problem=""), turned_off=True)
    assert webhooks.of_tenant(ACME) == ([meanwhile] if meanwhile else [])


@pytest.mark.parametrize("odd", ["absent", "", "\ud800", "x" * 3_000])
def test_what_is_removed_is_gone_and_what_is_not_there_is_told(
    webhooks: WebhookStore, odd: str
) -> None:
    webhooks.save(ACME, FULL, over=None)

    assert webhooks.get(ACME, odd) is None
    assert not webhooks.delete(ACME, odd)
    assert webhooks.delete(ACME, "ours")
    assert not webhooks.delete(ACME, "ours")
