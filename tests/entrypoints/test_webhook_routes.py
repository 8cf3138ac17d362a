"""The routes of webhooks: what an administrator does, and what nobody is shown."""

import json
from typing import Any
from urllib.parse import quote

import pytest

from archivolt.domain.webhook_limits import MAX_WEBHOOK_ID_CHARS, MAX_WEBHOOKS
from archivolt.ports.webhooks import WebhookAnswer
from tests.builders import ACME, GLOBEX
from tests.entrypoints.rest_api import Answer
from tests.entrypoints.rest_world import RestWorld
from tests.fakes.clock import START
from tests.receivers import verified

HOOKS = "/api/v1/webhooks"
URL = "https://hooks.test/runs"


@pytest.fixture
def api() -> RestWorld:
    return RestWorld()


def put(api: RestWorld, name: str = "ours", user: str = "admin", **change: object) -> Answer:
    return api.send("PUT", f"{HOOKS}/{name}", change, user=user)


def listed(api: RestWorld, user: str = "admin") -> list[dict[str, Any]]:
    return api.get(HOOKS, user=user).json["webhooks"]


def code_of(answer: Answer) -> tuple[int, str]:
    return answer.status, answer.json["error"]["code"]


def test_a_new_webhook_is_answered_with_its_secret_and_never_shows_it_again(
    api: RestWorld,
) -> None:
    made = put(api, url=URL).json
    secret = made["secret"]

    assert secret.startswith("whsec_")
    assert (made["url"], made["enabled"]) == (URL, True)
    assert made["events"] == ["run.approval_required", "run.ended"]
    assert put(api, events=["run.ended"]).json["secret"] == ""
    [kept] = api.webhooks.of_tenant(ACME)
    assert secret not in repr(kept)
    assert secret not in json.dumps(listed(api))
    assert secret not in repr(api.audit.entries)
    assert listed(api)[0]["events"] == ["run.ended"]


def test_a_test_message_is_signed_with_the_secret(api: RestWorld) -> None:
    secret = put(api, url=URL, enabled=False).json["secret"]

    tried = api.post(f"{HOOKS}/ours/test", {}, user="admin").json

    [sent] = api.receiver.posted
    message = verified(secret, sent.headers, sent.body, now=START.timestamp())
    assert message is not None
    assert (sent.url, message["type"], message["data"]) == (
        URL,
        "webhook.test",
        {"webhook": "ours"},
    )
    assert (tried["delivered"], tried["webhook"]["problem"]) == (True, None)
    assert tried["webhook"]["last_message"] == sent.headers["webhook-id"]


def test_why_a_message_did_not_arrive_is_told_in_words(api: RestWorld) -> None:
    put(api, url=URL)
    api.receiver.answers = [WebhookAnswer(status=503), WebhookAnswer(reason="webhook_slow")]

    tried = api.post(f"{HOOKS}/ours/test", {}, user="admin", accept_language="fr").json

    assert not tried["delivered"]
    assert tried["webhook"]["problem"] == {
        "code": "webhook_not_delivered",
        "message": "Le message n'a pas atteint ours : il répond par HTTP 503.",
    }
    assert listed(api)[0]["problem"]["code"] == "webhook_not_delivered"
    api.post(f"{HOOKS}/ours/test", {}, user="admin")
    assert listed(api)[0]["problem"]["message"].endswith("it takes too long.")
    assert put(api, enabled=True).json["problem"] is None


def test_another_secret_is_used_at_once_and_the_one_before_for_a_day(api: RestWorld) -> None:
    first = put(api, url=URL).json["secret"]
    rotated = api.post(f"{HOOKS}/ours/secret", {}, user="admin").json

    assert rotated["both_secrets_until"] == "2026-09-02T08:30:00Z"
    for at, good in ((0, {first, rotated["secret"]}), (24, {rotated["secret"]})):
        api.clock.advance(hours=at)
        now = api.clock.now().timestamp()
        api.post(f"{HOOKS}/ours/test", {}, user="admin")
        sent = api.receiver.posted[-1]
        secrets = (first, rotated["secret"])
        assert {s for s in secrets if verified(s, sent.headers, sent.body, now=now)} == good


def test_a_webhook_that_leads_elsewhere_keeps_its_secret(api: RestWorld) -> None:
    secret = put(api, url=URL).json["secret"]
    put(api, url="https://other.test")

    api.post(f"{HOOKS}/ours/test", {}, user="admin")

    [sent] = api.receiver.posted
    assert sent.url == "https://other.test"
    assert verified(secret, sent.headers, sent.body, now=START.timestamp())


def test_without_tls_only_hosts_of_the_deployments_choice_are_called(api: RestWorld) -> None:
    assert code_of(put(api, url="http://hooks.test")) == (400, "webhook_insecure")
    assert put(api, url="http://127.0.0.1:8000/hook").status == 200
    assert code_of(put(api, url="http://127.0.0.1:8001/hook")) == (400, "webhook_insecure")


@pytest.mark.parametrize(
    "change",
    [
        {"url": "ftp://hooks.test"},
        {"url": "https://user:word@hooks.test"},
        {"url": ""},
        {"url": URL, "events": []},
        {"url": URL, "events": ["webhook.test"]},
        {"url": URL, "secret": "mine"},
        {"url": "https://" + "a" * 9_000},
    ],
)
def test_what_is_no_webhook_is_refused(api: RestWorld, change: dict[str, Any]) -> None:
    assert code_of(put(api, **change)) == (422, "invalid_request")
    assert listed(api) == []


def test_a_new_webhook_needs_an_address_and_there_are_so_many(api: RestWorld) -> None:
    assert code_of(put(api, enabled=True)) == (400, "webhook_url_missing")
    for number in range(MAX_WEBHOOKS):
        assert put(api, f"h{number}", url=URL).status == 200
    assert code_of(put(api, "more", url=URL)) == (400, "webhooks_too_many")
    assert put(api, "h0", enabled=False).status == 200


def test_what_is_removed_is_gone(api: RestWorld) -> None:
    put(api, url=URL)

    assert api.send("DELETE", f"{HOOKS}/ours", user="admin").status == 204
    assert listed(api) == []
    for method, rest in (("DELETE", ""), ("POST", "/test"), ("POST", "/secret")):
        answer = api.send(method, f"{HOOKS}/ours{rest}", {}, user="admin")
        assert code_of(answer) == (404, "webhook_not_found")


@pytest.mark.parametrize("name", ["Ours", "-a", "a-", "a_b", "é", "a" * (MAX_WEBHOOK_ID_CHARS + 1)])
def test_what_is_no_id_is_not_found(api: RestWorld, name: str) -> None:
    assert code_of(put(api, quote(name), url=URL)) == (404, "webhook_not_found")


@pytest.mark.parametrize("user", ["alice", "operator", "alices-agent", "admins-agent"])
def test_only_administrators_in_person_see_and_change_webhooks(api: RestWorld, user: str) -> None:
    put(api, url=URL)
    for method, path in (
        ("GET", HOOKS),
        ("PUT", f"{HOOKS}/ours"),
        ("POST", f"{HOOKS}/ours/test"),
        ("POST", f"{HOOKS}/ours/secret"),
        ("DELETE", f"{HOOKS}/ours"),
    ):
        answer = api.send(method, path, None if method == "GET" else {}, user=user)
        assert answer.status == 403, path

    assert api.receiver.posted == []
    assert api.webhooks.of_tenant(GLOBEX) == []


def test_what_an_administrator_changed_is_in_the_audit_log(api: RestWorld) -> None:
    put(api, url=URL)
    api.post(f"{HOOKS}/ours/secret", {}, user="admin")
    api.send("DELETE", f"{HOOKS}/ours", user="admin")

    told = [(entry.action, entry.outcome) for entry in api.audit.entries]
    assert told == [
        ("change_webhook", "ok"),
        ("rotate_webhook_secret", "ok"),
        ("delete_webhook", "ok"),
    ]


def test_the_log_says_which_webhook_was_changed_and_what_of_it(api: RestWorld) -> None:
    made = put(api, url=f"{URL}?key=mine", enabled=False)
    api.send("DELETE", f"{HOOKS}/ours", None, user="admin")

    kept = {each.action: each.details for each in api.audit.entries}
    assert made.headers["cache-control"] == "no-store"
    assert kept["change_webhook"] == {"webhook": "ours", "names": "enabled, url"}
    assert kept["delete_webhook"] == {"webhook": "ours"}
