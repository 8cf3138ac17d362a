"""Real MCP clients change a vault of the running stack: in two steps, or asked by a form."""

import json
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import Any, Literal, cast

import httpx2
import pytest
from mcp import Client, MCPError, StdioServerParameters
from mcp.client import ClientRequestContext
from mcp.client.session import ElicitationFnT
from mcp.client.stdio import stdio_client
from mcp.client.streamable_http import streamable_http_client
from mcp_types import (
    CallToolResult,
    ElicitRequestParams,
    ElicitResult,
    ErrorData,
    InputRequiredResult,
)

from archivolt.domain.identity import Role
from tests.e2e.stack import Stack
from tests.e2e.test_mcp_clients import CLIENTS, NODE_PROGRAMS, environment, needs_node, output_of

pytestmark = pytest.mark.one_python

VAULT = "agents-changes"
YES = ElicitResult(action="accept", content={"confirm": True})
NO = ElicitResult(action="decline")

Json = dict[str, Any]


@pytest.fixture(scope="module")
def token(stack: Stack) -> str:
    """A personal token that may write in one vault."""
    with stack.client() as http:
        assert http.post("/api/v1/vaults", json={"name": VAULT}).status_code == 201
        wanted = {"name": "clients", "read_only": False, "vaults": [VAULT]}
        made = http.post("/api/v1/tokens", json=wanted)
    assert made.status_code == 201
    return made.json()["token"]


@pytest.fixture(scope="module")
def strangers_token(stack: Stack) -> str:
    """The token of somebody else in the tenant."""
    return stack.token(user="mallory", role=Role.VIEWER)


def new_file(path: str) -> Json:
    return {"vault": VAULT, "path": path, "content": f"# {path}\n"}


def is_there(stack: Stack, path: str) -> bool:
    with stack.client() as http:
        return http.get(f"/api/v1/file/{VAULT}", params={"path": path}).status_code == 200


def told(result: object) -> str:
    """Return the text of a result."""
    return cast("Any", cast("CallToolResult", result).content[0]).text


class Answering:
    """A client that answers every form in the same way, and remembers what was asked."""

    def __init__(self, answer: ElicitResult) -> None:
        self.asked: list[str] = []
        self._answer = answer

    async def __call__(
        self, context: ClientRequestContext, params: ElicitRequestParams
    ) -> ElicitResult | ErrorData:
        del context
        self.asked.append(params.message)
        return self._answer


@asynccontextmanager
async def connected(
    stack: Stack,
    token: str,
    mode: Literal["auto", "legacy"] = "auto",
    answering: ElicitationFnT | None = None,
) -> AsyncGenerator[Client]:
    headers = {"Authorization": f"Bearer {token}"}
    async with (
        httpx2.AsyncClient(headers=headers, timeout=60, trust_env=False) as http,
        Client(
            streamable_http_client(f"{stack.url}/mcp", http_client=http),
            mode=mode,
            elicitation_callback=answering,
        ) as client,
    ):
        yield client


# ------------------------------------------------------------------------------ from Python


@pytest.mark.anyio
@pytest.mark.parametrize("mode", ["auto", "legacy"])
async def test_the_python_client_proposes_and_applies_once_and_nobody_else_can(
    stack: Stack, token: str, strangers_token: str, mode: Literal["auto", "legacy"]
) -> None:
    path = f"python/{mode}.md"
    async with (
        connected(stack, token, mode) as client,
        connected(stack, strangers_token, mode) as stranger,
    ):
        proposed = await client.call_tool("propose_create_file", new_file(path))
        assert proposed.structured_content is not None
        given = {"confirmation_token": proposed.structured_content["confirmation_token"]}
        refused = await stranger.call_tool("apply_create_file", given)
        results = [await client.call_tool("apply_create_file", given) for _ in range(2)]
        unasked = await client.call_tool("apply_create_file", new_file("python/unasked.md"))

    assert "diff:\n" in told(proposed)
    assert told(refused).startswith("confirmation_invalid: ")
    assert results[0].structured_content == results[1].structured_content
    assert told(results[0]).startswith(f"vault: {VAULT}\npath: {path}\n")
    assert "call propose_create_file first" in told(unasked)
    assert (is_there(stack, path), is_there(stack, "python/unasked.md")) == (True, False)


@pytest.mark.anyio
@pytest.mark.parametrize(("answer", "made"), [(YES, True), (NO, False)])
async def test_the_python_client_asks_its_person_and_makes_the_change_in_one_call(
    stack: Stack, token: str, answer: ElicitResult, *, made: bool
) -> None:
    answering = Answering(answer)
    path = f"python/{answer.action}.md"
    async with connected(stack, token, answering=answering) as client:
        result = await client.call_tool("apply_create_file", new_file(path))

    assert len(answering.asked) == 1
    assert f"+# {path}" in answering.asked[0]
    assert is_there(stack, path) is made
    assert result.structured_content is not None
    assert (result.structured_content == {"status": "declined"}) is not made


@pytest.mark.anyio
async def test_an_answered_question_is_of_no_use_to_anybody_again(
    stack: Stack, token: str, strangers_token: str
) -> None:
    arguments = new_file("python/replayed.md")
    never = Answering(NO)
    async with (
        connected(stack, token, answering=never) as client,
        connected(stack, strangers_token, answering=never) as stranger,
    ):
        asked = await client.session.call_tool(
            "apply_create_file", arguments, allow_input_required=True
        )
        assert isinstance(asked, InputRequiredResult)

        async def answer(by: Client, given: Json) -> CallToolResult:
            return await by.call_tool(
                "apply_create_file",
                given,
                input_responses={"confirm": YES},
                request_state=asked.request_state,
            )

        with pytest.raises(MCPError, match="requestState"):
            await answer(stranger, arguments)
        with pytest.raises(MCPError, match="requestState"):
            await answer(client, new_file("python/another.md"))
        results = [await answer(client, arguments) for _ in range(2)]

    assert results[0].structured_content == results[1].structured_content
    assert not never.asked
    assert is_there(stack, "python/replayed.md")
    assert not is_there(stack, "python/another.md")
    with stack.client() as http:
        backups = http.get(
            f"/api/v1/file/{VAULT}/backups", params={"path": "python/replayed.md"}
        ).json()
    assert len(backups["backups"]) == 1


# -------------------------------------------------------------------------- from TypeScript


@needs_node
@pytest.mark.parametrize(("sdk", "shows_forms"), [("v1", False), ("v2", True)])
def test_the_typescript_clients_change_in_two_steps_and_where_they_can_by_a_form(
    stack: Stack, token: str, strangers_token: str, sdk: str, *, shows_forms: bool
) -> None:
    files = [new_file(f"{sdk}/{name}.md") for name in ("proposed", "agreed", "declined")]
    command = [
        *("node", str(CLIENTS / "change.mjs"), sdk, f"{stack.url}/mcp", token, strangers_token),
        *("create_file", *map(json.dumps, files)),
    ]

    walked: Json = json.loads(output_of(command, environment(stack, "")))

    assert walked["preview"]["summary"] == f"Créer le fichier {sdk}/proposed.md."
    assert walked["strange"].startswith("confirmation_invalid: Ce jeton")
    assert walked["applied"] == walked["again"]
    assert walked["altered"].startswith("confirmation_invalid: Ce jeton")
    assert [f"+# {sdk}/" in question for question in walked["asked"]] == [True] * 2 * shows_forms
    if shows_forms:
        assert walked["agreed"]["path"] == "v2/agreed.md"
        assert walked["declined"] == {"status": "declined"}
    else:
        assert walked["agreed"].startswith("confirmation_unasked: ")
        assert walked["declined"].startswith("confirmation_unasked: ")
    there = [is_there(stack, file["path"]) for file in files]
    assert there == [True, shows_forms, False]


# ------------------------------------------------------- by a bridge, and by the inspector


@needs_node
@pytest.mark.anyio
async def test_a_client_behind_mcp_remote_changes_in_two_steps(stack: Stack, token: str) -> None:
    bridge = StdioServerParameters(
        command=str(NODE_PROGRAMS / "mcp-remote"),
        args=[
            *(f"{stack.url}/mcp", "--transport", "http-only"),
            *("--header", "Authorization:${AUTHORIZATION}"),
        ],
        env=environment(stack, "") | {"AUTHORIZATION": f"Bearer {token}"},
    )

    async with Client(stdio_client(bridge), mode="legacy") as client:
        proposed = await client.call_tool("propose_create_file", new_file("bridge.md"))
        assert proposed.structured_content is not None
        given = {"confirmation_token": proposed.structured_content["confirmation_token"]}
        results = [await client.call_tool("apply_create_file", given) for _ in range(2)]

    assert results[0].structured_content == results[1].structured_content
    assert is_there(stack, "bridge.md")


def inspected(stack: Stack, token: str, tool: str, arguments: Json) -> Json:
    """Return the result of a tool called by the inspector."""
    command = [
        *("mcp-inspector", "--cli", f"{stack.url}/mcp", "--method", "tools/call"),
        *("--header", f"Authorization: Bearer {token}", "--format", "json", "-q"),
        *("--tool-name", tool),
    ]
    command += [
        part for name, value in arguments.items() for part in ("--tool-arg", f"{name}={value}")
    ]
    told: Json = json.loads(output_of(command, environment(stack, "")))
    return told.get("result", told)


@needs_node
def test_the_inspector_changes_in_two_steps(stack: Stack, token: str) -> None:
    path = "inspected.md"
    proposed = inspected(stack, token, "propose_create_file", new_file(path))
    given = {"confirmation_token": proposed["structuredContent"]["confirmation_token"]}

    applied = inspected(stack, token, "apply_create_file", given)

    assert applied["structuredContent"]["path"] == path
    assert is_there(stack, path)


# ------------------------------------------------------------------- where a person agrees

CAROLS = {"vault": "carols", "path": "plan.md", "content": "# Plan\n"}


class Opening:
    """A client that opens a page in its person's browser; they agree there before it goes on."""

    def __init__(self, stack: Stack, person: httpx2.Client) -> None:
        self.opened: list[str] = []
        self._stack = stack
        self._person = person

    async def __call__(
        self, context: ClientRequestContext, params: ElicitRequestParams
    ) -> ElicitResult | ErrorData:
        del context
        assert params.mode == "url"
        self.opened.append(params.url)
        with self._stack.client("") as browser:
            stranger = browser.get(params.url, headers={"Authorization": ""})
        assert stranger.status_code == 303, stranger.text
        assert stranger.headers["location"].startswith(f"{self._stack.url}/oauth/sign-in?")
        confirmation = params.url.rpartition("/")[2]
        approved = self._person.post(f"/api/v1/confirmations/{confirmation}/approve")
        assert approved.status_code == 200
        return ElicitResult(action="accept")


@pytest.mark.anyio
async def test_where_only_the_product_counts_a_person_agrees_there_and_nothing_else_is_a_yes(
    stack: Stack,
) -> None:
    person = stack.token(user="carol", role=Role.VIEWER)
    agent = stack.token(user="carol", role=Role.VIEWER, audience=f"{stack.url}/mcp")
    with stack.client(person) as http:
        assert http.post("/api/v1/vaults", json={"name": "carols"}).status_code == 201
        own = http.put("/api/v1/me/settings", json={"human_confirmation_in_product": True})
        assert own.json()["in_force"] == "product"

        opening = Opening(stack, http)
        async with (
            connected(stack, agent) as alone,
            connected(stack, agent, answering=opening) as client,
        ):
            proposed = await alone.call_tool("propose_create_file", CAROLS)
            assert proposed.structured_content is not None
            given = {"confirmation_token": proposed.structured_content["confirmation_token"]}
            silent = await alone.call_tool("apply_create_file", given)
            [waiting] = http.get("/api/v1/confirmations").json()["confirmations"]
            with stack.client(agent) as program:
                refused = program.post(f"/api/v1/confirmations/{waiting['id']}/approve")
            declined = http.post(f"/api/v1/confirmations/{waiting['id']}/decline")
            made = await client.call_tool("apply_create_file", CAROLS)

    assert told(silent).startswith("human_confirmation_required: ")
    assert waiting["preview"]["summary"] == "Create the file plan.md."
    assert (refused.status_code, declined.status_code) == (403, 200)
    assert [page.rpartition("/")[0] for page in opening.opened] == [f"{stack.url}/approve"]
    assert made.structured_content is not None
    assert made.structured_content["path"] == "plan.md"
