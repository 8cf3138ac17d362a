"""Agent runs over HTTP: every route through the real application."""

import asyncio
import json
from collections.abc import Generator
from contextlib import contextmanager
from functools import partial
from typing import Any

import pytest
from starlette.testclient import TestClient

from archivolt.domain.erasure import pseudonym
from archivolt.domain.errors import NotFoundError
from archivolt.domain.paths import VaultPath
from archivolt.domain.run import Run, RunId
from archivolt.domain.run_limits import MAX_OPEN_RUNS
from archivolt.domain.vault import VaultRef, VaultRole
from archivolt.entrypoints.http.chat_services import AgentRuns
from archivolt.entrypoints.http.run_events import event_stream
from archivolt.ports.chat_model import ModelTurn
from archivolt.runs.timetables import Timetables
from tests.builders import ACME, ALICE, BOB, principal
from tests.entrypoints.test_chat_http import TOKENS, application, bearer, chat_application
from tests.fakes.governance import KnownTokens
from tests.fakes.models import RepeatableModel, calling
from tests.run_world import RunWorld

RUNS = "/api/v1/agent/runs"
CHANGE = calling("create_file", "I write.", vault="notes", path="a.md", content="one\n")
CHANGED = {"path": "b.md", "content": "two\n"}
DONE = ModelTurn(text="Done: see [a.md](vault://notes/a.md).")
READ = calling("read_file", "I look.", vault="notes", path="key.md")


class Door(RunWorld):
    """The world of runs, behind its routes."""

    def __init__(self, *script: ModelTurn) -> None:
        self.asked = RepeatableModel(*script)
        super().__init__(self.asked)
        self.home: VaultRef = self.vault("notes")
        self.write(self.home, "key.md", "The spare key is under the blue mat.")

    @contextmanager
    def client(self, *, enabled: bool = True) -> Generator[TestClient]:
        agent = AgentRuns(
            runs=self.run_service,
            decisions=self.decisions,
            timetables=lambda: Timetables(self.run_support, self.timer),
        )
        app = chat_application(self, KnownTokens(TOKENS), enabled=enabled, agent=lambda: agent)
        with TestClient(app) as opened:
            yield opened

    def exists(self, path: str) -> bool:
        try:
            self.store.read(self.home, VaultPath(path))
        except NotFoundError:
            return False
        return True

    def last_told(self) -> str:
        """Return the last thing that the model was told."""
        return self.asked.requests[-1].messages[-1].text

    def work(self, run_id: str) -> Run:
        return self.drive(self.agent_runs.get(ACME, RunId(run_id)))

    def go_on(self, run_id: str) -> Run:
        return self.carry_on(self.agent_runs.get(ACME, RunId(run_id)))


def started(http: TestClient, **body: Any) -> str:  # noqa: ANN401  JSON
    answer = http.post(RUNS, headers=bearer(), json={"goal": "Do it.", **body})
    assert answer.status_code == 202, answer.text
    return answer.json()["id"]


def read(http: TestClient, run_id: str, who: str = "alice") -> dict[str, Any]:
    answer = http.get(f"{RUNS}/{run_id}", headers=bearer(who))
    assert answer.status_code == 200, answer.text
    return answer.json()


def code(answer: Any) -> tuple[int, str]:  # noqa: ANN401  JSON
    return answer.status_code, answer.json()["error"]["code"]


def decide(http: TestClient, run_id: str, who: str = "alice", **body: Any) -> Any:  # noqa: ANN401  JSON
    [approval] = read(http, run_id)["approvals"]
    return http.post(f"{RUNS}/{run_id}/approvals/{approval['id']}", headers=bearer(who), json=body)


def test_a_run_is_started_worked_on_and_read() -> None:
    door = Door(READ, DONE)
    with door.client() as http:
        run_id = started(http, goal="Where is the key?")
        before = read(http, run_id)
        door.work(run_id)
        after = read(http, run_id)

    assert (before["status"], before["result"]) == ("queued", None)
    assert (after["status"], after["reason"], after["steps"]) == ("completed", "answered", 2)
    assert after["result"] == f"I look.\n\n{DONE.text}"
    assert [call["tool_name"] for call in after["calls"]] == ["read_file"]


def test_a_change_waits_until_it_is_approved() -> None:
    door = Door(CHANGE, DONE)
    with door.client() as http:
        run_id = started(http)
        door.work(run_id)
        waiting = read(http, run_id)
        [approval] = waiting["approvals"]
        absent = not door.exists("a.md")
        answer = decide(http, run_id, decision="approve")
        door.go_on(run_id)
        after = read(http, run_id)

    assert (waiting["status"], absent) == ("awaiting_approval", True)
    assert approval["tool_name"] == "create_file"
    assert "+one" in approval["preview"]["diff"]
    assert answer.json() == {
        "id": approval["id"],
        "run": run_id,
        "state": "approved",
        "decided_by": ALICE,
    }
    assert (after["status"], after["approvals"], door.exists("a.md")) == ("completed", [], True)


def test_a_change_that_is_edited_is_proposed_anew_and_made_as_edited() -> None:
    door = Door(CHANGE, DONE)
    with door.client() as http:
        run_id = started(http)
        door.work(run_id)
        [first] = read(http, run_id)["approvals"]
        edited = {"vault": "notes", "path": "b.md", "content": "two\n"}
        answer = decide(http, run_id, decision="edit", arguments=edited)
        [second] = read(http, run_id)["approvals"]
        old = http.post(
            f"{RUNS}/{run_id}/approvals/{first['id']}",
            headers=bearer(),
            json={"decision": "approve"},
        )
        decide(http, run_id, decision="approve")
        door.go_on(run_id)

    assert (answer.json()["id"], answer.json()["state"]) == (second["id"], "pending")
    assert second["arguments"] == edited
    assert code(old) == (404, "approval_not_found")
    assert (door.exists("a.md"), door.exists("b.md")) == (False, True)
    assert "edited_by_the_person" in door.last_told()


def test_what_cannot_be_proposed_is_not_edited_in() -> None:
    door = Door(CHANGE, DONE)
    with door.client() as http:
        run_id = started(http)
        door.work(run_id)
        wrong = {"vault": "notes", "path": "../x.md", "content": "two\n"}
        answer = decide(http, run_id, decision="edit", arguments=wrong)
        [still] = read(http, run_id)["approvals"]

    assert code(answer) == (400, "invalid_path")
    assert still["arguments"]["path"] == "a.md"


def test_a_decision_that_says_nothing_clear_is_refused() -> None:
    door = Door(CHANGE, DONE)
    bodies: list[dict[str, Any]] = [
        {"decision": "edit"},
        {"decision": "approve", "arguments": {}},
        {"decision": "maybe"},
        {},
    ]
    with door.client() as http:
        run_id = started(http)
        door.work(run_id)
        answers = [decide(http, run_id, **body) for body in bodies]

    assert {code(answer) for answer in answers} == {(422, "invalid_request")}


def test_the_same_word_twice_is_said_once_and_another_is_refused() -> None:
    door = Door(CHANGE, DONE)
    with door.client() as http:
        run_id = started(http)
        door.work(run_id)
        [approval] = read(http, run_id)["approvals"]
        place = f"{RUNS}/{run_id}/approvals/{approval['id']}"
        said = [
            http.post(place, headers=bearer(), json={"decision": decision})
            for decision in ("approve", "approve", "decline")
        ]

    assert said[0].json() == said[1].json()
    assert code(said[2]) == (409, "approval_decided")


def test_another_writer_of_the_vault_may_decide_and_a_reader_may_not() -> None:
    door = Door(CHANGE, DONE)
    door.share(door.home, principal(BOB), VaultRole.READER)
    with door.client() as http:
        run_id = started(http)
        door.work(run_id)
        reader = decide(http, run_id, "bob", decision="approve")
        door.share(door.home, principal(BOB), VaultRole.WRITER)
        [approval] = read(http, run_id)["approvals"]
        shown = http.get(f"{RUNS}/{run_id}/approvals/{approval['id']}", headers=bearer("bob"))
        whole = http.get(f"{RUNS}/{run_id}", headers=bearer("bob"))
        place = f"{RUNS}/{run_id}/approvals/{approval['id']}"
        writer, again = (
            http.post(place, headers=bearer("bob"), json={"decision": "approve"}) for _ in range(2)
        )
        door.go_on(run_id)

    assert code(reader) == (403, "vault_read_only")
    assert "+one" in shown.json()["preview"]["diff"]
    assert code(whole) == (404, "run_not_found")
    assert writer.json()["decided_by"] == BOB
    assert door.exists("a.md")
    assert again.json() == writer.json()
    run = door.agent_runs.get(ACME, RunId(run_id))
    [kept], events = door.agent_runs.approvals(run), door.told(run)
    assert kept.decided_by == pseudonym(ACME, BOB)
    # What stays when bob is erased does not name him.
    assert BOB not in repr((run, kept, events))
    [entry] = [each for each in door.audit.entries if each.action == "run:approved"]
    assert entry.principal.user == BOB


@pytest.mark.parametrize("shared", [None, VaultRole.READER, VaultRole.WRITER])
def test_who_edits_anothers_change_reaches_no_further_than_they_do(
    shared: VaultRole | None,
) -> None:
    door = Door(CHANGE, DONE)
    private = door.vault("private")
    door.share(door.home, principal(BOB), VaultRole.WRITER)
    if shared:
        door.share(private, principal(BOB), shared)
    with door.client() as http:
        run_id = started(http)
        door.work(run_id)
        answers = [
            decide(http, run_id, "bob", decision="edit", arguments=CHANGED | {"vault": vault})
            for vault in ("absent", "private")
        ]
        bare = decide(http, run_id, "bob", decision="edit", arguments=CHANGED)

    expected: dict[VaultRole | None, tuple[int, str]] = {
        None: (404, "vault_not_found"),
        VaultRole.READER: (403, "vault_read_only"),
    }
    assert code(answers[0]) == (404, "vault_not_found")
    assert code(bare) == (404, "vault_not_found")
    if shared in expected:
        assert code(answers[1]) == expected[shared]
    else:
        assert answers[1].json()["state"] == "pending"


@pytest.mark.parametrize("who", ["bob", "stranger"])
def test_a_run_of_another_does_not_exist(who: str) -> None:
    door = Door(CHANGE, DONE)
    with door.client() as http:
        run_id = started(http)
        door.work(run_id)
        answers = [
            http.request(method, f"{RUNS}/{run_id}{path}", headers=bearer(who), json=body)
            for method, path, body in (
                ("GET", "", None),
                ("GET", "/events", None),
                ("POST", "/cancel", None),
                ("DELETE", "", None),
                ("GET", "/approvals/1.0.1", None),
                ("POST", "/approvals/1.0.1", {"decision": "approve"}),
            )
        ]
        still = read(http, run_id)

    assert {code(answer) for answer in answers} == {(404, "run_not_found")}
    assert (still["status"], len(still["approvals"])) == ("awaiting_approval", 1)


def test_an_administrator_reads_and_cancels_and_decides_on_nothing() -> None:
    door = Door(CHANGE, DONE)
    with door.client() as http:
        run_id = started(http)
        door.work(run_id)
        seen = read(http, run_id, "admin")
        decided = decide(http, run_id, "admin", decision="approve")
        cancelled = http.post(f"{RUNS}/{run_id}/cancel", headers=bearer("admin"))

    run = door.agent_runs.get(ACME, RunId(run_id))
    [end] = [each for each in door.audit.entries if each.action == "run:end"]
    assert (end.principal.user, end.outcome) == ("carol", "run_cancelled")
    assert "carol" not in repr((run, door.told(run), end.details))
    assert seen["approvals"] == []
    assert code(decided) == (404, "run_not_found")
    assert (cancelled.json()["status"], cancelled.json()["reason"]) == (
        "cancelled",
        "run_cancelled",
    )
    assert not door.exists("a.md")


def test_a_program_may_not_start_a_run_by_rest() -> None:
    with Door(DONE).client() as http:
        answer = http.post(RUNS, headers=bearer("agent"), json={"goal": "Do it."})

    assert code(answer) == (403, "person_required")


def test_while_the_chat_is_off_there_are_no_runs() -> None:
    with Door(DONE).client(enabled=False) as http:
        assert code(http.get(RUNS, headers=bearer())) == (404, "not_found")


def test_a_deployment_without_a_machine_says_so() -> None:
    door = Door(DONE)
    with TestClient(application(door)) as http:
        answer = http.post(RUNS, headers=bearer(), json={"goal": "Do it."})

    assert code(answer) == (503, "runs_unavailable")


@pytest.mark.parametrize("by", ["header", "body"])
def test_a_request_that_is_sent_again_starts_nothing_more(by: str) -> None:
    door = Door(DONE)
    headers = bearer(**({"Idempotency-Key": "k1"} if by == "header" else {}))
    body = {"goal": "Do it.", **({"idempotency_key": "k1"} if by == "body" else {})}
    with door.client() as http:
        answers = [http.post(RUNS, headers=headers, json=body) for _ in range(2)]
        other = http.post(RUNS, headers=headers, json=body | {"goal": "Do something else."})
        listed = http.get(RUNS, headers=bearer()).json()["runs"]

    assert answers[0].json() == answers[1].json()
    assert code(other) == (409, "idempotency_key_reused")
    assert [run["id"] for run in listed] == [answers[0].json()["id"]]
    assert len(door.engine.started) == 1


def test_a_user_has_so_many_runs_under_way() -> None:
    door = Door(DONE)
    body = {"goal": "Do it.", "idempotency_key": "k1"}
    with door.client() as http:
        first = http.post(RUNS, headers=bearer(), json=body).json()["id"]
        for _ in range(MAX_OPEN_RUNS - 1):
            started(http)
        refused = http.post(RUNS, headers=bearer(), json={"goal": "Do it."})
        again = http.post(RUNS, headers=bearer(), json=body)
        of_bob = http.post(RUNS, headers=bearer("bob"), json={"goal": "Do it."})
        door.work(first)
        room = http.post(RUNS, headers=bearer(), json={"goal": "Do it."})

    assert code(refused) == (409, "runs_too_many")
    assert again.json()["id"] == first
    assert [each.status_code for each in (of_bob, room)] == [202, 202]


def test_a_run_reaches_the_vaults_it_was_given_alone() -> None:
    door = Door(calling("read_file", "I look.", vault="notes", path="key.md"), DONE)
    door.vault("other")
    with door.client() as http:
        run_id = started(http, vaults=["other"])
        door.work(run_id)
        absent = http.post(RUNS, headers=bearer(), json={"goal": "x", "vaults": ["absent"]})

    assert "vault_not_found" in door.last_told()
    assert code(absent) == (404, "vault_not_found")


def test_a_run_that_cannot_be_is_refused() -> None:
    door = Door(DONE)
    bodies: list[dict[str, Any]] = [
        {},
        {"goal": "  "},
        {"goal": "x", "caps": {"steps": 0}},
        {"goal": "x", "caps": {"steps": 501}},
        {"goal": "x", "caps": {"hours": 1}},
        {"goal": "x", "unknown": 1},
    ]
    with door.client() as http:
        answers = [http.post(RUNS, headers=bearer(), json=body) for body in bodies]

    assert {answer.status_code for answer in answers} <= {400, 422}
    assert door.engine.started == []


def test_events_are_read_page_by_page() -> None:
    door = Door(READ, DONE)
    with door.client() as http:
        run_id = started(http)
        door.work(run_id)
        first = http.get(f"{RUNS}/{run_id}/events?limit=2", headers=bearer()).json()
        rest = http.get(
            f"{RUNS}/{run_id}/events?after={first['next_after']}", headers=bearer()
        ).json()

    told = [*first["events"], *rest["events"]]
    assert [each["id"] for each in told] == list(range(1, len(told) + 1))
    assert [each["event"] for each in told] == [
        "run_started",
        "message",
        "tool_use_start",
        "tool_use_result",
        "message",
        "run_end",
    ]
    assert (first["over"], rest["over"]) == (False, True)


def test_a_stream_of_events_is_taken_up_where_it_was() -> None:
    door = Door(READ, DONE)
    stream = {"Accept": "text/event-stream"}
    with door.client() as http:
        run_id = started(http)
        door.work(run_id)
        place = f"{RUNS}/{run_id}/events"
        whole = http.get(place, headers=bearer(**stream))
        rest = http.get(place, headers=bearer(**stream, **{"Last-Event-ID": "4"}))

    assert whole.headers["content-type"].startswith("text/event-stream")
    blocks = whole.text.strip().split("\n\n")
    assert [block.split("\n")[0] for block in blocks] == [f"id: {n}" for n in range(1, 7)]
    assert rest.text.strip().split("\n\n") == blocks[4:]
    assert json.loads(blocks[-1].split("\ndata: ")[1])["reason"] == "answered"


def test_who_has_the_whole_stream_is_told_not_to_come_back() -> None:
    door = Door(READ, DONE)
    with door.client() as http:
        run_id = started(http)
        door.work(run_id)
        headers = bearer(**{"Accept": "text/event-stream", "Last-Event-ID": "6"})
        answer = http.get(f"{RUNS}/{run_id}/events", headers=headers)

    assert (answer.status_code, answer.content) == (204, b"")


@pytest.mark.parametrize("after", [1, 99])
def test_a_stream_ends_with_its_run(after: int) -> None:
    door = Door(READ, DONE)
    run = door.start_run()

    def look() -> Run:
        # It went while the stream was open; a reader may be ahead of what there is.
        (door.agent_runs.delete if after == 1 else door.drive)(run)
        return door.run_service.read(principal(ALICE), run.id)

    async def heard() -> list[bytes]:
        read = partial(door.run_service.events, principal(ALICE), run)
        stream = event_stream(read, after, look=look, poll_seconds=0, heartbeat_seconds=0)
        return [piece async for piece in stream]

    assert asyncio.run(heard()) == []


def test_what_a_run_brought_leads_to_where_its_documents_are_now() -> None:
    door = Door(READ, ModelTurn(text="See [it](vault://notes/key.md) in key.md."))
    with door.client() as http:
        run_id = started(http)
        door.work(run_id)
        for place in ("key.md", "old key.md"):
            rename = {"vault": "notes", "path": place, "new_name": f"old {place}"}
            door.change("rename_file", rename)
        run = http.get(f"{RUNS}/{run_id}", headers=bearer()).json()
        told = http.get(f"{RUNS}/{run_id}/events", headers=bearer()).json()["events"]
        stream = bearer(Accept="text/event-stream")
        streamed = http.get(f"{RUNS}/{run_id}/events", headers=stream).text
        # What moves where is nothing to an administrator who is no member.
        theirs = http.get(f"{RUNS}/{run_id}", headers=bearer("admin")).json()

    now = "vault://notes/old%20old%20key.md"
    assert run["result"] == f"I look.\n\nSee [it]({now}) in key.md."
    assert [(each["uri"], each["path"]) for each in run["citations"]] == [(now, "old old key.md")]
    assert [call["uris"] for call in run["calls"]] == [[now]]
    assert [each["data"]["uris"] for each in told if "uris" in each["data"]] == [[now]]
    assert f'"uris":["{now}"]' in streamed
    assert [call["uris"] for call in theirs["calls"]] == [["vault://notes/key.md"]]


def test_a_deleted_run_is_gone() -> None:
    door = Door(CHANGE, DONE)
    with door.client() as http:
        run_id = started(http)
        door.work(run_id)
        deleted = http.delete(f"{RUNS}/{run_id}", headers=bearer())
        gone = http.get(f"{RUNS}/{run_id}", headers=bearer())

    assert deleted.status_code == 204
    assert code(gone) == (404, "run_not_found")
    assert door.engine.stopped == [(run_id, 1)]


def test_runs_are_listed_page_by_page_to_their_owner() -> None:
    door = Door(DONE)
    with door.client() as http:
        ids: list[str] = []
        for _ in range(3):
            ids.insert(0, started(http))
            door.clock.advance(minutes=1)
        first = http.get(f"{RUNS}?limit=2", headers=bearer()).json()
        page = {"limit": "2", "after": first["next_after"]}
        rest = http.get(RUNS, params=page, headers=bearer()).json()
        others = http.get(RUNS, headers=bearer("bob")).json()

    assert [run["id"] for run in (*first["runs"], *rest["runs"])] == ids
    assert others == {"runs": [], "next_after": None}
