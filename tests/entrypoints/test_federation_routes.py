"""The routes of MCP servers of others: what administrators may do, and what everybody sees."""

from dataclasses import replace
from typing import Any

import pytest

from archivolt.domain.errors import UnavailableError
from archivolt.domain.federation import McpTool
from tests.builders import ACME, GLOBEX
from tests.entrypoints.rest_api import Answer
from tests.entrypoints.rest_world import RestWorld
from tests.fakes.federation import ScriptedServer

MCP = "/api/v1/mcp"
READ = McpTool(name="read", description="Reads.", read_only=True, open_world=False)
DROP = McpTool(name="drop table", description="Drops.")
SECRET = "-".join(["not", "a", "real", "key"])
WITH_SECRET = {"enabled": True, "url": "https://mcp.test/mcp", "parameters": {"X-Key": SECRET}}


@pytest.fixture
def api() -> RestWorld:
    world = RestWorld()
    world.mcp_client.servers = {
        name: ScriptedServer([READ, DROP]) for name in ("fetch", "custom", "ours", "searxng")
    }
    return world


def listed(api: RestWorld, server: str, user: str = "admin") -> dict[str, Any]:
    servers: list[dict[str, Any]] = api.get(MCP, user=user).json["servers"]
    return next(each for each in servers if each["id"] == server)


def put(api: RestWorld, server: str, change: object = None, user: str = "admin") -> Answer:
    return api.send("PUT", f"{MCP}/{server}", change, user=user)


def test_everything_in_the_catalogue_is_off(api: RestWorld) -> None:
    servers = api.get(MCP, user="admin", accept_language="fr").json["servers"]

    names = [server["id"] for server in servers]
    assert names == ["playwright", "context7", "fetch", "searxng", "custom"]
    assert {server["enabled"] for server in servers} == {False}
    assert {server["status"] for server in servers} == {"inactive"}
    assert servers[2]["description"] == "Lit des pages du web public, en Markdown."
    assert api.mcp_client.targets == []


def test_a_server_that_is_turned_on_lists_its_tools_at_once(api: RestWorld) -> None:
    body = put(api, "fetch", {"enabled": True}).json

    assert (body["enabled"], body["status"], body["problem"]) == (True, "connected", None)
    assert [(tool["name"], tool["risk"]) for tool in body["tools"]] == [
        ("drop table", "dangerous"),
        ("read", "read"),
    ]
    offered = [tool["offered_as"] for tool in body["tools"]]
    assert offered[0].startswith("mcp_fetch_drop_table_")
    assert offered[1] == "mcp_fetch_read"
    assert listed(api, "fetch")["tools"] == body["tools"]


def test_only_some_tools_are_exposed_where_they_are_named(api: RestWorld) -> None:
    put(api, "fetch", {"enabled": True})
    body = put(api, "fetch", {"expose": ["read"]}).json

    assert [tool["name"] for tool in body["tools"]] == ["read"]


def test_of_a_browser_the_tools_of_the_catalogue_are_exposed_unless_others_are_named(
    api: RestWorld,
) -> None:
    tools = [replace(READ, name=f"browser_{name}") for name in ("navigate", "pdf_save", "snapshot")]
    api.mcp_client.servers["playwright"] = ScriptedServer(tools)

    def exposed(change: dict[str, object]) -> list[str]:
        return [tool["name"] for tool in put(api, "playwright", change).json["tools"]]

    usual = ["browser_navigate", "browser_snapshot"]
    assert set(usual) < set(listed(api, "playwright")["expose"])
    assert exposed({"enabled": True, "url": "https://mcp.test/mcp"}) == usual
    assert exposed({"expose": ["browser_pdf_save"]}) == ["browser_pdf_save"]
    assert exposed({"expose": []}) == [tool.name for tool in tools]
    assert exposed({"expose": None}) == usual


def test_what_is_exposed_later_is_what_was_agreed_to(api: RestWorld) -> None:
    put(api, "fetch", {"enabled": True, "expose": ["read"]})
    assert [tool["name"] for tool in put(api, "fetch", {"expose": None}).json["tools"]] == [
        *("drop table", "read")
    ]
    put(api, "fetch", {"expose": ["read"]})
    api.mcp_client.servers["fetch"].tools = [READ, replace(DROP, description="Sends it all.")]
    assert api.post(f"{MCP}/fetch/test", {}, user="admin").json["agreed"]

    changed = put(api, "fetch", {"expose": ["drop table"]}).json

    assert changed["status"] == "changed"
    assert [tool["description"] for tool in changed["tools"]] == ["Drops."]
    assert [tool["description"] for tool in changed["changed_tools"]] == ["Sends it all."]
    assert put(api, "fetch", {"accept": changed["tools_digest"]}).json["status"] == "connected"
    assert put(api, "fetch", {"expose": []}).json["status"] == "connected"


def test_who_agrees_to_what_is_exposed_agrees_to_nothing_else(api: RestWorld) -> None:
    put(api, "fetch", {"enabled": True, "expose": ["read"]})
    other = [replace(tool, description="Other.") for tool in (READ, DROP)]
    api.mcp_client.servers["fetch"].tools = other
    digest = api.post(f"{MCP}/fetch/test", {}, user="admin").json["tools_digest"]

    assert put(api, "fetch", {"accept": digest}).json["status"] == "connected"
    assert put(api, "fetch", {"expose": None}).json["status"] == "changed"


@pytest.mark.parametrize(
    "change",
    [
        {"parameters": {"X-Key": "new"}},
        {"url": "https://mcp.test/v2"},
        {"expose": ["read", "new"]},
        {"enabled": True},
    ],
)
def test_a_changed_list_does_not_come_in_with_a_change_of_the_server(
    api: RestWorld, change: dict[str, object]
) -> None:
    put(api, "ours", WITH_SECRET)
    api.mcp_client.servers["ours"].tools = [READ, DROP, McpTool(name="new")]
    if "enabled" in change:
        put(api, "ours", {"enabled": False})

    body = put(api, "ours", change).json

    assert body["status"] == "changed"
    assert "new" not in [tool["name"] for tool in body["tools"]]
    agreed = put(api, "ours", {"accept": body["tools_digest"]}).json
    assert "new" in [tool["name"] for tool in agreed["tools"]]


def test_another_host_is_another_server_whose_list_is_agreed_to(api: RestWorld) -> None:
    put(api, "ours", WITH_SECRET)
    api.mcp_client.servers["ours"].tools = [McpTool(name="new")]

    body = put(api, "ours", {"url": "https://other.test/mcp"}).json

    assert (body["status"], [tool["name"] for tool in body["tools"]]) == ("connected", ["new"])


def test_of_a_list_that_is_too_large_what_is_exposed_is_kept(api: RestWorld) -> None:
    many = [McpTool(name=f"tool{number}", description="x" * 900) for number in range(200)]
    api.mcp_client.servers["ours"].tools = many
    whole = put(api, "ours", {"enabled": True, "url": "https://mcp.test/mcp"}).json
    assert whole["problem"]["code"] == "mcp_list_too_large"

    body = put(api, "ours", {"expose": ["tool7"]}).json

    assert (body["status"], [tool["name"] for tool in body["tools"]]) == ("connected", ["tool7"])
    assert put(api, "ours", {"expose": ["tool7", "tool8"]}).json["status"] == "changed"


def test_a_server_that_does_not_answer_is_kept_with_its_problem(api: RestWorld) -> None:
    slow = UnavailableError("mcp_server_unavailable", server="fetch", reason="mcp_slow")
    api.mcp_client.servers["fetch"].broken = slow

    body = put(api, "fetch", {"enabled": True}).json

    assert (body["enabled"], body["status"]) == (True, "error")
    assert body["problem"]["code"] == "mcp_server_unavailable"
    assert "it takes too long" in body["problem"]["message"]
    trial = api.post(f"{MCP}/fetch/test", {}, user="admin")
    assert (trial.status, trial.json["error"]["code"]) == (503, "mcp_server_unavailable")
    api.mcp_client.servers["fetch"].broken = None
    assert api.post(f"{MCP}/fetch/test", {}, user="admin").json["agreed"]
    assert listed(api, "fetch")["status"] == "connected"


def test_a_changed_list_waits_until_an_administrator_agrees_to_that_very_list(
    api: RestWorld,
) -> None:
    put(api, "fetch", {"enabled": True})
    api.mcp_client.servers["fetch"].tools = [READ]
    trial = api.post(f"{MCP}/fetch/test", {}, user="admin").json

    assert not trial["agreed"]
    changed = listed(api, "fetch")
    assert changed["status"] == "changed"
    assert [tool["name"] for tool in changed["changed_tools"]] == ["read"]
    refused = put(api, "fetch", {"accept": "0" * 64})
    assert (refused.status, refused.json["error"]["code"]) == (409, "mcp_tools_changed")

    agreed = put(api, "fetch", {"accept": trial["tools_digest"]}).json

    assert (agreed["status"], agreed["changed_tools"]) == ("connected", None)
    assert [tool["name"] for tool in agreed["tools"]] == ["read"]


def test_a_secret_comes_in_and_never_goes_out(api: RestWorld) -> None:
    body = put(api, "ours", WITH_SECRET).json

    [shown] = body["parameters"]
    assert (shown["name"], shown["secret"]) == ("X-Key", True)
    assert shown["value"].startswith("sha256:")
    assert SECRET not in str(api.get(MCP, user="admin").json)
    assert SECRET not in str(api.audit.entries)
    assert api.mcp_client.targets[-1].values == {"X-Key": SECRET}
    [kept] = api.mcp_servers.of_tenant(ACME)
    assert SECRET not in str(kept)
    assert SECRET not in str(api.mcp_client.targets[-1])


def test_a_fingerprint_that_is_sent_back_changes_nothing_and_null_takes_a_value_back(
    api: RestWorld,
) -> None:
    body = put(api, "ours", WITH_SECRET).json
    shown = body["parameters"][0]["value"]
    put(api, "ours", {"parameters": {"X-Key": shown, "X-More": "m"}})

    api.post(f"{MCP}/ours/test", {}, user="admin")
    assert api.mcp_client.targets[-1].values == {"X-Key": SECRET, "X-More": "m"}
    assert (
        put(api, "ours", {"parameters": {"X-Key": None}}).json["parameters"][0]["name"] == "X-More"
    )
    assert put(api, "ours", {"parameters": None}).json["parameters"] == []


@pytest.mark.parametrize(
    "elsewhere",
    [{"url": "https://other.test/mcp"}, {"url": "http://mcp.test/mcp"}, {"command": "cat"}],
)
def test_a_secret_does_not_follow_to_another_host_or_command(
    api: RestWorld, elsewhere: dict[str, object]
) -> None:
    put(api, "ours", WITH_SECRET)

    assert put(api, "ours", elsewhere).json["parameters"] == []
    assert api.mcp_client.targets[-1].values == {}


def test_a_plain_parameter_of_the_catalogue_is_shown_and_a_needed_one_asked_for(
    api: RestWorld,
) -> None:
    missing = put(api, "searxng", {"enabled": True})
    assert (missing.status, missing.json["error"]["code"]) == (400, "mcp_parameter_missing")
    assert not listed(api, "searxng")["enabled"]

    address = "https://search.test"
    body = put(api, "searxng", {"enabled": True, "parameters": {"SEARXNG_URL": address}}).json

    assert [each["value"] for each in body["parameters"]] == [address]
    assert put(api, "custom", {"enabled": True}).json["error"]["code"] == "mcp_parameter_missing"


@pytest.mark.parametrize(
    "change",
    [
        {"url": "ftp://mcp.test"},
        {"url": "https://user:word@mcp.test"},
        {"url": "https://mcp.test/a b"},
        {"command": "a\nb"},
        {"parameters": {"bad name": "v"}},
        {"parameters": {"X-Key": "line\r\nline"}},
        {"command": "a", "url": "https://mcp.test"},
        {"unknown": 1},
    ],
)
def test_what_cannot_be_is_refused(api: RestWorld, change: dict[str, object]) -> None:
    refused = put(api, "ours", change)

    assert refused.status == 422
    assert api.mcp_servers.of_tenant(ACME) == []


def test_a_header_of_the_transport_itself_cannot_be_set(api: RestWorld) -> None:
    refused = put(api, "ours", {"url": "https://mcp.test", "parameters": {"Host": "x"}})

    assert refused.json["error"]["code"] == "mcp_parameter_unusable"


@pytest.mark.parametrize("user", ["alice", "operator"])
def test_who_is_no_administrator_sees_what_is_on_and_not_how_it_is_reached(
    api: RestWorld, user: str
) -> None:
    put(api, "ours", WITH_SECRET)

    seen = listed(api, "ours", user)

    assert [tool["name"] for tool in seen["tools"]] == ["drop table", "read"]
    assert (seen["url"], seen["parameters"], seen["command"]) == ("", [], "")
    for answer in (
        put(api, "ours", {"enabled": False}, user),
        api.post(f"{MCP}/ours/test", {}, user=user),
        api.send("DELETE", f"{MCP}/ours", user=user),
    ):
        assert (answer.status, answer.json["error"]["code"]) == (403, "forbidden")


def test_a_program_administers_no_server(api: RestWorld) -> None:
    assert put(api, "fetch", {"enabled": True}, "admins-agent").status == 403
    assert api.get(MCP, user="admins-agent").status == 403


def test_another_tenant_has_servers_of_its_own(api: RestWorld) -> None:
    put(api, "ours", WITH_SECRET)

    servers = api.get(MCP, user="mallory").json["servers"]

    assert "ours" not in [server["id"] for server in servers]
    assert api.mcp_servers.of_tenant(GLOBEX) == []


def test_a_server_that_is_removed_is_gone_and_one_of_the_catalogue_is_as_it_came(
    api: RestWorld,
) -> None:
    put(api, "ours", WITH_SECRET)
    put(api, "fetch", {"enabled": True})

    assert api.send("DELETE", f"{MCP}/ours", user="admin").status == 204
    assert api.send("DELETE", f"{MCP}/fetch", user="admin").status == 204
    assert api.send("DELETE", f"{MCP}/ours", user="admin").status == 404
    assert put(api, "Our_s", {"enabled": True}).json["error"]["code"] == "mcp_server_not_found"
    assert not listed(api, "fetch")["enabled"]
