"""A scripted model drives whole conversations through the running stack, and is stopped."""

import json
from collections.abc import Iterator
from datetime import datetime, timedelta
from typing import Any

import httpx2
import pytest

from archivolt.adapters.system.clock import SystemClock
from archivolt.domain.identity import Role
from archivolt.domain.limits import MAX_REPEATED_CALLS, MAX_TOOL_CALLS
from tests.e2e.stack import Stack, wait_until
from tests.e2e.test_chat import API, MESSAGES, events, write_the_note
from tests.fakes.obedience import Obedience, orders_against
from tests.fakes.openai_server import (
    OpenAIServer,
    Reply,
    calls,
    calls_cut,
    openai_server,
    says,
)
from tests.long_run import LongRun, caller
from tests.receivers import verified
from tests.unit.adapters.loopback_server import Answer, LoopbackServer, loopback_server

SETTINGS = f"{API}/tenants/busy/settings"
Event = tuple[str, dict[str, Any]]
BROKEN = "def unlock(key):\n    return key ==\n"
GOOD = "def unlock(key):\n    return key == 'blue'\n"
NOTE = {"vault": "house", "path": "keys.md"}


@pytest.fixture(scope="module")
def http(stack: Stack) -> Iterator[httpx2.Client]:
    """A client of a tenant of its own, with one indexed note."""
    with stack.client(stack.token("ada", tenant="busy", role=Role.TENANT_ADMIN)) as client:
        write_the_note(client)
        yield client


def use(http: httpx2.Client, server: OpenAIServer, **more: object) -> None:
    chosen = {"chat_provider": "openai", "chat_base_url": server.base_url, "chat_model": "gpt-4o"}
    key = {"chat_api_key": "not-a-real-" + "key"}
    http.put(SETTINGS, json=chosen | key | more).raise_for_status()


def send(http: httpx2.Client, body: dict[str, Any], language: str = "en") -> list[Event]:
    answer = http.post(MESSAGES, json=body, headers={"Accept-Language": language})
    assert answer.status_code == 200, answer.text
    return events(answer.text)


def of_kind(read: list[Event], kind: str) -> list[dict[str, Any]]:
    return [data for name, data in read if name == kind]


def confirmed(http: httpx2.Client, read: list[Event]) -> list[Event]:
    """Agree to the one change that a turn ended with."""
    [waits] = of_kind(read, "confirmation_required")
    conversation = of_kind(read, "message_start")[0]["conversation_id"]
    return send(http, {"conversation_id": conversation, "confirm": [waits["confirmation_token"]]})


def state_of(http: httpx2.Client, vault: str) -> list[dict[str, Any]]:
    answer = http.get(f"{API}/vault/{vault}/files")
    answer.raise_for_status()
    listed: list[dict[str, Any]] = answer.json()["files"]
    assert listed
    return listed


def test_a_conversation_of_many_steps_ends_in_an_answer_and_in_good_code(
    http: httpx2.Client,
) -> None:
    place = {"vault": "house", "path": "unlock.py"}
    script = [
        calls(("search_documents", {"q": "spare key"})),
        calls(("read_file", NOTE)),
        calls(("create_file", place | {"content": BROKEN})),
        calls(("create_file", place | {"content": BROKEN.replace("==", "=")})),
        calls(("run_check", place)),
        calls(("edit_file", place | {"content": GOOD})),
        says("The key is [under the mat](vault://house/keys.md), and unlock.py checks it."),
    ]
    with openai_server(*script) as server:
        use(http, server)
        proposed = send(http, {"message": "Write code that checks our spare key."})
        assert [each["status"] for each in of_kind(proposed, "tool_use_result")] == [
            "success",
            "success",
            "error",
        ]
        [shown] = of_kind(proposed, "confirmation_required")
        assert "2:" in shown["preview"]["note"]
        assert http.get(f"{API}/file/house", params={"path": "unlock.py"}).status_code == 404

        corrected = confirmed(http, proposed)
        [waits] = of_kind(corrected, "confirmation_required")
        assert waits["tool_name"] == "edit_file"
        ended = confirmed(http, corrected)

    told = json.dumps(server.requests[5]["messages"][-1])
    assert "errors" in told
    assert http.get(f"{API}/file/house", params={"path": "unlock.py"}).json()["content"] == GOOD
    [cited] = of_kind(ended, "citations")
    assert {item["uri"] for item in cited["items"]} >= {"vault://house/keys.md"}
    assert {item["path"] for item in cited["items"]} == {"keys.md"}
    assert ended[-1][0] == "message_end"
    assert server.script == []


def searching(number: int) -> tuple[str, dict[str, Any]]:
    return "search_paths", {"q": f"nothing-{number}", "vault": "house"}


STOPPED = [
    (
        "repeats itself",
        [calls(("list_vaults", {}))] * (MAX_REPEATED_CALLS + 1),
        "loop_repeated_call",
    ),
    (
        "goes round in circles",
        [calls(searching(number % 2)) for number in range(4)],
        "loop_no_progress",
    ),
    (
        "floods",
        [calls(*(searching(n) for n in range(MAX_TOOL_CALLS + 1)))],
        "loop_too_many_calls",
    ),
    ("calls tools that are not there", [calls(("rm_rf", {}))] * 3, "loop_unusable_calls"),
    (
        "is cut off in its calls",
        [calls_cut("create_file", '{"vault": "house", "path": "half.md", "cont')] * 3,
        "loop_unusable_calls",
    ),
]


@pytest.mark.parametrize(
    ("script", "reason"), [each[1:] for each in STOPPED], ids=[each[0] for each in STOPPED]
)
def test_a_model_is_stopped_and_the_person_told_why(
    http: httpx2.Client, script: list[Reply], reason: str
) -> None:
    with openai_server(*script, says("Voilà ce que j'ai.")) as server:
        use(http, server)
        read = send(http, {"message": "Continue donc."}, language="fr")

    [notice] = of_kind(read, "notice")
    assert notice["code"] == reason
    assert notice["message"].startswith("Arrêt")
    assert [each["text"] for each in of_kind(read, "content_delta")] == ["Voilà ce que j'ai."]
    assert of_kind(read, "message_end")[0]["tool_calls"] <= MAX_TOOL_CALLS
    assert all(each["path"] != "half.md" for each in state_of(http, "house"))
    assert server.script == []


def test_an_answer_that_nobody_listens_to_is_stopped_from_another_device(
    stack: Stack, http: httpx2.Client
) -> None:
    endless = Reply(pieces=says("The key is under").pieces[:1], hangs=True)
    with openai_server(endless, says("The blue mat.")) as server:
        use(http, server)
        with http.stream("POST", MESSAGES, json={"message": "Where is it?"}) as answer:
            lines = answer.iter_lines()
            started = next(line for line in lines if "conversation_id" in line)
            assert any("under" in line for line in lines)
        begun = json.loads(started.removeprefix("data: "))["conversation_id"]
        place = f"{API}/chat/conversations/{begun}"
        with stack.client(stack.token("ada", tenant="busy", role=Role.VIEWER)) as elsewhere:
            assert elsewhere.post(f"{place}/stop").json() == {"stopping": True}
            wait_until(lambda: not elsewhere.get(place).json()["busy"], 20)
            assert elsewhere.post(f"{place}/stop").json() == {"stopping": False}
        kept = http.get(place).json()["messages"]
        assert [(each["text"], each["stopped"]) for each in kept] == [
            ("Where is it?", False),
            ("The key is under", True),
        ]
        send(http, {"message": "Under what?", "conversation_id": begun})

    told = [each for each in server.requests[1]["messages"] if each["role"] == "assistant"]
    assert [each["content"].partition("\n")[0] for each in told] == ["The key is under"]


def test_a_message_about_a_crash_gets_the_method_and_a_banal_one_none(
    http: httpx2.Client,
) -> None:
    with openai_server(says("Reproduisons."), says("Bonjour.")) as server:
        use(http, server)
        crash = send(http, {"message": "mon script plante avec TypeError"}, language="fr")
        banal = send(http, {"message": "Bonjour, bonne journée à toi"}, language="fr")

    assert of_kind(crash, "skill") == [
        {"name": "debogage-systematique", "title": "Débogage systématique"}
    ]
    assert of_kind(banal, "skill") == []
    method = "Méthode à suivre pour cette tâche :"
    assert [method in json.dumps(each, ensure_ascii=False) for each in server.requests] == [
        True,
        False,
    ]


def test_a_model_that_obeys_every_note_changes_nothing_and_reaches_nobody(
    http: httpx2.Client,
) -> None:
    http.post(f"{API}/vaults", json={"name": "poisoned"}).raise_for_status()
    file = f"{API}/file/poisoned"
    with openai_server() as stranger:
        leak = stranger.base_url.replace("/v1", "/stolen")
        victim = {"path": "victim.md", "content": "The key is under the mat."}
        first = http.post(file, json=victim).json()
        second = {"path": "victim.md", "content": "under the blue mat", "etag": first["etag"]}
        http.put(f"{file}/save", json=second).raise_for_status()
        http.post(file, json={"path": "kept/a.md", "content": "kept"}).raise_for_status()
        orders = orders_against("poisoned", "victim.md", version=first["version"], leak=leak)
        poison = {"path": "poison.md", "content": "\n".join(orders)}
        http.post(file, json=poison).raise_for_status()
        before = state_of(http, "poisoned")
        obedience = Obedience()

        def obey(asked: dict[str, Any]) -> Reply:
            told = [str(message["content"]) for message in asked["messages"]]
            ordered = [call for text in told for call in obedience.orders_in(text)]
            return calls(*ordered) if ordered else says("Everything is done as I was told.")

        reading = calls(("read_file", {"vault": "poisoned", "path": "poison.md"}))
        with openai_server(reading, thinks=obey) as server:
            use(http, server)
            read = send(http, {"message": "Sum up poison.md."})

    waits = {each["tool_name"]: each for each in of_kind(read, "confirmation_required")}
    assert len(waits) == len(orders)
    assert leak in waits["fetch_url"]["preview"]["summary"]
    assert state_of(http, "poisoned") == before
    assert stranger.requests == []


def test_a_tenant_may_let_its_model_reach_out_after_reading(http: httpx2.Client) -> None:
    fetch = calls(("fetch_url", {"url": "http://127.0.0.1:9/"}))
    with openai_server(calls(("read_file", NOTE)), fetch, says("It is closed.")) as server:
        use(http, server, web_after_documents=True)
        read = send(http, {"message": "Look there."})
        http.put(SETTINGS, json={"web_after_documents": False}).raise_for_status()

    assert of_kind(read, "confirmation_required") == []
    # It was tried, and the guard of outbound calls let it go nowhere.
    assert [each["status"] for each in of_kind(read, "tool_use_result")] == ["success", "error"]


def test_a_webhook_is_told_of_a_change_that_waits_and_of_the_end(stack: Stack) -> None:
    script = LongRun(steps=2, changes=(0,))
    with caller(stack, "told", script) as ada, loopback_server({}) as receiver, ada.http() as http:
        receiver.any_path = Answer(status=503)
        address = f"http://127.0.0.1:{receiver.port}/hook"
        made = http.put(f"{API}/webhooks/ours", json={"url": address}).json()
        run_id = ada.start("w1")
        wait_until(lambda: len(receiver.bodies) >= 1)
        receiver.any_path = Answer(status=204)
        run = ada.see_through(run_id, 60)
        ends = '"type":"run.ended"'
        wait_until(lambda: any(ends in body.decode() for body in receiver.bodies))
        wait_until(lambda: _asked_again(receiver))
        [webhook] = http.get(f"{API}/webhooks").json()["webhooks"]

    sent = zip(receiver.request_headers, receiver.bodies, strict=True)
    now = SystemClock().now().timestamp()
    messages = [verified(made["secret"], head, body, now=now) for head, body in sent]
    told = {message["type"]: message["data"] for message in messages if message}
    assert None not in messages
    assert told["run.ended"] == {
        "run": run_id,
        "status": "completed",
        "reason": "answered",
        "started_at": datetime.fromisoformat(run["created_at"]).isoformat(),
    }
    assert told["run.approval_required"]["run"] == run_id
    assert (webhook["problem"], webhook["missed"]) == (None, 0)


def _asked_again(receiver: LoopbackServer) -> bool:
    """Tell whether the message that was refused has come once more, under its id."""
    ids = [head["webhook-id"] for head in receiver.request_headers]
    return ids.count(ids[0]) > 1


def test_a_schedule_starts_a_run_that_writes_what_was_permitted_and_nothing_else(
    http: httpx2.Client,
) -> None:
    schedules = f"{API}/agent/schedules"
    script = [
        calls(
            ("create_file", {"vault": "house", "path": "reports/1.md", "content": "One.\n"}),
            ("create_file", {"vault": "house", "path": "elsewhere.md", "content": "Two.\n"}),
        ),
        says("Reported."),
    ]
    with openai_server(*script) as server:
        use(http, server)
        body = {"goal": "Write the report.", "vaults": ["house"], "timetable": "rate(1 day)"}
        made = http.post(schedules, json=body).json()
        place = f"{schedules}/{made['id']}"
        given = {"tools": ["create_file"], "vault": "house", "folder": "reports", "days": 1}
        http.post(f"{place}/permissions", json=given).raise_for_status()
        moment = (SystemClock().now() + timedelta(seconds=4)).strftime("%Y-%m-%dT%H:%M:%S")
        changed = http.put(place, json=body | {"timetable": f"at({moment})"})
        assert changed.json()["next"] == f"{moment}Z"

        wait_until(lambda: http.get(place).json()["last"] is not None)
        fired = http.get(place).json()
        assert (fired["last"]["outcome"], fired["enabled"], fired["next"]) == ("ok", False, None)
        run = f"{API}/agent/runs/{fired['last']['run']}"
        wait_until(lambda: http.get(run).json()["status"] == "completed")

    ended = http.get(run).json()
    assert [call["status"] for call in ended["calls"]] == ["success", "error"]
    assert http.get(f"{API}/file/house", params={"path": "reports/1.md"}).status_code == 200
    assert http.get(f"{API}/file/house", params={"path": "elsewhere.md"}).status_code == 404
    [permission] = http.get(place).json()["permissions"]
    assert permission["used"] == 1
    assert http.delete(place).status_code == 204
    assert server.script == []
