"""Scheduled runs over HTTP: every route through the real application."""

from collections.abc import Generator
from contextlib import contextmanager
from typing import Any

import pytest
from starlette.testclient import TestClient

from archivolt.entrypoints.http.chat_services import AgentRuns
from archivolt.runs.firing import STARTED
from tests.builders import ALICE, principal
from tests.entrypoints.test_chat_http import TOKENS, bearer, chat_application
from tests.fakes.governance import KnownTokens
from tests.scheduled_world import Scheduled

SCHEDULES = "/api/v1/agent/schedules"
DAILY = {"goal": "Where is the key?", "timetable": "rate(1 day)", "time_zone": "Europe/Paris"}
PERMISSION = {"tools": ["create_file"], "vault": "notes", "folder": "reports", "days": 30}


class Door(Scheduled):
    """The world of scheduled runs, behind its routes."""

    @contextmanager
    def client(self) -> Generator[TestClient]:
        agent = AgentRuns(
            runs=self.run_service, decisions=self.decisions, timetables=lambda: self.timetables
        )
        app = chat_application(self, KnownTokens(TOKENS), agent=lambda: agent)
        with TestClient(app, headers=bearer()) as opened:
            yield opened


def made(http: TestClient, **body: Any) -> dict[str, Any]:  # noqa: ANN401  JSON
    answer = http.post(SCHEDULES, json=DAILY | body)
    assert answer.status_code == 201, answer.text
    return answer.json()


def code(answer: Any) -> tuple[int, str]:  # noqa: ANN401  JSON
    return answer.status_code, answer.json()["error"]["code"]


def test_a_schedule_is_made_read_changed_paused_and_deleted() -> None:
    with Door().client() as http:
        schedule = made(http, vaults=["notes"], name=" Daily ", caps={"steps": 9})
        place = f"{SCHEDULES}/{schedule['id']}"
        assert http.get(SCHEDULES).json() == {"schedules": [schedule]}
        assert http.get(place).json() == schedule
        assert (schedule["name"], schedule["vaults"], schedule["caps"]["steps"]) == (
            "Daily",
            ["notes"],
            9,
        )
        assert (schedule["next"], schedule["last"]) == ("2026-09-02T08:30:00Z", None)

        changed = http.put(place, json=DAILY | {"timetable": "cron(0 8 ? * MON-FRI *)"}).json()
        assert (changed["next"], changed["vaults"]) == ("2026-09-02T06:00:00Z", None)
        paused = http.post(f"{place}/pause").json()
        assert (paused["enabled"], paused["next"]) == (False, None)
        assert http.post(f"{place}/resume").json()["next"] == changed["next"]

        assert http.delete(place).status_code == 204
        assert code(http.get(place)) == (404, "schedule_not_found")
        assert http.get(SCHEDULES).json() == {"schedules": []}


def test_a_permission_is_given_listed_and_revoked() -> None:
    with Door().client() as http:
        place = f"{SCHEDULES}/{made(http)['id']}"
        given = http.post(f"{place}/permissions", json=PERMISSION | {"uses": 5})
        assert given.status_code == 201
        [permission] = http.get(place).json()["permissions"]
        assert permission == given.json()
        assert (permission["vault"], permission["uses"], permission["used"]) == ("notes", 5, 0)
        assert permission["expires_at"] == "2026-10-01T08:30:00Z"

        assert http.delete(f"{place}/permissions/{permission['id']}").status_code == 204
        assert http.get(place).json()["permissions"] == []
        again = http.delete(f"{place}/permissions/{permission['id']}")
        assert code(again) == (404, "permission_not_found")


def test_what_came_of_the_last_time_is_told_and_leads_to_its_run() -> None:
    on = Door()
    with on.client() as http:
        schedule_id = made(http)["id"]
        assert on.fire(on.timetables.read(principal(ALICE), schedule_id)) == STARTED

        last = http.get(f"{SCHEDULES}/{schedule_id}").json()["last"]
        run = http.get(f"/api/v1/agent/runs/{last['run']}").json()
        assert (last["outcome"], run["goal"]) == ("ok", "Where is the key?")


def test_a_schedule_of_somebody_else_does_not_exist() -> None:
    with Door().client() as http:
        place = f"{SCHEDULES}/{made(http)['id']}"
        bob = bearer("bob")
        for answer in (
            http.get(place, headers=bob),
            http.put(place, json=DAILY, headers=bob),
            http.post(f"{place}/pause", headers=bob),
            http.post(f"{place}/resume", headers=bob),
            http.delete(place, headers=bob),
            http.delete(f"{place}/permissions/x", headers=bob),
        ):
            assert code(answer) == (404, "schedule_not_found")
        assert http.get(SCHEDULES, headers=bob).json() == {"schedules": []}
        assert http.get(place).json()["enabled"]


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ({"timetable": "every day"}, (400, "schedule_expression")),
        ({"timetable": "rate(5 minutes)"}, (400, "schedule_too_often")),
        ({"time_zone": "Europe/Atlantis"}, (400, "time_zone_unknown")),
        ({"timetable": "at(2020-01-01T00:00:00)"}, (400, "schedule_never")),
        ({"vaults": ["absent"]}, (404, "vault_not_found")),
        ({"goal": ""}, (400, "invalid_request")),
        ({"unheard_of": 1}, (422, "invalid_request")),
    ],
)
def test_what_cannot_be_a_schedule_is_refused(
    body: dict[str, Any], expected: tuple[int, str]
) -> None:
    with Door().client() as http:
        assert code(http.post(SCHEDULES, json=DAILY | body)) == expected
        assert http.get(SCHEDULES).json() == {"schedules": []}


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ({"tools": ["web_search"]}, (400, "permission_tool")),
        ({"tools": []}, (422, "invalid_request")),
        ({"days": 91}, (422, "invalid_request")),
        ({"days": 0}, (422, "invalid_request")),
        ({"uses": 0}, (422, "invalid_request")),
        ({"folder": "../up"}, (400, "invalid_path")),
        ({"vault": "absent"}, (404, "vault_not_found")),
    ],
)
def test_what_cannot_be_permitted_is_refused(
    body: dict[str, Any], expected: tuple[int, str]
) -> None:
    with Door().client() as http:
        place = f"{SCHEDULES}/{made(http)['id']}"
        assert code(http.post(f"{place}/permissions", json=PERMISSION | body)) == expected
        assert http.get(place).json()["permissions"] == []
