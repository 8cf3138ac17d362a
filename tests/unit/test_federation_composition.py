"""How what speaks to MCP servers of others is put together."""

from concurrent.futures import ThreadPoolExecutor
from threading import Barrier

import pytest

from archivolt.bootstrap import Container
from archivolt.composition.federation import FederationContainer
from archivolt.domain.errors import ArchivoltError, UnavailableError
from archivolt.domain.federation import McpServer, McpTarget, McpTool, McpTransport
from archivolt.settings import Settings
from tests.builders import ACME, principal
from tests.fakes.federation import InMemoryMcpServers
from tests.fakes.mcp_accounts import InMemoryMcpAccounts


def test_calls_side_by_side_share_one_client() -> None:
    federation = FederationContainer(Container(Settings()))
    together = Barrier(8)

    def ask(_: int) -> int:
        together.wait()
        return id(federation.client)

    with ThreadPoolExecutor(8) as pool:
        assert len(set(pool.map(ask, range(8)))) == 1


@pytest.mark.parametrize("programs", [False, True])
def test_programs_are_run_and_offered_where_the_setting_says_so(programs: bool) -> None:
    federation = FederationContainer(Container(Settings(archivolt_mcp_stdio=programs)))
    federation.store = InMemoryMcpServers()
    server = McpServer(
        id="ours", enabled=True, command="/no/such/program", tools=(McpTool(name="x"),)
    )
    federation.store.save(ACME, server)

    offered = federation.outside.offered(principal("alice")).tools
    target = McpTarget(server="ours", transport=McpTransport.STDIO, command="/no/such/program")
    with pytest.raises(UnavailableError) as failed:
        federation.client.tools(target)
    federation.client.close()

    assert bool(offered) is programs
    reason = "mcp_no_program" if programs else "mcp_programs_off"
    assert failed.value.details["reason"] == reason


@pytest.mark.parametrize("client", ["", "ours-at-the-provider"])
def test_people_connect_accounts_where_they_can_sign_in_here(client: str) -> None:
    settings = Settings(public_url="https://vault.example.com", auth_client_id=client)
    federation = FederationContainer(Container(settings))
    federation.store, federation.account_store = InMemoryMcpServers(), InMemoryMcpAccounts()
    server = McpServer(id="ours", enabled=True, transport=McpTransport.HTTP, url="https://10.0.0.1")
    federation.store.save(ACME, server)

    with pytest.raises(ArchivoltError) as refused:
        federation.accounts.begin(principal("alice"), "ours")

    assert bool(federation.accounts.callback(server)) is bool(client)
    # Who can is kept from what is private here.
    expected = "mcp_server_unavailable" if client else "mcp_sign_in_unavailable"
    assert refused.value.code == expected
