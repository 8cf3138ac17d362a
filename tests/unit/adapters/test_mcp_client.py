"""Speaking to MCP servers of others: programs and addresses, well ones and broken ones."""

import asyncio
import os
import sys
from collections.abc import Generator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from threading import Thread

import pytest

from archivolt.adapters.http.addresses import OutboundRules
from archivolt.adapters.mcp.client import SdkMcpClient
from archivolt.adapters.mcp.transports import Transports
from archivolt.domain.errors import ConflictError, UnavailableError
from archivolt.domain.federation import (
    PROXY_PLACE,
    McpAnswers,
    McpTarget,
    McpTool,
    McpTransport,
)
from archivolt.domain.federation_limits import (
    MAX_MCP_LINKS,
    MCP_IDLE_SECONDS,
)
from archivolt.domain.mcp_accounts import AccountNeededError
from archivolt.ports.clock import Clock
from tests.e2e.stack import wait_until
from tests.fakes import mcp_program
from tests.fakes.clock import FrozenClock
from tests.fakes.mcp_http_server import mcp_http_server
from tests.fakes.mcp_program import Script

LOOPBACK = OutboundRules(frozenset({"127.0.0.1"}))


class Servers:
    """A client, the pauses it made, and the lists it was shown."""

    def __init__(
        self,
        *,
        seconds: float = 20,
        rules: OutboundRules = LOOPBACK,
        sweep_seconds: float = 15,
        programs: bool = True,
        clock: Clock | None = None,
    ) -> None:
        self.clock = FrozenClock()
        self.pauses: list[float] = []
        self.lists: list[list[str]] = []
        self.client = SdkMcpClient(
            Transports(rules, rules, programs=programs),
            clock or self.clock,
            pause=self._pause,
            call_seconds=seconds,
            connect_seconds=seconds,
            sweep_seconds=sweep_seconds,
        )

    async def _pause(self, seconds: float) -> None:
        self.pauses.append(seconds)

    def _check(self, listed: Sequence[McpTool]) -> None:
        self.lists.append([tool.name for tool in listed])
        if "new" in self.lists[-1]:
            raise ConflictError("mcp_tools_changed", server="ours")

    def call(
        self,
        target: McpTarget,
        tool: str,
        *,
        key: str = "k",
        repeatable: bool = True,
        answers: McpAnswers | None = None,
        **arguments: object,
    ) -> str:
        result = self.client.call(
            target,
            key,
            tool,
            dict(arguments),
            check=self._check,
            repeatable=repeatable,
            answers=answers,
        )
        return f"asked {result.questions[0].id}" if result.questions else result.text

    def failure(
        self, target: McpTarget, tool: str = "echo", *, repeatable: bool = True, key: str = "k"
    ) -> str:
        with pytest.raises(UnavailableError) as failed:
            self.call(target, tool, repeatable=repeatable, key=key)
        return f"{failed.value.code} {failed.value.details.get('reason', '')}".strip()


@contextmanager
def opened(servers: Servers) -> Generator[Servers]:
    try:
        yield servers
    finally:
        servers.client.close()


@pytest.fixture
def servers() -> Generator[Servers]:
    with opened(Servers()) as made:
        yield made


@pytest.fixture
def hasty() -> Generator[Servers]:
    """A client that waits for nobody."""
    with opened(Servers(seconds=0.4)) as made:
        yield made


def program(mode: str = "well", *arguments: str, **values: str) -> McpTarget:
    script = str(Path(mcp_program.__file__))
    return McpTarget(
        server="ours",
        transport=McpTransport.STDIO,
        command=sys.executable,
        arguments=("-I", script, mode, *arguments),
        values=values,
    )


def address(url: str, **values: str) -> McpTarget:
    return McpTarget(server="ours", transport=McpTransport.HTTP, url=url, values=values)


def is_running(pid: str) -> bool:
    return Path(f"/proc/{pid}").exists()


def test_a_program_lists_its_tools_and_leaves_nothing_behind(servers: Servers) -> None:
    listed = servers.client.tools(program())

    assert [tool.name for tool in listed] == ["echo", "pid", "post", "ask", "die", "hang"]
    assert (listed[0].read_only, listed[0].open_world) == (True, False)
    post = listed[2]
    assert (post.read_only, post.destructive, post.open_world) == (False, True, True)


@pytest.mark.parametrize("era", ["well", "modern"])
def test_a_connection_is_made_at_the_first_call_and_kept(servers: Servers, era: str) -> None:
    target = program(era)

    pids = {servers.call(target, "pid") for _ in range(3)}

    assert servers.call(target, "echo", said="hi") == '{"said": "hi"}'
    assert len(pids) == 1
    assert len(servers.lists) == 1


def test_each_key_has_a_connection_of_its_own(servers: Servers) -> None:
    assert servers.call(program(), "pid") != servers.call(program(), "pid", key="other")


def test_an_idle_connection_is_closed_and_its_program_gone(servers: Servers) -> None:
    pid = servers.call(program(), "pid")
    servers.clock.advance(seconds=MCP_IDLE_SECONDS - 1)
    servers.client.sweep()
    assert servers.call(program(), "pid") == pid

    servers.clock.advance(seconds=MCP_IDLE_SECONDS)
    servers.client.sweep()

    assert servers.call(program(), "pid") != pid
    servers.client.close()
    assert not is_running(pid)


def test_a_key_that_is_forgotten_is_connected_anew(servers: Servers) -> None:
    kept, pid = servers.call(program(), "pid", key="k/1"), servers.call(program(), "pid", key="k/2")

    servers.client.forget("k/", but=["k/1"])

    assert servers.call(program(), "pid", key="k/1") == kept
    assert servers.call(program(), "pid", key="k/2") != pid


def test_a_key_may_be_forgotten_while_a_call_on_it_is_under_way(servers: Servers) -> None:
    with mcp_http_server(hangs_in="post") as server, ThreadPoolExecutor(1) as pool:
        target = address(server.url)
        calling = pool.submit(servers.failure, target, "post", repeatable=False, key="k/1")
        assert server.is_hanging.wait(20)

        servers.client.forget("k/", but=[])

        assert calling.result() == "mcp_call_cut mcp_ended"
        servers.call(target, "echo", key="k/2")
        servers.client.sweep()
        servers.client.forget("k/", but=[])
        assert servers.call(target, "echo", key="k/1") == "{}"


class _ClockThatFailsOnce(FrozenClock):
    """A clock that cannot be read once `broken` is set, the first time."""

    def __init__(self) -> None:
        super().__init__()
        self.broken = False
        self.failures = 0

    def now(self) -> datetime:
        if self.broken:
            self.broken = False
            self.failures += 1
            raise ValueError("no time")
        return super().now()


def test_what_is_idle_is_looked_for_again_after_a_failure() -> None:
    clock = _ClockThatFailsOnce()

    with opened(Servers(sweep_seconds=0.02, clock=clock)) as servers:
        pid = servers.call(program(), "pid")
        clock.broken = True
        wait_until(lambda: clock.failures == 1)
        clock.advance(seconds=MCP_IDLE_SECONDS)

        wait_until(lambda: not is_running(pid))


def test_only_beyond_the_limit_is_the_connection_closed_that_is_idle_for_longest(
    servers: Servers,
) -> None:
    with mcp_http_server() as server:
        target = address(server.url)

        def connections(*keys: int) -> int:
            before = len(servers.lists)
            for key in keys:
                servers.clock.advance(seconds=1)
                servers.call(target, "echo", key=f"k{key}")
            return len(servers.lists) - before

        connections(*range(MAX_MCP_LINKS))
        assert connections(*range(MAX_MCP_LINKS)) == 0

        assert connections(MAX_MCP_LINKS) == 1
        assert connections(*range(1, MAX_MCP_LINKS + 1)) == 0
        assert connections(0) == 1


def test_what_a_list_teaches_is_kept_while_other_connections_go_on(servers: Servers) -> None:
    with ThreadPoolExecutor(1) as pool:

        def keep(_: Sequence[McpTool]) -> None:
            other = pool.submit(servers.call, program(), "echo", key="other", said="hi")
            assert other.result(20) == '{"said": "hi"}'

        result = servers.client.call(program(), "k", "echo", {}, check=keep)

    assert result.text == "{}"


def test_a_connection_whose_new_list_is_refused_is_not_used_again(servers: Servers) -> None:
    pid = servers.call(program(), "pid")
    servers.call(program(), "change")
    with pytest.raises(ConflictError, match="mcp_tools_changed"):
        servers.call(program(), "echo")

    assert servers.call(program(), "pid") != pid


def test_no_program_is_left_at_the_end_not_even_one_that_does_not_listen(
    servers: Servers, tmp_path: Path
) -> None:
    heard = tmp_path / "heard"
    pids = [servers.call(program("deaf"), "pid"), servers.call(program(), "pid", key="other")]
    with ThreadPoolExecutor(1) as pool:
        calling = pool.submit(servers.failure, program("well", str(heard)), "hang", key="busy")
        wait_until(lambda: heard.exists() and "hanging" in heard.read_text())

        servers.client.close()

        assert calling.result() == "unavailable"
    assert heard.read_text().count("hanging") == 1
    assert not any(map(is_running, pids))


def test_who_waits_at_the_end_for_what_takes_a_moment_to_end_is_told() -> None:
    class _Slow(Servers):
        async def _pause(self, seconds: float) -> None:
            self.pauses.append(seconds)
            try:
                await asyncio.sleep(600)
            finally:
                await asyncio.sleep(0.01)

    failures: list[str] = []
    with opened(_Slow()) as slow:
        waiting = Thread(target=lambda: failures.append(slow.failure(program("ends"))), daemon=True)
        waiting.start()
        wait_until(lambda: bool(slow.pauses))

    waiting.join(20)
    assert failures == ["unavailable"]


def test_a_connection_that_is_being_made_at_the_end_leaves_no_program(
    servers: Servers, tmp_path: Path
) -> None:
    pid = tmp_path / "pid"
    with ThreadPoolExecutor(1) as pool:
        asking = pool.submit(servers.client.tools, program("hung", str(pid)))
        wait_until(lambda: pid.exists() and bool(pid.read_text()))
        servers.client.close()
        error = asking.exception()

    assert isinstance(error, UnavailableError)
    assert not is_running(pid.read_text())
    with pytest.raises(UnavailableError):
        servers.client.tools(program())


def test_a_program_sees_what_it_is_given_and_nothing_of_ours(
    servers: Servers, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("USER_STORE_ENCRYPTION_KEY", "ours")

    seen = servers.call(program(GIVEN="theirs"), "environment")

    assert "GIVEN" in seen
    assert "USER_STORE_ENCRYPTION_KEY" not in seen
    assert "PATH" in seen
    assert os.environ["USER_STORE_ENCRYPTION_KEY"] == "ours"  # noqa: TID251  what the test set


def test_a_program_that_asks_for_a_proxy_is_given_the_guarded_one(servers: Servers) -> None:
    seen = servers.call(program("well", "", PROXY_PLACE), "argv")

    assert "http://127.0.0.1:" in seen
    assert PROXY_PLACE not in seen


def test_a_call_that_is_cut_off_is_made_once_more_where_it_may_be_repeated(
    servers: Servers, tmp_path: Path
) -> None:
    once = program("well", str(tmp_path / "died"))

    assert servers.call(once, "die", said="again") == '{"said": "again"}'
    assert servers.failure(program(), "die", key="other") == "mcp_call_cut mcp_ended"


def test_a_call_that_may_not_be_repeated_is_made_once(servers: Servers, tmp_path: Path) -> None:
    once = program("well", str(tmp_path / "died"))

    assert servers.failure(once, "die", repeatable=False) == "mcp_call_cut mcp_ended"


def test_a_program_that_ends_at_once_is_tried_again_with_growing_pauses(servers: Servers) -> None:
    assert servers.failure(program("ends")) == "mcp_server_unavailable mcp_ended"
    assert servers.pauses == [0.25, 0.5]


def test_a_program_that_is_not_there_is_not_tried_again(servers: Servers) -> None:
    absent = McpTarget(server="ours", transport=McpTransport.STDIO, command="/no/such/program")

    assert servers.failure(absent) == "mcp_server_unavailable mcp_no_program"
    assert servers.pauses == []


def test_where_programs_are_turned_off_none_is_started(tmp_path: Path) -> None:
    pid = tmp_path / "pid"

    with opened(Servers(programs=False)) as off, mcp_http_server() as server:
        assert off.failure(program("hung", str(pid))) == "mcp_server_unavailable mcp_programs_off"
        assert off.call(address(server.url), "echo", key="other") == "{}"

    assert off.pauses == []
    assert not pid.exists()


def test_a_program_that_speaks_garbage_is_cut_off(servers: Servers) -> None:
    assert servers.failure(program("garbage")) == "mcp_server_unavailable mcp_garbled"


def test_a_program_that_says_nothing_is_given_up(hasty: Servers) -> None:
    assert hasty.failure(program("hung")).startswith(("mcp_server_unavailable", "mcp_call_timeout"))
    with pytest.raises(UnavailableError):
        hasty.client.tools(program("hung"))


def test_a_call_that_takes_too_long_is_given_up() -> None:
    late = Servers(seconds=2)

    with opened(late):
        assert late.failure(program(), "hang") == "mcp_call_timeout"


def test_a_cookie_is_brought_back_on_the_connection_that_it_was_given_on_alone(
    servers: Servers,
) -> None:
    with mcp_http_server(beside={"set-cookie": "machine=1; Path=/"}) as server:
        servers.call(address(server.url), "echo", key="one")
        first = len(server.headers)
        servers.call(address(server.url), "echo", key="another")

    cookies = [headers.get("cookie") for headers in server.headers]
    assert (cookies[0], cookies[first]) == (None, None)
    assert {*cookies[1:first], *cookies[first + 1 :]} == {"machine=1"}


def test_nothing_takes_longer_than_is_left_for_a_target() -> None:
    patient = Servers(seconds=3_600)

    with opened(patient), mcp_http_server(hangs=True) as server:
        short = replace(address(server.url), seconds=0.3)
        assert patient.failure(short) == "mcp_call_timeout"
        with pytest.raises(UnavailableError) as listing:
            patient.client.tools(short)

    assert listing.value.details["reason"] == "mcp_slow"


def test_a_list_that_changes_on_the_way_is_compared_anew(servers: Servers) -> None:
    servers.call(program(), "change")

    with pytest.raises(ConflictError, match="mcp_tools_changed"):
        servers.call(program(), "echo")


def test_before_a_call_that_is_made_once_a_silent_connection_is_tried(servers: Servers) -> None:
    servers.call(program(), "echo")
    servers.call(program(), "post", repeatable=False)
    assert len(servers.lists) == 1
    servers.clock.advance(seconds=10)

    servers.call(program(), "post", repeatable=False)

    assert len(servers.lists) == 2


def test_a_question_in_the_middle_of_a_call_is_answered_when_it_is_made_anew(
    servers: Servers,
) -> None:
    asked = servers.call(program(), "ask")
    name = asked.removeprefix("asked ")

    answers = McpAnswers(content={name: {"name": "Ann"}})

    assert '"name": "Ann"' in servers.call(program(), "ask", answers=answers)


def test_a_question_of_the_stateless_era_is_answered_with_its_state(servers: Servers) -> None:
    with mcp_http_server(script=Script(modern=True)) as server:
        target = address(server.url)
        assert servers.call(target, "ask") == "asked who"
        answers = McpAnswers(content={"who": {"name": "Ann"}}, state="state-1")

        assert servers.call(target, "ask", answers=answers) == "state-1 {'name': 'Ann'}"


@pytest.mark.parametrize("modern", [False, True])
def test_an_address_is_spoken_to_with_its_headers(servers: Servers, modern: bool) -> None:
    with mcp_http_server(script=Script(modern=modern)) as server:
        target = address(server.url, Authorization="Bearer theirs")

        assert servers.call(target, "echo", said="hi") == '{"said": "hi"}'
        assert {each["authorization"] for each in server.headers} == {"Bearer theirs"}
        assert servers.client.tools(target)[0].name == "echo"


def test_what_a_tool_or_the_protocol_refuses_is_the_tools_own_answer(servers: Servers) -> None:
    with mcp_http_server() as server:
        result = servers.client.call(address(server.url), "k", "fail", {}, check=lambda _: None)

    assert (result.text, result.failed) == ("it failed", True)


@pytest.mark.parametrize(
    ("broken", "reason"),
    [
        ({"status": 403}, "mcp_key_refused"),
        ({"status": 503}, "mcp_http_status"),
        ({"body": b"<html>hello</html>"}, "mcp_garbled"),
    ],
)
def test_an_address_that_answers_otherwise_says_how(
    servers: Servers, broken: dict[str, object], reason: str
) -> None:
    with mcp_http_server(**broken) as server:
        assert servers.failure(address(server.url)) == f"mcp_server_unavailable {reason}"


@pytest.mark.parametrize(
    ("refusal", "challenge", "scope", "lacks_scope"),
    [
        (401, 'Bearer realm="x", scope="read write"', "read write", False),
        (401, "Basic", "", False),
        (403, 'Bearer error="insufficient_scope", scope="write"', "write", True),
    ],
)
def test_a_server_that_wants_an_account_says_so_and_takes_no_call(
    servers: Servers, refusal: int, challenge: str, scope: str, lacks_scope: bool
) -> None:
    with mcp_http_server(takes=set(), refusal=refusal, challenge=challenge) as server:
        with pytest.raises(AccountNeededError) as called:
            servers.call(address(server.url), "echo")
        with pytest.raises(AccountNeededError) as listed:
            servers.client.tools(address(server.url))
    for asked in (called.value, listed.value):
        assert (asked.scope, asked.lacks_scope) == (scope, lacks_scope)
    assert servers.pauses == []


def test_a_server_that_wants_an_account_is_not_misread_by_what_it_says_then(
    servers: Servers,
) -> None:
    with (
        mcp_http_server(takes=set(), refuses_again_with=400) as server,
        pytest.raises(AccountNeededError),
    ):
        servers.client.tools(address(server.url))
    assert len(server.headers) > 1


def test_a_connection_goes_on_with_a_newer_token_and_ends_with_the_account(
    servers: Servers,
) -> None:
    def target(token: str, account: str = "one") -> McpTarget:
        return replace(address(server.url, Authorization=f"Bearer {token}"), account=account)

    with mcp_http_server(takes={"first"}) as server:
        servers.call(target("first"), "echo")
        server.takes = {"second"}
        with pytest.raises(AccountNeededError):
            servers.call(target("first"), "echo", said="x")
        servers.call(target("second"), "echo")
        before = len(servers.lists)
        server.takes = {"third"}
        servers.call(target("third"), "echo")
        assert len(servers.lists) == before
        servers.call(target("third", account="two"), "echo")
        assert len(servers.lists) == before + 1


@pytest.mark.parametrize("modern", [True, False])
def test_a_write_is_not_cut_off_by_a_call_beside_it_that_is_not_let_in(
    servers: Servers, modern: bool
) -> None:
    def target(token: str) -> McpTarget:
        return replace(address(server.url, Authorization=f"Bearer {token}"), account="one")

    script = Script(modern=modern)
    with (
        mcp_http_server(script=script, takes={"first"}, hangs_in="post") as server,
        ThreadPoolExecutor(1) as pool,
    ):
        servers.call(target("first"), "echo")
        writing = pool.submit(servers.call, target("first"), "post", repeatable=False)
        assert server.is_hanging.wait(20)
        server.takes = {"second"}
        servers.clock.advance(seconds=10)
        with pytest.raises(AccountNeededError):
            servers.call(target("first"), "echo", repeatable=modern)
        servers.call(target("second"), "echo")
        server.test_is_over.set()

        assert writing.result() == "{}"


def test_an_address_that_hangs_is_given_up(hasty: Servers) -> None:
    with mcp_http_server(hangs=True) as server:
        assert hasty.failure(address(server.url)).startswith("mcp_")


def test_an_address_where_nobody_is_cannot_be_reached(servers: Servers) -> None:
    with mcp_http_server() as server:
        gone = address(server.url)

    assert servers.failure(gone) == "mcp_server_unavailable mcp_unreachable"


def test_an_address_of_this_network_is_not_connected_to() -> None:
    with mcp_http_server() as server, opened(Servers(rules=OutboundRules())) as strict:
        assert strict.failure(address(server.url)) == "mcp_server_unavailable mcp_address_private"
        assert server.headers == []


def test_a_redirect_to_another_host_is_not_followed(servers: Servers) -> None:
    with (
        mcp_http_server() as elsewhere,
        mcp_http_server(status=307, beside={"location": elsewhere.url}) as server,
    ):
        target = address(server.url, Authorization="Bearer theirs")

        assert servers.failure(target).startswith("mcp_server_unavailable")
        assert elsewhere.headers == []
