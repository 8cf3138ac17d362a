"""What every `McpServerStore` promises."""

from dataclasses import replace
from datetime import UTC, datetime

import pytest

from archivolt.adapters.dynamodb.mcp_servers import DynamoMcpServers
from archivolt.domain.federation import McpServer, McpTool, McpTransport
from archivolt.ports.federation import McpServerStore
from tests.builders import ACME, GLOBEX
from tests.contract.conftest import FAKE
from tests.fakes.federation import InMemoryMcpServers

READS = McpTool(name="read", description="Lit.", parameters={"type": "object"}, read_only=True)
WRITES = McpTool(name="write", title="Écrire", open_world=False, idempotent=True)
FETCH = McpServer(
    id="fetch",
    title="Pages",
    enabled=True,
    transport=McpTransport.HTTP,
    command="python",
    arguments=("-m", "x"),
    url="https://mcp.test/mcp",
    plain={"A_URL": "https://a.test"},
    sealed={"KEY": "sealed"},
    fingerprints={"KEY": "sha256:1"},
    expose=("read", "write"),
    tools=(READS, WRITES),
    offered=(WRITES,),
    problem="mcp_server_unavailable",
    problem_details={"reason": "mcp_http_status", "status": 503},
    checked_at=datetime(2026, 11, 30, 12, 0, 1, 5, tzinfo=UTC),
)
NEW = McpServer(id="custom")


@pytest.fixture
def servers(store: str, request: pytest.FixtureRequest) -> McpServerStore:
    if store == FAKE:
        return InMemoryMcpServers()
    return DynamoMcpServers(request.getfixturevalue("new_table")("ControlTable"))


def test_what_was_kept_is_given_back_to_its_tenant(servers: McpServerStore) -> None:
    servers.save(ACME, FETCH)
    servers.save(ACME, NEW)

    assert servers.of_tenant(ACME) == [NEW, FETCH]
    assert servers.of_tenant(GLOBEX) == []


def test_a_server_of_the_same_id_is_replaced(servers: McpServerStore) -> None:
    servers.save(ACME, FETCH)
    servers.save(ACME, replace(FETCH, tools=None, enabled=False))

    assert servers.of_tenant(ACME) == [replace(FETCH, tools=None, enabled=False)]


def test_what_is_learnt_is_kept_and_nothing_else(servers: McpServerStore) -> None:
    servers.save(ACME, FETCH)
    learnt = replace(FETCH, tools=(READS,), offered=None, problem="", problem_details={}, title="?")

    assert servers.note(ACME, learnt)
    assert servers.of_tenant(ACME) == [replace(learnt, title="Pages")]


@pytest.mark.parametrize(
    "meanwhile",
    [
        None,
        replace(FETCH, enabled=False),
        replace(FETCH, url="https://other.test"),
        replace(FETCH, sealed={"KEY": "another"}),
        replace(FETCH, expose=()),
    ],
)
def test_what_was_learnt_of_a_server_that_changed_meanwhile_is_not_kept(
    servers: McpServerStore, meanwhile: McpServer | None
) -> None:
    if meanwhile:
        servers.save(ACME, meanwhile)

    assert not servers.note(ACME, replace(FETCH, tools=()))
    assert servers.of_tenant(ACME) == ([meanwhile] if meanwhile else [])


@pytest.mark.parametrize("odd", ["absent", "", "\ud800", "x" * 3_000])
def test_what_is_removed_is_gone_and_what_is_not_there_is_told(
    servers: McpServerStore, odd: str
) -> None:
    servers.save(ACME, FETCH)

    assert not servers.delete(ACME, odd)
    assert servers.delete(ACME, "fetch")
    assert not servers.delete(ACME, "fetch")
    assert servers.of_tenant(ACME) == []
