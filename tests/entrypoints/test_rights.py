"""The table of rights, cell by cell: every route, page and tool, each with every role."""

import re
from collections.abc import Iterator, Mapping
from functools import cache
from typing import Any, NoReturn, cast

import pytest
from starlette.routing import Route
from starlette.testclient import TestClient

from archivolt.domain.errors import ForbiddenError, NotFoundError
from archivolt.domain.identity import Principal, Role, TokenKind, TokenReach
from archivolt.domain.rights import PAGES, RIGHTS, Caller, Right
from archivolt.domain.tool import Surface
from archivolt.domain.tool_rights import TOOL_ROLES
from archivolt.entrypoints.browser.app import PAGE_ROUTES
from archivolt.entrypoints.browser.endpoints import endpoint_routes
from archivolt.entrypoints.http.authentication import Gate
from archivolt.entrypoints.http.openapi import product_openapi
from archivolt.entrypoints.http.tools_app import create_tools_app
from archivolt.runs.tools import run_tools
from archivolt.tools.catalogue import native_tools
from archivolt.tools.registry import Registry
from tests.builders import principal
from tests.chat_world import ChatWorld
from tests.entrypoints.browser_world import Browser, BrowserWorld
from tests.entrypoints.mcp_messages import legacy
from tests.entrypoints.mcp_world import McpWorld
from tests.entrypoints.rest_world import rest_services
from tests.entrypoints.test_chat_http import chat_application
from tests.fakes.governance import KnownTokens
from tests.world import World

PERSONAS: Mapping[str, Principal] = {
    **{role.value: principal(role.value, role=role) for role in Role},
    **{f"{role}'s agent": principal(role.value, role=role, kind=TokenKind.MCP) for role in Role},
    **{
        f"{role}'s token": principal(role.value, role=role, kind=TokenKind.PERSONAL)
        for role in Role
    },
}
REFUSALS = {"forbidden", "person_required"}
_PLACE = re.compile(r"{\w+}")


def _no_services() -> NoReturn:
    raise LookupError("a description of routes needs no services")


@cache
def operations() -> list[tuple[str, str, str, bool]]:
    """Every operation that is described: its id, method and path, and whether it takes a token."""
    document = product_openapi(create_tools_app(_no_services))
    return [
        (operation["operationId"], method.upper(), path, bool(operation.get("security")))
        for path, item in document["paths"].items()
        for method, operation in item.items()
    ]


OPERATIONS = {operation: (method, path) for operation, method, path, _ in operations()}
WITH_A_TOKEN = [each for each in OPERATIONS if RIGHTS[each].caller is not Caller.ANYBODY]


@pytest.fixture(scope="module")
def doors() -> Iterator[tuple[TestClient, TestClient]]:
    """The applications of the tools function and of the chat, with a token for each persona."""
    world, tokens = World(per_token=100_000, per_tool=100_000), KnownTokens(dict(PERSONAS))
    tools = create_tools_app(lambda: rest_services(world, tokens))
    chat = chat_application(ChatWorld(), tokens)
    with (
        TestClient(tools, raise_server_exceptions=False) as one,
        TestClient(chat, raise_server_exceptions=False) as other,
    ):
        yield one, other


def told(doors: tuple[TestClient, TestClient], operation: str, token: str) -> str:
    """Return the code of the error that an operation answers, "" for none."""
    method, path = OPERATIONS[operation]
    door = doors[path.startswith(("/api/v1/chat/", "/api/v1/ai/", "/api/v1/agent/"))]
    headers = {"Authorization": f"Bearer {token}"} if token else {}
    answer = door.request(method, _PLACE.sub("acme", path), headers=headers)
    if answer.status_code < 400:
        return ""
    return answer.json()["error"]["code"]


def test_every_route_has_its_row_and_every_row_its_route() -> None:
    assert set(RIGHTS) == set(OPERATIONS)


def test_only_what_takes_no_token_is_for_anybody() -> None:
    public = {operation for operation, _, _, takes_token in operations() if not takes_token}

    assert public == {
        operation for operation, right in RIGHTS.items() if right.caller is Caller.ANYBODY
    }


@pytest.mark.parametrize("operation", [each for each in WITH_A_TOKEN if each != "mcp"])
def test_callers_are_let_in_as_the_table_says(
    doors: tuple[TestClient, TestClient], operation: str
) -> None:
    codes = {persona: told(doors, operation, persona) for persona in PERSONAS}

    assert {persona: code if code in REFUSALS else "" for persona, code in codes.items()} == {
        persona: _refusal(RIGHTS[operation], caller) for persona, caller in PERSONAS.items()
    }


def _refusal(right: Right, caller: Principal) -> str:
    if right.caller is Caller.PERSON and caller.kind is not TokenKind.INTERACTIVE:
        return "person_required"
    return "" if caller.role.includes(right.role) else "forbidden"


def test_nothing_but_the_public_is_answered_without_a_token(
    doors: tuple[TestClient, TestClient],
) -> None:
    for operation in WITH_A_TOKEN:
        if operation != "mcp":
            assert told(doors, operation, "") == "missing_token", operation
            assert told(doors, operation, "nobody's") == "invalid_token", operation
    assert McpWorld().send(legacy("ping"), token=None).status == 401


def test_a_token_that_reads_only_changes_nothing_by_a_persons_hand() -> None:
    reader = Principal(
        tenant=principal().tenant,
        user=principal().user,
        role=Role.CPI_ADMIN,
        token_id="t",
        reach=TokenReach(read_only=True),
    )
    app = create_tools_app(lambda: rest_services(World(), KnownTokens({"reader": reader})))
    with TestClient(app) as http:
        headers = {"Authorization": "Bearer reader"}
        made = http.post("/api/v1/tenants", json={"id": "initech"}, headers=headers)

        assert made.json()["error"]["code"] == "token_read_only"
        assert http.get("/api/v1/tenants", headers=headers).status_code == 200


def test_a_route_without_a_row_lets_nobody_in() -> None:
    app = create_tools_app(lambda: rest_services(World(), KnownTokens({"root": principal()})))
    app.state.gate = Gate(rights={"list_tools": Right(caller=Caller.PROGRAM)})
    with TestClient(app, raise_server_exceptions=False) as http:
        headers = {"Authorization": "Bearer root"}

        assert http.get("/api/v1/tools", headers=headers).status_code == 200
        assert http.get("/api/v1/vaults", headers=headers).status_code == 500


def pages() -> Iterator[tuple[str, str]]:
    for make in (*PAGE_ROUTES, endpoint_routes):
        for route in make(cast("Any", _no_services)):
            assert isinstance(route, Route)
            yield from ((route.path, method) for method in route.methods or () if method != "HEAD")


def test_every_page_has_its_row() -> None:
    assert {path for path, _ in pages()} == set(PAGES)


@pytest.mark.parametrize(("path", "method"), sorted(pages()))
def test_pages_for_people_are_shown_to_nobody_who_has_not_signed_in(path: str, method: str) -> None:
    world = BrowserWorld()
    url = world.authorize_url() if path == "/oauth/authorize" else _PLACE.sub("c1", path)
    browser = Browser(world)
    answer = browser.get(url) if method == "GET" else browser.submit(url, {})

    asked_to_sign_in = answer.status == 303 and "/oauth/sign-in" in answer.headers["location"]
    foreign = answer.status == 403 and b"page" in answer.body
    if PAGES[path] is Caller.PERSON:
        assert asked_to_sign_in or foreign
    else:
        assert not asked_to_sign_in


def every_tool() -> Registry:
    """Return the tools of all doors."""
    return native_tools().and_more(run_tools(_no_services))


class ToolsWorld(World):
    """The world with the tools of all doors."""

    def tools(self) -> Registry:
        return every_tool()


def test_every_tool_has_its_row_and_every_row_its_tool() -> None:
    every = {spec.name for surface in Surface for spec in every_tool().specs(surface)}

    assert every == set(TOOL_ROLES)


@pytest.mark.parametrize("surface", list(Surface))
@pytest.mark.parametrize("role", list(Role))
def test_a_tool_is_called_as_the_table_says(surface: Surface, role: Role) -> None:
    world = ToolsWorld(per_token=100_000, per_tool=100_000)
    for tool, least in TOOL_ROLES.items():
        code = _code_of(world, principal(role=role), tool, surface)
        assert (code == "forbidden") is not role.includes(least), tool


@pytest.mark.parametrize("least", list(Role))
def test_a_tool_for_a_stronger_role_is_refused_to_a_weaker_one(
    monkeypatch: pytest.MonkeyPatch, least: Role
) -> None:
    monkeypatch.setitem(cast("dict[str, Role]", TOOL_ROLES), "list_vaults", least)
    world = World()
    for role in Role:
        code = _code_of(world, principal(role=role), "list_vaults", Surface.MCP)
        assert (code == "forbidden") is not role.includes(least)


def _code_of(world: World, caller: Principal, tool: str, surface: Surface) -> str:
    try:
        world.call(tool, {}, by=caller, surface=surface)
    except (ForbiddenError, NotFoundError) as error:
        return error.code
    except Exception:  # noqa: BLE001  whatever else it says, the role was enough
        return ""
    return ""
