"""What administrators see of what was done in their tenant, and nobody else."""

from typing import Any
from urllib.parse import quote

import pytest

from tests.builders import ALICE, BOB
from tests.entrypoints.rest_world import RestWorld

AUDIT = "/api/v1/audit"


@pytest.fixture
def world() -> RestWorld:
    """Alice and Bob of Acme each listed their vaults, and so did Mallory of Globex."""
    world = RestWorld()
    for user in ("alice", "mallory", "bob"):
        world.get("/api/v1/vaults", user=user)
        world.clock.advance(minutes=1)
    return world


def actions(page: dict[str, Any]) -> list[tuple[str, str]]:
    return [(entry["user"], entry["action"]) for entry in page["entries"]]


def test_an_administrator_sees_the_own_tenant_newest_first(world: RestWorld) -> None:
    page = world.get(AUDIT, user="admin").json

    assert actions(page) == [("bob", "list_vaults"), ("alice", "list_vaults")]
    assert page["next_cursor"] is None
    assert page["entries"][1] == {
        "at": "2026-09-01T08:30:00Z",
        "user": "alice",
        "role": "viewer",
        "token_kind": "interactive",
        "action": "list_vaults",
        "outcome": "ok",
        "surface": "in_app",
        "milliseconds": 0,
        "vault": "",
        "path": "",
        "arguments_digest": page["entries"][1]["arguments_digest"],
        "details": {},
    }


def test_a_look_at_the_log_is_in_the_log_refusals_too(world: RestWorld) -> None:
    world.get(AUDIT, user="alice")
    world.get(AUDIT, user="admin")

    entries = world.get(AUDIT, user="admin").json["entries"]
    looked = [(entry["user"], entry["outcome"]) for entry in entries if entry["action"] == "audit"]
    assert sorted(looked) == [("admin", "ok"), ("alice", "forbidden")]


@pytest.mark.parametrize(
    ("user", "status", "code"),
    [
        ("alice", 403, "forbidden"),
        ("operator", 403, "forbidden"),
        ("alices-agent", 403, "person_required"),
        ("admins-agent", 403, "person_required"),
        ("", 401, "missing_token"),
    ],
)
def test_nobody_else_sees_it(world: RestWorld, user: str, status: int, code: str) -> None:
    answer = world.get(AUDIT, user=user)

    assert (answer.status, answer.json["error"]["code"]) == (status, code)


def test_even_who_administers_everything_sees_the_own_tenant_only(world: RestWorld) -> None:
    assert {user for user, _ in actions(world.get(AUDIT, user="root").json)} == {ALICE, BOB}


def test_the_log_is_read_in_pages(world: RestWorld) -> None:
    url = f"{AUDIT}?limit=1&until=2026-09-01T08:33:00Z"
    first = world.get(url, user="admin").json
    second = world.get(f"{url}&cursor={quote(first['next_cursor'], safe='')}", user="admin").json

    assert actions(first) + actions(second) == [("bob", "list_vaults"), ("alice", "list_vaults")]
    assert second["next_cursor"] is None


@pytest.mark.parametrize(
    ("query", "users"),
    [
        ("user=bob", ["bob"]),
        ("since=2026-09-01T08:31:00Z", ["bob"]),
        ("since=2026-09-01T08:31:00", ["bob"]),
        ("until=2026-09-01T10:31:00%2B02:00", ["alice"]),
        ("since=2026-08-01T00:00:00Z&until=2026-08-02T00:00:00Z", []),
    ],
)
def test_the_log_is_narrowed_by_time_and_user(
    world: RestWorld, query: str, users: list[str]
) -> None:
    page = world.get(f"{AUDIT}?{query}", user="admin").json

    assert [user for user, _ in actions(page)] == users


@pytest.mark.parametrize(
    ("query", "status", "code"),
    [
        ("limit=0", 422, "invalid_request"),
        ("limit=9999", 422, "invalid_request"),
        ("since=yesterday", 422, "invalid_request"),
        ("user=a%20b", 400, "invalid_request"),
        ("cursor=made-up", 400, "unknown_page"),
    ],
)
def test_a_query_that_makes_no_sense_is_told(
    world: RestWorld, query: str, status: int, code: str
) -> None:
    answer = world.get(f"{AUDIT}?{query}", user="admin")

    assert (answer.status, answer.json["error"]["code"]) == (status, code)


def test_the_log_is_narrowed_to_one_tool(world: RestWorld) -> None:
    world.get(AUDIT, user="admin")

    assert actions(world.get(f"{AUDIT}?tool=audit", user="admin").json) == [("admin", "audit")]
    assert actions(world.get(f"{AUDIT}?tool=read_file", user="admin").json) == []
