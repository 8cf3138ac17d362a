"""The addresses that find: each gives what its tool gives."""

from typing import Any
from urllib.parse import urlencode

import pytest

from tests.builders import BOB
from tests.entrypoints.rest_world import RestWorld

API = "/api/v1"
# The address, its tool, the arguments, and the list of the result; `vault` may be in the address.
ROUTES: list[tuple[str, str, dict[str, Any], str]] = [
    ("/search/advanced", "search_advanced", {"q": "pommes", "vault": "notes"}, "hits"),
    ("/tree-search", "search_paths", {"q": "plan"}, "paths"),
    ("/tags", "list_tags", {"vault": "notes"}, "tags"),
    ("/tags/suggest", "suggest_tags", {"q": "fru", "limit": 3}, "tags"),
    ("/recent", "list_recent", {"mode": "created", "limit": 2}, "files"),
    ("/graph/{vault}", "get_graph", {"vault": "notes", "path": "plan.md", "depth": 2}, "nodes"),
    (
        "/file/{vault}/backlinks",
        "get_backlinks",
        {"vault": "notes", "path": "à+b (1).md"},
        "backlinks",
    ),
]
every_route = pytest.mark.parametrize(("route", "tool", "arguments", "field"), ROUTES)


def address(route: str, arguments: dict[str, Any]) -> str:
    """The URL of a call; the vault stands in it where the route says so."""
    asked = {name: value for name, value in arguments.items() if f"{{{name}}}" not in route}
    return f"{API}{route.format(**arguments)}?{urlencode(asked)}"


@pytest.fixture
def world() -> RestWorld:
    """Alice has a few linked notes; Bob has nothing."""
    world = RestWorld()
    notes = world.vault("notes")
    world.write(notes, "plan.md", "Deux pommes, voir [[à+b (1)]]", tags=("fruit/pomme",))
    world.write(notes, "à+b (1).md", "pommes et [[plan]]", tags=("fruit",))
    return world


@every_route
def test_an_address_gives_what_its_tool_gives(
    world: RestWorld, route: str, tool: str, arguments: dict[str, Any], field: str
) -> None:
    answer = world.get(address(route, arguments))

    assert answer.status == 200
    assert answer.json[field]
    assert answer.json == world.call(tool, arguments)


@every_route
def test_an_address_shows_nothing_of_others_vaults(
    world: RestWorld, route: str, tool: str, arguments: dict[str, Any], field: str
) -> None:
    answer = world.get(address(route, arguments), user=BOB)

    if "vault" in arguments:
        assert (answer.status, answer.json["error"]["code"]) == (404, "vault_not_found")
    else:
        assert answer.json[field] == []


def test_a_list_is_given_by_repeating_its_parameter_or_by_commas(world: RestWorld) -> None:
    def found(query: str) -> list[str]:
        return [hit["path"] for hit in world.get(f"{API}/search/advanced?{query}").json["hits"]]

    assert found("include_paths=plan.md&include_paths=%C3%A0*&sort=path") == [
        "plan.md",
        "à+b (1).md",
    ]
    assert found("include_paths=plan.md,x*&sort=path") == ["plan.md"]
    assert found("exclude_paths=plan.md&sort=path") == ["à+b (1).md"]


def test_a_parameter_that_is_no_list_is_given_once(world: RestWorld) -> None:
    answer = world.get(f"{API}/search/advanced?vault=notes&vault=other")

    assert (answer.status, answer.json["error"]["code"]) == (400, "invalid_arguments")
