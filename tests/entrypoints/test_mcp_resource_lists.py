"""The list of resources: vaults, documents, pages, and the forms of their addresses."""

import base64
from typing import Any

import pytest

from archivolt.domain.limits import RESOURCES_PAGE
from archivolt.domain.vault import VaultRef
from tests.builders import ALICE
from tests.entrypoints.mcp_messages import legacy, modern
from tests.entrypoints.mcp_world import McpWorld, Send

EVERY_ERA = pytest.mark.parametrize("send", [legacy, modern])


@pytest.fixture
def notes_world() -> tuple[McpWorld, VaultRef]:
    world = McpWorld()
    notes = world.vault("notes")
    world.write(notes, "garden.md", "# Garden\nPlant tulips.")
    world.write(notes, "keys.md", "no key here")
    world.write(notes, "Été 2026/à+b (1).md", "chaleur")
    world.write(notes, "Été 2026/photo.png", b"\x89PNG")
    return world, notes


@pytest.fixture
def world(notes_world: tuple[McpWorld, VaultRef]) -> McpWorld:
    return notes_world[0]


def listed(world: McpWorld, *, token: str = ALICE, send: Send = modern) -> list[dict[str, Any]]:
    """Follow the cursors to the end; return every resource."""
    resources: list[dict[str, Any]] = []
    params: dict[str, Any] = {}
    while True:
        page = world.send(send("resources/list", params), token=token).json["result"]
        resources += page["resources"]
        if "nextCursor" not in page:
            return resources
        params = {"cursor": page["nextCursor"]}


@EVERY_ERA
def test_the_list_is_the_vaults_and_then_their_files(world: McpWorld, send: Send) -> None:
    world.vault("archive")

    resources = listed(world, send=send)

    assert [resource["uri"] for resource in resources] == [
        "vault://archive",
        "vault://notes",
        "vault://notes/garden.md",
        "vault://notes/keys.md",
        "vault://notes/%C3%89t%C3%A9%202026/photo.png",
        "vault://notes/%C3%89t%C3%A9%202026/%C3%A0%2Bb%20%281%29.md",
    ]
    assert resources[2] == {
        "uri": "vault://notes/garden.md",
        "name": "garden.md",
        "title": "garden.md",
        "mimeType": "text/markdown",
        "size": 22,
    }


def test_a_long_list_comes_in_pages_with_everything_once(world: McpWorld) -> None:
    for vault in ("a", "b", "z"):
        ref = world.vault(vault)
        for number in range(RESOURCES_PAGE + 20):
            world.write(ref, f"{number:04}.bin", b"\x00")

    first = world.send(modern("resources/list")).json["result"]
    uris = [resource["uri"] for resource in listed(world)]

    assert len(first["resources"]) == RESOURCES_PAGE
    assert len(uris) == len(set(uris)) == 4 + 4 + 3 * (RESOURCES_PAGE + 20)
    assert "vault://z/0119.bin" in uris


def test_a_list_is_private(world: McpWorld) -> None:
    result = world.send(modern("resources/list")).json["result"]

    assert (result["ttlMs"], result["cacheScope"]) == (0, "private")


@pytest.mark.parametrize("token", ["bob", "carol"])
def test_who_is_a_member_of_nothing_gets_an_empty_list(world: McpWorld, token: str) -> None:
    assert listed(world, token=token) == []


def test_a_cursor_opens_no_foreign_vault(notes_world: tuple[McpWorld, VaultRef]) -> None:
    world, notes = notes_world
    for number in range(RESOURCES_PAGE + 1):
        world.write(notes, f"n{number}.bin", b"\x00")
    cursor = world.send(modern("resources/list")).json["result"]["nextCursor"]

    result = world.send(modern("resources/list", {"cursor": cursor}), token="bob").json["result"]

    assert result["resources"] == []


@pytest.mark.parametrize(
    "cursor",
    ["", "x", "é", "bnVsbA==", base64.urlsafe_b64encode(b'["notes", 7]').decode(), "WzFd", "/w=="],
)
def test_a_cursor_that_is_none_of_ours_is_invalid(world: McpWorld, cursor: str) -> None:
    error = world.send(modern("resources/list", {"cursor": cursor})).json["error"]

    assert error == {"code": -32602, "message": "Invalid cursor"}


@EVERY_ERA
def test_the_forms_of_our_addresses_are_told(world: McpWorld, send: Send) -> None:
    result = world.send(send("resources/templates/list")).json["result"]

    templates = [template["uriTemplate"] for template in result["resourceTemplates"]]
    assert templates == ["vault://{vault}", "vault://{vault}/{+path}"]
