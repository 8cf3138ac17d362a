"""Personal access tokens: making, using, listing and revoking them over REST."""

import base64
from typing import Any

import pytest

from archivolt.domain.identity import Role
from tests.builders import ALICE
from tests.entrypoints.rest_world import RestWorld

TOKENS = "/api/v1/tokens"


@pytest.fixture
def world() -> RestWorld:
    world = RestWorld()
    for name in ("garden", "cellar"):
        world.write(world.vault(name), "a.md", f"about the {name}")
    return world


def made(world: RestWorld, *, user: str = "alice", **wanted: object) -> dict[str, Any]:
    answer = world.post(TOKENS, {"name": "laptop", "read_only": False, **wanted}, user=user)
    assert answer.status == 201
    return answer.json


def test_a_token_is_shown_once_and_works_at_once(world: RestWorld) -> None:
    token = made(world)

    assert token["token"].startswith("avp_")
    assert token["token"] not in str(world.get(TOKENS).json)
    assert world.get("/api/v1/vaults", user=token["token"]).status == 200
    assert world.get(TOKENS).json["tokens"][0]["last_used"] is not None


@pytest.mark.parametrize(
    ("name", "kept"),
    [("my  laptop\n", "my laptop"), ("\u202epot\x1b[2K", "�pot␛[2K"), (" \n ", None), (7, None)],
)
def test_a_token_has_a_name_that_its_owner_can_read(
    world: RestWorld, name: object, kept: str | None
) -> None:
    answer = world.post(TOKENS, {"name": name, "read_only": True})

    assert answer.status == (201 if kept else 422)
    assert [token["name"] for token in world.get(TOKENS).json["tokens"]] == [kept] * bool(kept)


def test_a_token_has_no_role_of_its_owners_who_may_have_lost_it(world: RestWorld) -> None:
    token = made(world, user="admin")["token"]

    world.get("/api/v1/vaults", user=token)

    assert world.audit.entries[-1].principal.role is Role.VIEWER


def test_a_revoked_token_ends_at_once(world: RestWorld) -> None:
    token = made(world)

    assert world.send("DELETE", f"{TOKENS}/{token['id']}").status == 204

    assert world.get("/api/v1/vaults", user=token["token"]).status == 401
    assert world.send("DELETE", f"{TOKENS}/{token['id']}").status == 404
    assert world.get(TOKENS).json == {"tokens": []}


def test_no_program_makes_lists_or_revokes_tokens(world: RestWorld) -> None:
    token = made(world)
    for program in (token["token"], "alices-agent"):
        body = {"name": "more", "read_only": False}
        assert world.post(TOKENS, body, user=program).status == 403
        assert world.get(TOKENS, user=program).status == 403
        assert world.send("DELETE", f"{TOKENS}/{token['id']}", user=program).status == 403


def test_tokens_of_others_do_not_exist_but_for_their_administrator(world: RestWorld) -> None:
    token = made(world)
    for other in ("bob", "mallory", "alice-of-globex", "operator"):
        assert world.get(TOKENS, user=other).json == {"tokens": []}
        assert world.send("DELETE", f"{TOKENS}/{token['id']}", user=other).status == 404
        assert world.get(f"{TOKENS}?everybody=true", user=other).status == 403

    listed = world.get(f"{TOKENS}?everybody=true", user="admin").json["tokens"]
    assert [each["user"] for each in listed] == [ALICE]
    assert world.send("DELETE", f"{TOKENS}/{token['id']}", user="admin").status == 204


def test_a_token_reaches_only_its_vaults(world: RestWorld) -> None:
    token = made(world, vaults=["garden"])["token"]

    vaults = world.get("/api/v1/vaults", user=token).json["vaults"]

    assert [vault["name"] for vault in vaults] == ["garden"]
    absent = world.post("/api/v1/tools/list_directory", {"vault": "none"}, user=token)
    hidden = world.post("/api/v1/tools/list_directory", {"vault": "cellar"}, user=token)
    assert absent.status == hidden.status == 404
    assert hidden.json["error"]["code"] == absent.json["error"]["code"] == "vault_not_found"


def test_a_token_is_not_made_for_a_vault_of_others(world: RestWorld) -> None:
    body = {"name": "laptop", "read_only": False, "vaults": ["garden"]}

    assert world.post(TOKENS, body, user="mallory").status == 404


def test_a_token_that_reads_only_proposes_nothing(world: RestWorld) -> None:
    change = {"vault": "garden", "path": "new.md", "content": "x"}
    reads, writes = made(world, read_only=True)["token"], made(world)["token"]

    refused = world.post("/api/v1/tools/create_file/propose", change, user=reads)

    assert (refused.status, refused.json["error"]["code"]) == (403, "token_read_only")
    assert world.post("/api/v1/tools/create_file/propose", change, user=writes).status == 200


def test_a_token_never_writes_through_the_routes_of_people(world: RestWorld) -> None:
    body = {"path": "new.md", "content": "x"}

    answer = world.post("/api/v1/vaults", {"name": "more", **body}, user=made(world)["token"])

    assert (answer.status, answer.json["error"]["code"]) == (403, "person_required")


def basic(user: str, password: str) -> str:
    return "Basic " + base64.b64encode(f"{user}:{password}".encode()).decode()


def test_basic_takes_a_personal_token_under_its_owners_name(world: RestWorld) -> None:
    token = made(world)["token"]

    def status(header: str) -> int:
        return world.get("/api/v1/vaults", user="", authorization=header).status

    assert status(basic("alice", token)) == 200
    assert status(basic("bob", token)) == 401
    assert status(basic("", token)) == 401
    assert status(basic("alice", "alice")) == 401
    assert status("Basic not-base64!") == 401
    assert status("Basic \xff") == 401
    assert status("Basic " + base64.b64encode(b"\xff:\xfe").decode()) == 401
    assert status("Basic") == 401
    assert status(f"Digest {token}") == 401
