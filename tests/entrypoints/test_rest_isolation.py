"""Two tenants walk every route: what belongs to others looks like what does not exist."""

from collections.abc import Iterator

import pytest

from archivolt.domain.vault import VaultRole
from tests.builders import ALICE, GLOBEX, principal
from tests.entrypoints.rest_api import Answer
from tests.entrypoints.rest_world import RestWorld

API = "/api/v1"
CANARY = "xylophone-canary"
STRANGERS = ["bob", "mallory", "alice-of-globex", "root"]
ALICES = principal(ALICE)


@pytest.fixture
def world() -> RestWorld:
    """Alice of Acme owns `secret`; Globex has a vault and a user of the same names."""
    world = RestWorld()
    world.write(world.vault("secret"), "plan.md", f"the {CANARY} of acme")
    other = world.vault("theirs", owner=principal("mallory", tenant=GLOBEX))
    world.write(other, "plan.md", "the plan of globex")
    world.share(other, principal(ALICE, tenant=GLOBEX), VaultRole.WRITER)
    return world


def walk(world: RestWorld, vault: str, user: str) -> Iterator[tuple[str, Answer]]:
    """Yield the answer of every route that names a vault."""
    for path in (
        f"/browse/{vault}",
        f"/file/{vault}?path=plan.md",
        f"/file/{vault}/raw?path=plan.md",
        f"/vault/{vault}/files",
        f"/vault/{vault}/index",
        f"/vaults/{vault}/members",
        f"/search?q={CANARY}&vault={vault}",
    ):
        yield path, world.get(API + path, user=user)
    yield "create", world.post(f"{API}/file/{vault}", {"path": "x.md", "content": "x"}, user=user)
    members = f"{API}/vaults/{vault}/members/mallory"
    yield "member", world.send("PUT", members, {"role": "owner"}, user=user)
    yield "no member", world.send("DELETE", members, user=user)
    for tool in ("list_directory", "list_all_files", "read_file", "read_file_raw"):
        at = {"vault": vault} | ({"path": "plan.md"} if tool.startswith("read") else {})
        yield tool, world.post(f"{API}/tools/{tool}", at, user=user)
    for tool in ("search_fulltext", "search_documents"):
        yield tool, world.post(f"{API}/tools/{tool}", {"q": CANARY, "vault": vault}, user=user)


@pytest.mark.parametrize("user", STRANGERS)
def test_the_vault_of_others_is_not_found_by_any_route(world: RestWorld, user: str) -> None:
    there = list(walk(world, "secret", user))
    nowhere = list(walk(world, "nowhere", user))

    for (path, answer), (_, absent) in zip(there, nowhere, strict=True):
        assert answer.status == 404, path
        assert answer.json["error"]["code"] == "vault_not_found", path
        assert answer.body.replace(b"secret", b"nowhere") == absent.body, path
        assert set(answer.headers) == set(absent.headers), path


@pytest.mark.parametrize("user", STRANGERS)
def test_nothing_of_others_is_in_any_list_or_search(world: RestWorld, user: str) -> None:
    answers = [
        world.get(f"{API}/vaults", user=user),
        world.get(f"{API}/search?q={CANARY}", user=user),
        world.post(f"{API}/tools/list_vaults", {}, user=user),
        world.post(f"{API}/tools/search_fulltext", {"q": CANARY}, user=user),
        world.post(f"{API}/tools/search_documents", {"q": CANARY}, user=user),
    ]

    for answer in answers:
        assert answer.status == 200
        assert CANARY.encode() not in answer.body
        assert b"secret" not in answer.body


def test_the_owner_finds_all_of_it(world: RestWorld) -> None:
    statuses = [answer.status for _, answer in walk(world, "secret", "alice")]

    assert statuses == [200] * 7 + [201, 200, 204] + [200] * 6
    assert world.get(f"{API}/search?q={CANARY}").json["hits"]


def test_who_was_removed_finds_nothing_any_more(world: RestWorld) -> None:
    members = f"{API}/vaults/secret/members/bob"
    world.send("PUT", members, {"role": "reader"})
    assert world.get(f"{API}/search?q={CANARY}", user="bob").json["hits"]

    world.send("DELETE", members)

    assert not world.get(f"{API}/search?q={CANARY}", user="bob").json["hits"]
    assert world.get(f"{API}/browse/secret", user="bob").status == 404
    assert world.vaults.accessible(ALICES)
