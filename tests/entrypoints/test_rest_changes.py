"""Changing files by hand over REST: at once, by people, and never over somebody else's work."""

from typing import Any

import pytest

from archivolt.domain.paths import VaultPath
from archivolt.domain.vault import ETag, VaultRef, VaultRole
from archivolt.entrypoints.http.change_routes import CHANGE_ROUTES
from tests.builders import ALICE, BOB, principal
from tests.entrypoints.rest_api import Answer
from tests.entrypoints.rest_world import RestWorld

API = "/api/v1"
FILE = f"{API}/file/notes"

# One request for each route, by its tool.
REQUESTS: dict[str, tuple[str, str, dict[str, Any] | None]] = {
    "create_file": ("POST", "/file/{}", {"path": "new.md", "content": "new\n"}),
    "edit_file": ("PUT", "/file/{}/save", {"path": "a.md", "content": "b\n", "etag": "{etag}"}),
    "append_to_file": ("POST", "/file/{}/append", {"path": "a.md", "content": "more"}),
    "rename_file": ("PATCH", "/file/{}", {"path": "a.md", "new_name": "b.md"}),
    "update_properties": (
        "PATCH",
        "/file/{}",
        {"path": "a.md", "frontmatter": {"set": {"status": "done"}, "add_tags": ["urgent"]}},
    ),
    "delete_file": ("DELETE", "/file/{}?path=a.md", None),
    "restore_backup": ("POST", "/file/{}/restore", {"path": "a.md", "version": "version-1"}),
    "create_directory": ("POST", "/directory/{}", {"path": "new"}),
    "rename_directory": ("PATCH", "/directory/{}", {"path": "dir", "new_name": "folder"}),
    "delete_directory": ("DELETE", "/directory/{}?path=dir&recursive=true", None),
    "undelete_directory": ("POST", "/directory/{}/undelete", {"path": "gone"}),
    "move_path": ("POST", "/move/{}", {"source_path": "a.md", "destination_dir": "dir"}),
    "replace_in_files": (
        "POST",
        "/search/replace",
        {"vault": "{}", "find": "text", "replace": "words"},
    ),
}
EVERY_REQUEST = pytest.mark.parametrize("tool", REQUESTS)


@pytest.fixture
def world() -> RestWorld:
    world = RestWorld()
    ref = world.vault("notes")
    world.write(ref, "a.md", "some text\n")
    world.write(ref, "dir/c.md", "see [[a]]\n")
    world.write(ref, "gone/d.md", "gone\n")
    world.change("delete_directory", {"vault": "notes", "path": "gone", "recursive": True})
    return world


def ref_of(world: RestWorld) -> VaultRef:
    return world.vaults.access(principal(ALICE), "notes").vault.ref


def etag(world: RestWorld, path: str = "a.md") -> str:
    return world.store.head(ref_of(world), VaultPath(path)).etag


def text(world: RestWorld, path: str) -> str:
    return world.call("read_file", {"vault": "notes", "path": path})["content"]


def request(
    world: RestWorld, tool: str, *, user: str = "alice", vault: str = "notes", **headers: str
) -> Answer:
    method, address, body = REQUESTS[tool]
    current = etag(world)
    sent = body and {
        name: value.replace("{etag}", current).replace("{}", vault)
        if isinstance(value, str)
        else value
        for name, value in body.items()
    }
    return world.send(method, API + address.format(vault), sent, user=user, **headers)


def error(answer: Answer) -> tuple[int, str]:
    return answer.status, answer.json["error"]["code"]


def test_every_route_is_tried() -> None:
    routes = {route.tool for route in CHANGE_ROUTES} | {"update_properties"}

    assert routes == set(REQUESTS)


@EVERY_REQUEST
def test_a_change_is_made_at_once_and_recorded(world: RestWorld, tool: str) -> None:
    before = len(world.audit.entries)

    answer = request(world, tool)

    assert answer.status == (201 if tool in {"create_file", "create_directory"} else 200)
    assert answer.json["vault"] == "notes"
    [entry] = world.audit.entries[before:]
    assert (entry.action, entry.outcome, entry.vault) == (tool, "ok", "notes")


@EVERY_REQUEST
def test_a_token_without_a_person_behind_it_changes_nothing(world: RestWorld, tool: str) -> None:
    assert error(request(world, tool, user="alices-agent")) == (403, "person_required")


@EVERY_REQUEST
def test_a_reader_changes_nothing(world: RestWorld, tool: str) -> None:
    world.share(ref_of(world), principal(BOB), VaultRole.READER)

    assert error(request(world, tool, user="bob")) == (403, "vault_read_only")


@EVERY_REQUEST
@pytest.mark.parametrize("user", ["mallory", "root", "alice-of-globex"])
def test_a_vault_of_others_is_as_one_that_is_not_there(
    world: RestWorld, tool: str, user: str
) -> None:
    there = request(world, tool, user=user)
    nowhere = request(world, tool, user=user, vault="nowhere")

    assert error(there) == (404, "vault_not_found")
    assert there.body.replace(b"notes", b"nowhere") == nowhere.body


@EVERY_REQUEST
def test_what_agents_may_not_destroy_people_may(world: RestWorld, tool: str) -> None:
    world.vaults.allow_destructive_tools(principal(ALICE), "notes", allowed=False)

    assert request(world, tool).status in {200, 201}


def test_a_created_file_gives_the_etag_to_save_it_with(world: RestWorld) -> None:
    made = world.post(FILE, {"path": "été/n 1.md", "content": "one\n"})

    saved = world.send(
        "PUT",
        f"{FILE}/save",
        {"path": "été/n 1.md", "content": "two\n", "etag": made.json["etag"]},
    )

    assert made.headers["etag"] == f'"{made.json["etag"]}"'
    assert (saved.status, saved.headers["etag"]) == (200, f'"{saved.json["etag"]}"')
    assert text(world, "été/n 1.md") == "two\n"


def test_a_read_gives_the_etag_as_a_header(world: RestWorld) -> None:
    assert world.get(f"{FILE}?path=a.md").headers["etag"] == f'"{etag(world)}"'


@pytest.mark.parametrize("by_header", [False, True])
def test_a_stale_save_is_told_the_current_etag_and_the_difference(
    world: RestWorld, *, by_header: bool
) -> None:
    stale = etag(world)
    world.change("append_to_file", {"vault": "notes", "path": "a.md", "content": "theirs"})
    body = {"path": "a.md", "content": "mine\n"}
    headers = {"If_Match": f'"{stale}"'} if by_header else {}

    answer = world.send(
        "PUT", f"{FILE}/save", body if by_header else {**body, "etag": stale}, **headers
    )

    assert error(answer) == (412 if by_header else 409, "conflict")
    assert answer.json["error"]["details"]["etag"] == etag(world)
    assert "-theirs" in answer.json["error"]["details"]["diff"]
    assert "theirs" in text(world, "a.md")


@pytest.mark.parametrize("tool", ["delete_file", "rename_file", "append_to_file", "move_path"])
def test_a_condition_holds_for_every_change_of_one_file(world: RestWorld, tool: str) -> None:
    assert error(request(world, tool, If_Match='"other"')) == (412, "conflict")
    assert request(world, tool, If_Match=f'W/"{etag(world)}"').status == 200


def test_saving_needs_the_version_it_is_based_on(world: RestWorld) -> None:
    body = {"path": "a.md", "content": "mine\n"}

    assert error(world.send("PUT", f"{FILE}/save", body)) == (400, "etag_required")
    assert world.send("PUT", f"{FILE}/save", body, If_Match="*").status == 200


def test_a_body_cannot_name_another_vault(world: RestWorld) -> None:
    world.vault("private", owner=principal(BOB))

    answer = world.post(FILE, {"vault": "private", "path": "x.md", "content": "x"})

    assert (answer.status, answer.json["vault"]) == (201, "notes")


@pytest.mark.parametrize(
    ("method", "address", "body", "told"),
    [
        ("POST", FILE, {"path": "a.md", "content": "x"}, (409, "file_exists")),
        ("POST", FILE, {"path": "b.md"}, (400, "invalid_arguments")),
        ("POST", FILE, {"path": "b.md", "content": "x", "y": 1}, (400, "invalid_arguments")),
        ("POST", FILE, {"path": "../b.md", "content": "x"}, (400, "invalid_path")),
        ("POST", FILE, {"path": "a.md/b.md", "content": "x"}, (409, "path_taken")),
        ("POST", FILE, {"path": "b.md", "content": "\ud800"}, (400, "invalid_arguments")),
        ("PATCH", FILE, {"path": "x.md", "new_name": "y.md"}, (404, "file_not_found")),
        ("PATCH", FILE, {"path": "a.md", "frontmatter": {"x": 1}}, (400, "invalid_arguments")),
        ("DELETE", f"{FILE}?path=x.md", None, (404, "file_not_found")),
        ("DELETE", FILE, None, (400, "invalid_arguments")),
        ("DELETE", f"{API}/directory/notes?path=dir", None, (409, "directory_not_empty")),
        ("POST", f"{API}/directory/notes/undelete", {"path": "x"}, (404, "directory_not_found")),
        ("POST", f"{API}/search/replace", {"find": "a", "replace": "b"}, (404, "vault_not_found")),
    ],
)
def test_a_change_that_cannot_be_is_refused(
    world: RestWorld,
    method: str,
    address: str,
    body: dict[str, Any] | None,
    told: tuple[int, str],
) -> None:
    assert error(world.send(method, address, body)) == told


def test_front_matter_changes_and_nothing_else(world: RestWorld) -> None:
    world.write(ref_of(world), "p.md", "---\ntitle:   Plan\ntags: [a]\n---\nBody  \n")

    world.send(
        "PATCH",
        FILE,
        {"path": "p.md", "frontmatter": {"set": {"done": True}, "remove": ["title"]}},
    )

    assert text(world, "p.md") == "---\ntags: [a]\ndone: true\n---\nBody  \n"


def test_a_dry_run_shows_what_would_be_replaced(world: RestWorld) -> None:
    body = {"vault": "notes", "find": "text", "replace": "words", "dry_run": True}

    answer = world.post(f"{API}/search/replace", body)

    assert answer.json["files"][0]["path"] == "a.md"
    assert "+some words" in answer.json["files"][0]["diff"]
    assert text(world, "a.md") == "some text\n"


def test_a_directory_comes_back(world: RestWorld) -> None:
    answer = request(world, "undelete_directory")

    assert (answer.json["restored"], answer.json["skipped"]) == (1, [])
    assert text(world, "gone/d.md") == "gone\n"


def test_a_change_of_many_files_goes_on_where_it_stopped(
    world: RestWorld, monkeypatch: pytest.MonkeyPatch
) -> None:
    for number in range(150):
        world.write(ref_of(world), f"dir/{number}.md", "x")
    delete = world.store.delete

    def slowly(vault: VaultRef, path: VaultPath, *, expected: ETag) -> None:
        world.clock.advance(seconds=1)
        delete(vault, path, expected=expected)

    monkeypatch.setattr(world.store, "delete", slowly)
    address = f"{API}/directory/notes?path=dir&recursive=true"

    first = world.send("DELETE", address)
    details = first.json["error"]["details"]
    monkeypatch.undo()
    foreign = world.send("DELETE", f"{address}&operation={details['operation']}", user="mallory")
    again = world.send("DELETE", f"{address}&operation={details['operation']}")

    assert error(first) == (503, "operation_unfinished")
    assert 0 < details["done"] < details["total"] == 151
    assert error(foreign) == (404, "vault_not_found")
    assert (again.status, again.json["deleted"]) == (200, 151)


def test_an_operation_of_nobody_is_not_gone_on_with(world: RestWorld) -> None:
    answer = world.send(
        "DELETE", f"{API}/directory/notes?path=dir&recursive=true&operation={'0' * 32}"
    )

    assert error(answer) == (404, "operation_not_found")


def test_changes_are_counted_with_all_other_calls() -> None:
    world = RestWorld(per_token=2)
    world.vault("notes")
    for number in range(2):
        world.post(FILE, {"path": f"{number}.md", "content": ""})

    assert error(world.post(FILE, {"path": "b.md", "content": ""})) == (429, "rate_limited")
