"""MCP servers of others that say too much, or what nobody asked; and calls that are called off."""

import asyncio
import json
import tracemalloc
from collections.abc import Callable, Generator
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import cast

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from archivolt.adapters.mcp.structure import Structure
from archivolt.chat.outside import in_thread
from archivolt.domain.errors import UnavailableError
from archivolt.domain.federation import McpTarget
from archivolt.domain.federation_limits import (
    MAX_MCP_ANSWER_BYTES,
    MAX_MCP_PARTS,
    MAX_MCP_RESUMED,
    MAX_MCP_TEXT_CHARS,
    MAX_MCP_VALUES,
)
from tests.e2e.stack import wait_until
from tests.fakes.mcp_http_server import JSON, mcp_http_server
from tests.fakes.mcp_program import READS, Json, Script, text, tool
from tests.unit.adapters.test_mcp_client import Servers, address, opened, program

SSE = "text/event-stream"
NO_SESSION = (
    b'{"jsonrpc": "2.0", "id": null, "error": {"code": -32001, "message": "Session not found"}}'
)


@pytest.fixture
def servers() -> Generator[Servers]:
    with opened(Servers()) as made:
        yield made


def listing(*tools: Json) -> Script:
    script = Script()
    script.listed = [*script.listed, *tools]
    return script


def event(message: object) -> bytes:
    return f"data: {json.dumps(message)}\n\n".encode()


def content(file: Path) -> str:
    return file.read_text(encoding="utf-8") if file.exists() else ""


def lives(pid: str) -> bool:
    """Tell whether a program runs: one that nobody has buried yet does not."""
    try:
        return ") Z " not in Path(f"/proc/{pid}/stat").read_text(encoding="utf-8")
    except OSError:
        return False


def stopped(
    servers: Servers, target: McpTarget, name: str, is_time: Callable[[], bool]
) -> UnavailableError:
    """Call a tool in a turn that is stopped when it is time; return how the call failed."""
    failures: list[UnavailableError] = []

    def work() -> None:
        try:
            servers.call(target, name)
        except UnavailableError as error:
            failures.append(error)

    async def turn() -> None:
        calling = asyncio.create_task(in_thread(work, outside=True))
        await asyncio.to_thread(wait_until, is_time)
        calling.cancel()

    asyncio.run(turn())
    wait_until(lambda: bool(failures))
    return failures[0]


def test_a_line_that_never_ends_breaks_the_connection_and_takes_little_memory(
    servers: Servers,
) -> None:
    tracemalloc.start()
    try:
        assert servers.failure(program("endless")) == "mcp_server_unavailable mcp_too_much"
        _, most = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()

    assert most < 4 * MAX_MCP_ANSWER_BYTES
    assert servers.pauses == []


@pytest.mark.parametrize("flood", ["endless", "chatter", "demand"])
def test_a_program_that_floods_amid_a_call_is_ended(servers: Servers, flood: str) -> None:
    pid = servers.call(program(), "pid")

    assert servers.failure(program(), flood, repeatable=False) == "mcp_call_cut mcp_too_much"

    wait_until(lambda: not lives(pid))
    assert servers.call(program(), "echo") == "{}"


def test_what_a_program_says_beside_the_protocol_goes_nowhere(servers: Servers) -> None:
    assert servers.call(program("noisy"), "echo", said="hi") == '{"said": "hi"}'


def test_a_program_may_log_a_line_to_its_output_with_every_call(servers: Servers) -> None:
    made = [servers.call(program(), "logging", repeatable=False) for _ in range(25)]

    assert made == ["{}"] * 25


def test_an_answer_to_nobody_and_a_second_one_are_passed_over(servers: Servers) -> None:
    assert servers.call(program(), "twofold") == "once"
    assert servers.call(program(), "echo", said="hi") == '{"said": "hi"}'


def test_a_program_that_wants_the_model_or_folders_gets_none_and_goes_on(servers: Servers) -> None:
    assert servers.call(program(), "sample") == "{}"
    assert servers.call(program(), "echo") == "{}"


def test_a_program_ends_with_what_it_started(servers: Servers) -> None:
    started = servers.call(program(), "spawn")
    assert lives(started)

    servers.client.close()

    wait_until(lambda: not lives(started))


@pytest.mark.parametrize("era", ["well", "modern"])
def test_a_call_whose_turn_is_stopped_is_called_off_at_its_server(
    servers: Servers, tmp_path: Path, era: str
) -> None:
    heard = tmp_path / "heard"
    target = program(era, str(heard))
    servers.call(target, "echo")

    failure = stopped(servers, target, "hang", lambda: content(heard) == "hanging")
    wait_until(lambda: "requestId" in content(heard))

    assert failure.code == "unavailable"
    lists = len(servers.lists)
    assert servers.call(target, "echo") == "{}"
    assert len(servers.lists) == lists + 1


def test_what_the_server_asks_of_a_stopped_call_is_asked_for_no_other(
    servers: Servers, tmp_path: Path
) -> None:
    heard = tmp_path / "heard"
    target = program("well", str(heard))
    with ThreadPoolExecutor(1) as pool:
        writing: list[Future[str]] = []

        def has_another_behind_it() -> bool:
            if content(heard) == "hanging" and not writing:
                writing.append(pool.submit(servers.call, target, "post", repeatable=False))
            return bool(writing)

        stopped(servers, target, "late", has_another_behind_it)

        assert writing[0].result() == "{}"
    assert servers.call(target, "post", repeatable=False) == "{}"


def test_a_call_that_takes_too_long_is_called_off_and_its_connection_tried_before_the_next(
    servers: Servers, tmp_path: Path
) -> None:
    heard = tmp_path / "heard"
    target = program("well", str(heard))
    servers.call(target, "echo")
    short = replace(target, seconds=2)

    def is_made() -> bool:
        # On a slow machine the time may be over before the call is made: then it is made again.
        assert servers.failure(short, "hang") == "mcp_call_timeout"
        return "hanging" in content(heard)

    wait_until(is_made)
    wait_until(lambda: "requestId" in content(heard))
    lists = len(servers.lists)
    servers.call(target, "echo")
    assert len(servers.lists) == lists + 1


@pytest.mark.parametrize(
    ("instead", "said"),
    [
        ((200, "text/plain", b"hello"), "Unexpected content type"),
        ((202, JSON, b""), "202 Accepted"),
        ((200, JSON, b"[" * 100_000), "Failed to parse"),
        ((200, JSON, b'{"jsonrpc": "2.0", "id": 1, "result": "\\ud800"}'), "Failed to parse"),
        ((200, SSE, b"data: hello\n\n"), "Failed to parse"),
        ((307, JSON, b""), ""),
    ],
)
def test_an_answer_that_is_none_is_the_failure_of_that_call(
    servers: Servers, instead: tuple[int, str, bytes], said: str
) -> None:
    with mcp_http_server(instead={"post": instead}) as server:
        result = servers.client.call(
            address(server.url), "k", "post", {}, check=lambda _: None, repeatable=False
        )
        assert result.failed
        assert said in result.text
        assert servers.call(address(server.url), "echo") == "{}"


@pytest.mark.parametrize(
    "words",
    [b"{}", b'{"jsonrpc": "2.0", "id": null, "error": {"code": -32001, "message": "no session"}}'],
)
def test_a_call_whose_session_is_gone_is_made_in_a_new_one(servers: Servers, words: bytes) -> None:
    with mcp_http_server(instead={"post": (404, JSON, words)}) as server:
        assert servers.failure(address(server.url), "post", repeatable=False) == (
            "mcp_call_cut mcp_http_status"
        )
        assert len(servers.lists) == 2
        server.instead = {}
        servers.call(address(server.url), "post", repeatable=False)
        assert server.script.calls == [("post", {})]


def test_a_session_that_is_lost_beside_a_call_says_nothing_of_that_call(servers: Servers) -> None:
    with (
        mcp_http_server(
            script=Script(modern=True), instead={"pid": (404, JSON, NO_SESSION)}, hangs_in="post"
        ) as server,
        ThreadPoolExecutor(1) as pool,
    ):
        target = address(server.url)
        servers.call(target, "echo")
        writing = pool.submit(servers.call, target, "post", repeatable=False)
        assert server.is_hanging.wait(20)
        assert servers.failure(target, "pid") == "mcp_call_timeout"
        server.test_is_over.set()

        assert writing.result() == "{}"
        assert [name for name, _ in server.script.calls] == ["echo", "post"]


@pytest.mark.parametrize("kind", [SSE, f"{SSE}; charset=utf-16"])
def test_an_answer_of_megabytes_in_an_event_is_read_as_utf_8(servers: Servers, kind: str) -> None:
    answer = {"jsonrpc": "2.0", "id": 1, "result": text("[," * 1_000_000)}
    with mcp_http_server(instead={"echo": (200, kind, event(answer))}) as server:
        assert len(servers.call(address(server.url), "echo")) == MAX_MCP_TEXT_CHARS


@pytest.mark.parametrize("kind", [JSON, SSE])
def test_an_answer_that_is_too_large_is_not_asked_for_again(servers: Servers, kind: str) -> None:
    large = b"data: " * (kind == SSE) + b"x" * (MAX_MCP_ANSWER_BYTES + 1)
    with mcp_http_server(instead={"echo": (200, kind, large)}) as server:
        assert servers.failure(address(server.url)) == "mcp_call_cut mcp_too_much"
        assert len(servers.lists) == 1
        assert servers.call(address(server.url), "post") == "{}"


def test_a_stream_that_breaks_off_at_once_is_not_opened_for_ever(servers: Servers) -> None:
    with mcp_http_server(
        beside={"mcp-session-id": "s1"}, news=b"retry: 0\nid: 1\ndata: \n\n"
    ) as server:
        assert servers.call(address(server.url), "echo") == "{}"
        wait_until(lambda: server.streams >= MAX_MCP_RESUMED)
        assert servers.call(address(server.url), "echo") == "{}"
        servers.client.close()

    # Once more with each request: the list's and those of two calls.
    assert server.streams <= 4 * MAX_MCP_RESUMED


def test_an_answer_that_is_cut_off_again_and_again_breaks_the_connection(servers: Servers) -> None:
    cut = (200, SSE, b"retry: 0\nid: 1\ndata: \n\n")
    with mcp_http_server(instead={"post": cut}, news=cut[2]) as server:
        failed = servers.failure(address(server.url), "post", repeatable=False)

        assert failed == "mcp_call_cut mcp_too_much"
        assert server.streams <= MAX_MCP_RESUMED
        assert servers.call(address(server.url), "echo") == "{}"


def test_what_a_server_declares_of_its_results_is_not_run(servers: Servers) -> None:
    slow = {"type": "object", "properties": {"a": {"pattern": "^(a+)+$"}}, "$ref": "#/$defs/none"}
    script = listing(tool("typed", READS) | {"outputSchema": slow})
    typed = {"a": "a" * 40 + "!"}
    result: Json = {"content": [], "structuredContent": typed}
    answer: Json = {"jsonrpc": "2.0", "id": 1, "result": result}
    with mcp_http_server(script=script, instead={"typed": (200, SSE, event(answer))}) as server:
        assert json.loads(servers.call(address(server.url), "typed")) == typed


def test_pictures_and_documents_in_an_answer_are_named_or_read(servers: Servers) -> None:
    blocks: list[Json] = [
        {"type": "image", "mimeType": "image/png", "data": "AAAA"},
        {"type": "resource", "resource": {"uri": "a://b", "text": "a page"}},
        {"type": "resource", "resource": {"uri": "a://b", "blob": "AAAA", "mimeType": "x/y"}},
        {"type": "resource_link", "name": "notes", "uri": "a://c"},
    ]
    answer = {"jsonrpc": "2.0", "id": 1, "result": {"content": blocks}}
    with mcp_http_server(instead={"echo": (200, SSE, event(answer))}) as server:
        assert servers.call(address(server.url), "echo").split("\n\n") == [
            "[image image/png: 3 bytes, left out]",
            "a page",
            "[resource x/y: 3 bytes, left out]",
            "[resource notes: a://c]",
        ]


@pytest.mark.parametrize(
    ("tools", "letters"), [(1, MAX_MCP_ANSWER_BYTES // 4), (MAX_MCP_PARTS // 3, 0)]
)
def test_a_list_without_end_is_given_up(servers: Servers, tools: int, letters: int) -> None:
    class Endless(Script):
        lists = 0

        def answer(self, method: str, params: Json) -> Json:
            self.lists += method == "tools/list"
            more = {"nextCursor": "on"} if method == "tools/list" else {}
            return super().answer(method, params) | more

    script = Endless()
    script.listed = [tool("echo") | {"description": "x" * letters}] * tools
    with mcp_http_server(script=script) as server, pytest.raises(UnavailableError) as failed:
        servers.client.tools(address(server.url))

    assert failed.value.details["reason"] == "mcp_too_much"
    assert script.lists < 6


def test_ten_thousand_tools_of_any_name_are_listed_and_no_more(servers: Servers) -> None:
    script = Script()
    script.listed = [tool(f"a/\u202e{number} é\0") for number in range(MAX_MCP_PARTS)]
    with mcp_http_server(script=script) as server:
        assert len(servers.client.tools(address(server.url))) == MAX_MCP_PARTS
        script.listed.append(tool("more"))
        with pytest.raises(UnavailableError) as failed:
            servers.client.tools(address(server.url))

    assert failed.value.details["reason"] == "mcp_too_much"


def test_a_result_in_too_many_pieces_is_not_taken_apart(servers: Servers) -> None:
    blocks = [{"type": "text", "text": ""}] * (MAX_MCP_PARTS + 1)
    answer: Json = {"jsonrpc": "2.0", "id": 1, "result": {"content": blocks}}
    with mcp_http_server(instead={"echo": (200, SSE, event(answer))}) as server:
        assert servers.failure(address(server.url)) == "mcp_call_cut mcp_too_much"


@pytest.mark.parametrize("kind", [JSON, SSE])
def test_an_answer_of_too_many_values_is_not_read(servers: Servers, kind: str) -> None:
    answer = b'{"jsonrpc":"2.0","id":1,"result":{"content":[],"structuredContent":{"a":[%s0]}}}'
    sent = answer % (b"0," * MAX_MCP_VALUES)
    # A mark in what is no message hides nothing.
    said = b': "\ndata: ' + sent + b"\n\n" if kind == SSE else sent
    with mcp_http_server(instead={"echo": (200, kind, said)}) as server:
        assert servers.failure(address(server.url)) == "mcp_call_cut mcp_too_much"
        assert servers.call(address(server.url), "post") == "{}"


def test_a_line_of_too_many_values_is_not_read(servers: Servers) -> None:
    assert servers.failure(program(), "values") == "mcp_call_cut mcp_too_much"
    assert (
        servers.call(program(), "echo", said='{"[' * MAX_MCP_VALUES).count("[") > MAX_MCP_VALUES / 2
    )


@given(
    st.recursive(
        st.text('a\\"{[,\n', max_size=5),
        lambda each: (
            st.lists(each, max_size=3) | st.dictionaries(st.text('"\\,{'), each, max_size=3)
        ),
        max_leaves=10,
    ),
    st.integers(1, 5),
)
@settings(max_examples=30)
def test_values_are_counted_whatever_strings_hold_and_however_they_come(
    said: object, size: int
) -> None:
    def values(each: object) -> int:
        if isinstance(each, dict):
            each = list(cast("dict[str, object]", each).values())
        if isinstance(each, list):
            inner = cast("list[object]", each)
            return max(1, len(inner)) + sum(map(values, inner))
        return 0

    line, structure = json.dumps(said).encode(), Structure()
    pieces = [line[start : start + size] for start in range(0, len(line), size)]
    assert sum(map(structure.values_in, pieces)) == values(said)
