"""Calls with accounts, and sign-ins, have one deadline for all that they wait for."""

from collections.abc import Callable
from dataclasses import replace

import pytest

from archivolt.domain.deadlines import Deadline
from archivolt.domain.errors import ArchivoltError, UnavailableError
from archivolt.domain.federation import McpServer, McpTarget, McpTool, McpTransport
from archivolt.domain.federation_limits import (
    MCP_CALL_SECONDS,
    MCP_RENEW_LEAST_SECONDS,
    MCP_RENEW_SECONDS,
    MCP_WAIT_SECONDS,
    OAUTH_SECONDS,
)
from archivolt.domain.identity import Role
from archivolt.domain.mcp_accounts import AccountNeededError
from archivolt.federation.calls import McpCalls
from archivolt.federation.sign_ins import SignInAnswer
from archivolt.federation.targets import place_of
from tests.account_world import AccountWorld
from tests.builders import ACME, ALICE, principal
from tests.fakes.authorization_server import SERVER
from tests.fakes.clock import FrozenClock
from tests.fakes.federation import InMemoryMcpServers, ScriptedMcpClient, ScriptedServer

OURS = McpServer(id="ours", enabled=True, transport=McpTransport.HTTP, url=SERVER)
ADMIN = principal("admin", role=Role.TENANT_ADMIN)


class Slow(AccountWorld):
    """A server each of whose calls takes `seconds`, and that takes the tokens of `takes`."""

    def __init__(self) -> None:
        super().__init__(InMemoryMcpServers(), FrozenClock())
        self.servers.save(ACME, OURS)
        self.alice = principal(ALICE)
        self.takes = {"access-1"}
        self.seconds = 0.0
        self.given_seconds: list[float] = []

    def connect(self) -> None:
        self.bring(self.accounts.begin(self.alice, "ours").address)

    def bring(self, address: str) -> None:
        came = self.login.signs_in(address)
        answer = SignInAnswer(state=came["state"], code=came["code"], issuer=came["iss"])
        self.accounts.finish(self.alice, place_of(OURS), answer)

    def call(self) -> str:
        return self.access.using(self.alice, OURS, self._asked)

    def takes_time(self, seconds: float) -> Callable[[], None]:
        return lambda: self.clock.advance(seconds=seconds)

    def _asked(self, target: McpTarget) -> str:
        self.given_seconds.append(target.seconds)
        self.clock.advance(seconds=self.seconds)
        token = target.values["Authorization"].removeprefix("Bearer ")
        if token not in self.takes:
            raise AccountNeededError(target.server)
        return token


@pytest.fixture
def world() -> Slow:
    made = Slow()
    made.connect()
    return made


def reason_of(work: Callable[[], object]) -> object:
    with pytest.raises(ArchivoltError, match="mcp_server_unavailable") as failed:
        work()
    return failed.value.details["reason"]


def test_a_renewal_and_a_second_try_have_what_is_left_of_a_call(world: Slow) -> None:
    world.takes, world.seconds = {"access-2"}, 4
    world.login.before_answers = world.takes_time(3)

    assert world.call() == "access-2"

    assert world.given_seconds == [MCP_CALL_SECONDS, MCP_CALL_SECONDS - 7]


def test_a_token_that_is_renewed_before_a_call_leaves_it_the_rest(world: Slow) -> None:
    world.takes = {"access-2"}
    world.clock.advance(hours=1)
    world.login.before_answers = world.takes_time(6)

    world.call()

    assert world.given_seconds == [MCP_CALL_SECONDS - 6]


def test_no_token_is_renewed_in_the_last_moment_and_none_is_lost_by_it(world: Slow) -> None:
    world.takes, world.seconds = {"access-2"}, MCP_CALL_SECONDS - MCP_RENEW_LEAST_SECONDS + 1

    assert reason_of(world.call) == "mcp_slow"

    assert len(world.login.forms) == 1
    assert world.accounts.standing(world.alice, "ours").state == "connected"
    world.seconds = 0
    assert world.call() == "access-2"


def test_no_call_is_begun_anew_for_a_moment(world: Slow) -> None:
    world.takes = {"access-2"}
    world.login.before_answers = world.takes_time(MCP_CALL_SECONDS - 1)

    assert reason_of(world.call) == "mcp_slow"

    assert world.given_seconds == [MCP_CALL_SECONDS]


def test_who_lets_in_is_looked_for_as_long_as_somebody_waits(world: Slow) -> None:
    world.login.asked.clear()
    world.login.before_answers = world.takes_time(MCP_WAIT_SECONDS / 2)

    assert reason_of(lambda: world.accounts.begin(world.alice, "ours")) == "mcp_slow"

    assert len(world.login.asked) == 2


def test_what_a_request_may_wait_for_fits_into_what_is_left(world: Slow) -> None:
    world.login.waits.clear()
    world.login.before_answers = world.takes_time(4.5)
    world.accounts.begin(world.alice, "ours")

    left = float(MCP_WAIT_SECONDS)
    for waits in world.login.waits:
        # For its turn, its name, its addresses, its TLS; and for all of its answer.
        assert waits["pool"] + 3 * waits["connect"] + waits["read"] <= left
        left -= 4.5
    assert len(world.login.waits) == 3


def test_an_administrators_first_look_at_the_tools_has_the_rest_of_the_time(world: Slow) -> None:
    world.alice = ADMIN
    addresses = [world.accounts.begin(ADMIN, "ours").address for _ in range(2)]
    for address, seconds in zip(addresses, (5, MCP_WAIT_SECONDS - 1), strict=True):
        world.login.before_answers = world.takes_time(seconds)
        world.bring(address)

    assert (world.asked, world.given) == (["admin ours"], [MCP_WAIT_SECONDS - 5])


@pytest.mark.parametrize(("seconds", "noted"), [(6, "mcp_call_timeout"), (17, "")])
def test_what_a_renewal_left_no_time_for_is_not_noted_of_the_server(
    world: Slow, seconds: float, noted: str
) -> None:
    tool = McpTool(name="read", read_only=True)
    server = replace(OURS, tools=(tool,))
    world.servers.save(ACME, server)
    slow = UnavailableError("mcp_call_timeout", server="ours", limit=MCP_CALL_SECONDS)
    client = ScriptedMcpClient({"ours": ScriptedServer([tool], {"read": slow})})
    calls = McpCalls(world.servers, world.access, lambda: client, world.clock, programs=False)
    world.clock.advance(hours=1)
    world.login.before_answers = world.takes_time(seconds)

    with pytest.raises(UnavailableError, match="mcp_call_timeout"):
        calls.call(world.alice, server, tool, {}, None)

    assert [kept.problem for kept in world.servers.of_tenant(ACME)] == [noted]


@pytest.mark.parametrize(("seconds", "noted"), [(3, ""), (20, "mcp_server_unavailable")])
def test_a_first_look_that_had_no_time_is_not_noted_of_the_server(
    world: Slow, seconds: float, noted: str
) -> None:
    slow = UnavailableError("mcp_server_unavailable", server="ours", reason="mcp_slow", status=0)
    client = ScriptedMcpClient({"ours": ScriptedServer([], broken=slow)})
    calls = McpCalls(world.servers, world.access, lambda: client, world.clock, programs=False)

    calls.ask(ADMIN, OURS, seconds)

    assert [kept.problem for kept in world.servers.of_tenant(ACME)] == [noted]


def test_a_disconnection_does_not_wait_for_ever(world: Slow) -> None:
    world.login.waits.clear()
    world.accounts.end(world.alice, "ours")

    [waits] = world.login.waits
    assert waits["pool"] + 3 * waits["connect"] + waits["read"] <= OAUTH_SECONDS


def test_a_renewal_is_over_before_another_may_begin_one(world: Slow) -> None:
    world.clock.advance(hours=1)
    world.takes = {"access-2"}
    world.login.waits.clear()
    world.call()

    [waits] = world.login.waits
    assert waits["pool"] + 3 * waits["connect"] + waits["read"] < MCP_RENEW_SECONDS


def test_what_another_renewed_is_used_in_the_last_moment_too(world: Slow) -> None:
    late = world.store.find(ACME, ALICE, "ours")
    assert late is not None
    world.clock.advance(hours=1)
    world.takes = {"access-2"}
    world.call()

    found = world.renewal.renewed(late, Deadline(world.clock.now, 3))

    assert (found and found.edition) == late.edition + 1
