"""Programs that people let in, over REST: what they reach, who sees them, who ends them."""

from dataclasses import replace

import pytest

from archivolt.domain.identity import Role, TokenReach
from archivolt.domain.limits import OAUTH_GRANT_DAYS
from archivolt.domain.oauth import Person
from tests.builders import ACME, ALICE, BOB
from tests.entrypoints.rest_world import RestWorld
from tests.oauth import OAuthWorld

CONNECTIONS = "/api/v1/connections"
PERSON = Person(tenant=ACME, user=ALICE, role=Role.TENANT_ADMIN)


@pytest.fixture
def world() -> RestWorld:
    world = RestWorld()
    for name in ("garden", "cellar"):
        world.write(world.vault(name), "a.md", f"about the {name}")
    return world


def let_in(world: RestWorld, reach: TokenReach, person: Person = PERSON) -> str:
    """Return the access token of a program that somebody let in."""
    return OAuthWorld(world.clock, world.grants).pair(reach, person).access


def test_a_program_reaches_what_it_was_let_and_no_more(world: RestWorld) -> None:
    token = let_in(world, TokenReach(read_only=True, vaults=frozenset({"id-of-acme-garden"})))
    change = {"vault": "garden", "path": "new.md", "content": "x"}

    vaults = world.get("/api/v1/vaults", user=token).json["vaults"]
    hidden = world.post("/api/v1/tools/list_directory", {"vault": "cellar"}, user=token)
    refused = world.post("/api/v1/tools/create_file/propose", change, user=token)

    assert [vault["name"] for vault in vaults] == ["garden"]
    assert (hidden.status, hidden.json["error"]["code"]) == (404, "vault_not_found")
    assert (refused.status, refused.json["error"]["code"]) == (403, "token_read_only")


def test_a_program_has_no_role_and_no_hand_of_its_person(world: RestWorld) -> None:
    token = let_in(world, TokenReach())

    for path in ("/api/v1/tokens", CONNECTIONS, "/api/v1/tenants/acme/settings"):
        assert world.get(path, user=token).status == 403
    assert world.post("/api/v1/vaults", {"name": "more"}, user=token).status == 403


def test_a_person_sees_what_they_let_in_and_ends_it_at_once(world: RestWorld) -> None:
    token = let_in(world, TokenReach(read_only=True, vaults=frozenset({"id-of-acme-garden"})))

    (shown,) = world.get(CONNECTIONS).json["connections"]

    assert (shown["program"], shown["user"], shown["read_only"]) == ("A client", ALICE, True)
    assert shown["vaults"] == ["garden"]
    assert token not in str(shown)
    assert world.send("DELETE", f"{CONNECTIONS}/{shown['id']}").status == 204
    assert world.get("/api/v1/vaults", user=token).status == 401
    assert world.send("DELETE", f"{CONNECTIONS}/{shown['id']}").status == 404
    assert world.get(CONNECTIONS).json == {"connections": []}


def test_those_of_others_do_not_exist_but_for_their_administrator(world: RestWorld) -> None:
    token = let_in(world, TokenReach())
    let_in(world, TokenReach(), replace(PERSON, user=BOB))
    (shown,) = world.get(CONNECTIONS).json["connections"]
    for other in ("bob", "mallory", "alice-of-globex", "operator"):
        assert shown["id"] not in str(world.get(CONNECTIONS, user=other).json)
        assert world.send("DELETE", f"{CONNECTIONS}/{shown['id']}", user=other).status == 404
        assert world.get(f"{CONNECTIONS}?everybody=true", user=other).status == 403

    listed = world.get(f"{CONNECTIONS}?everybody=true", user="admin").json["connections"]
    assert [each["user"] for each in listed] == [ALICE, BOB]
    assert world.send("DELETE", f"{CONNECTIONS}/{shown['id']}", user="admin").status == 204
    assert world.get("/api/v1/vaults", user=token).status == 401


def test_what_ended_by_itself_is_not_shown(world: RestWorld) -> None:
    let_in(world, TokenReach())
    world.clock.advance(days=OAUTH_GRANT_DAYS)

    assert world.get(CONNECTIONS).json == {"connections": []}


@pytest.mark.parametrize("name", ["unknown", "%2e%2e", "a%23b", "%C3%A9", "x" * 3_000])
def test_an_id_of_nothing_is_not_found(world: RestWorld, name: str) -> None:
    assert world.send("DELETE", f"{CONNECTIONS}/{name}").status == 404
