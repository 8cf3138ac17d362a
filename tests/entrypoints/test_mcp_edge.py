"""The edge with small servers: what it does whatever the handlers are."""

import json
from collections.abc import Callable
from typing import Any

import pytest
from mcp.server import Server
from mcp.server.context import ServerRequestContext
from mcp_types import (
    CallToolRequestParams,
    CallToolResult,
    ListToolsResult,
    PaginatedRequestParams,
    TextContent,
    Tool,
)

from archivolt.entrypoints.mcp.edge import Edge
from archivolt.entrypoints.mcp.wire import Post, Reply
from tests.entrypoints.mcp_messages import Sent, legacy, modern

pytestmark = pytest.mark.anyio

Context = ServerRequestContext[Any, Any]
Send = Callable[..., Sent]


class CountingTools:
    """Handlers that count how often the list is made, report progress, and fail on demand."""

    def __init__(self) -> None:
        self.listed = 0

    async def list_tools(
        self, context: Context, params: PaginatedRequestParams | None
    ) -> ListToolsResult:
        self.listed += 1
        return ListToolsResult(tools=[Tool(name="wait", input_schema={"type": "object"})])

    async def call_tool(self, context: Context, params: CallToolRequestParams) -> CallToolResult:
        if params.name == "broken":
            raise KeyError("the password is hunter2")
        await context.session.report_progress(1, 2, "half")
        return CallToolResult(content=[TextContent(text=f"for {context.request}")])


def an_edge(tools: CountingTools | None = None) -> Edge:
    handlers = tools or CountingTools()
    server: Server[Any] = Server(
        "test", on_list_tools=handlers.list_tools, on_call_tool=handlers.call_tool
    )
    return Edge(server, constant=frozenset({"tools/list"}))


def a_post(sent: Sent, **headers: str) -> Post:
    every = {**sent.headers, **{name.replace("_", "-"): value for name, value in headers.items()}}
    body = json.dumps(sent.body).encode()
    return Post(headers=every, header_lines=list(every.items()), body=body, caller="alice")


def the_message(reply: Reply) -> dict[str, Any]:
    return json.loads(reply.body)


async def test_a_handler_is_given_the_caller() -> None:
    reply = await an_edge().answer(a_post(modern("tools/call", {"name": "wait"})))

    assert the_message(reply)["result"]["content"][0]["text"] == "for alice"


@pytest.mark.parametrize("send", [legacy, modern])
async def test_progress_travels_ahead_of_the_result_to_a_client_that_takes_streams(
    send: Send,
) -> None:
    sent = send("tools/call", {"name": "wait"})
    sent.body["params"].setdefault("_meta", {})["progressToken"] = "p"

    reply = await an_edge().answer(a_post(sent, accept="application/json, text/event-stream"))

    assert reply.content_type == "text/event-stream"
    lines = [line for line in reply.body.decode().split("\r\n") if line.startswith("data: ")]
    progress, result = (json.loads(line.removeprefix("data: ")) for line in lines)
    assert progress["params"] == {
        "progressToken": "p",
        "progress": 1,
        "total": 2,
        "message": "half",
    }
    assert result["id"] == 1


async def test_without_a_progress_token_there_is_nothing_but_the_result() -> None:
    sent = modern("tools/call", {"name": "wait"})

    reply = await an_edge().answer(a_post(sent, accept="application/json, text/event-stream"))

    assert reply.content_type == "application/json"


async def test_progress_is_dropped_for_a_client_that_takes_json_only() -> None:
    sent = modern("tools/call", {"name": "wait"})
    sent.body["params"]["_meta"]["progressToken"] = "p"

    reply = await an_edge().answer(a_post(sent, accept="application/json"))

    assert the_message(reply)["result"]["content"][0]["text"] == "for alice"


@pytest.mark.parametrize("send", [legacy, modern])
async def test_a_failing_handler_tells_nothing_of_its_reason(send: Send) -> None:
    reply = await an_edge().answer(a_post(send("tools/call", {"name": "broken"})))

    assert reply.status == 200
    assert the_message(reply)["error"] == {"code": -32603, "message": "Internal error"}


@pytest.mark.parametrize("send", [legacy, modern])
async def test_a_constant_list_is_made_once_and_answered_under_each_id(send: Send) -> None:
    tools = CountingTools()
    edge = an_edge(tools)

    first = await edge.answer(a_post(send("tools/list", request_id=1)))
    second = await edge.answer(a_post(send("tools/list", {}, request_id="two")))

    assert tools.listed == 1
    assert the_message(second)["id"] == "two"
    assert the_message(second)["result"] == the_message(first)["result"]


async def test_each_version_keeps_a_list_of_its_own() -> None:
    edge = an_edge()

    old = await edge.answer(a_post(legacy("tools/list")))
    new = await edge.answer(a_post(modern("tools/list")))

    assert "resultType" not in the_message(old)["result"]
    assert the_message(new)["result"]["resultType"] == "complete"


async def test_a_kept_list_does_not_excuse_a_malformed_request() -> None:
    edge = an_edge()
    await edge.answer(a_post(legacy("tools/list")))

    reply = await edge.answer(a_post(legacy("tools/list", {"cursor": 7})))

    assert the_message(reply)["error"]["code"] == -32602
