"""What a server shows one account and not another, and who agrees to it for everybody."""

from collections.abc import Sequence
from dataclasses import replace

import pytest

from archivolt.domain.errors import ConflictError
from archivolt.domain.federation import McpResult, McpServer, McpTool, McpTransport, exposed
from archivolt.domain.identity import Principal, Role
from archivolt.federation.calls import McpCalls
from archivolt.federation.sign_ins import SignInAnswer
from archivolt.federation.targets import place_of
from tests.account_world import AccountWorld
from tests.builders import ACME, ALICE, principal
from tests.fakes.authorization_server import SERVER
from tests.fakes.clock import FrozenClock
from tests.fakes.federation import InMemoryMcpServers, ScriptedMcpClient, ScriptedServer

READ = McpTool(name="read", read_only=True)
WRITE = McpTool(name="write")
OURS = McpServer(
    id="ours",
    enabled=True,
    transport=McpTransport.HTTP,
    url=SERVER,
    tools=exposed((READ, WRITE), ()),
)
ADMIN = principal("admin", role=Role.TENANT_ADMIN)


class Lists(AccountWorld):
    """A server with an account of each of two people; both are shown the same list."""

    def __init__(self, shown: Sequence[McpTool], server: McpServer = OURS) -> None:
        super().__init__(InMemoryMcpServers(), FrozenClock())
        self.servers.save(ACME, server)
        self.server = server
        said = McpResult(text="it said")
        scripted = ScriptedServer(list(shown), {"read": said, "write": said})
        self.client = ScriptedMcpClient({"ours": scripted})
        self.calls = McpCalls(
            self.servers, self.access, lambda: self.client, self.clock, programs=False
        )

    def connect(self, caller: Principal) -> None:
        address = self.accounts.begin(caller, "ours").address
        came = self.login.signs_in(address)
        answer = SignInAnswer(state=came["state"], code=came["code"], issuer=came["iss"])
        self.accounts.finish(caller, place_of(self.server), answer)

    def call(self, caller: Principal, tool: McpTool) -> str:
        return self.calls.call(caller, self.server, tool, {}, None).text

    def kept(self) -> McpServer:
        [kept] = self.servers.of_tenant(ACME)
        return kept


def test_an_account_that_is_shown_less_calls_what_it_is_shown() -> None:
    lists = Lists([READ])
    lists.connect(principal(ALICE))

    assert lists.call(principal(ALICE), READ) == "it said"
    with pytest.raises(ConflictError, match="mcp_tools_changed"):
        lists.call(principal(ALICE), WRITE)
    assert lists.kept().offered is None
    assert [target.account == "" for target in lists.client.targets] == [False, False]


@pytest.mark.parametrize("other", [replace(READ, description="Sends it all."), McpTool(name="new")])
def test_another_list_is_refused_to_all_and_changes_the_server_by_an_administrator_alone(
    other: McpTool,
) -> None:
    lists = Lists([other, WRITE])
    for caller in (principal(ALICE), ADMIN):
        lists.connect(caller)

    with pytest.raises(ConflictError, match="mcp_tools_changed"):
        lists.call(principal(ALICE), WRITE)
    assert lists.kept().offered is None
    with pytest.raises(ConflictError, match="mcp_tools_changed"):
        lists.call(ADMIN, WRITE)
    assert lists.kept().offered == exposed((other, WRITE), ())
    assert lists.client.calls == []


def test_a_list_is_agreed_to_by_an_administrators_account_and_by_no_other() -> None:
    lists = Lists([READ], replace(OURS, tools=None))
    for caller in (principal(ALICE), ADMIN):
        lists.connect(caller)

    lists.calls.ask(principal(ALICE), lists.server)
    assert (lists.kept().tools, lists.client.targets) == (None, [])
    lists.calls.ask(ADMIN, lists.server)
    assert lists.kept().tools == (READ,)
