"""Every route that takes an id, and every tool that takes a vault, walked by another tenant.

What is there and another's is 404, and to the letter what is answered of an id that nobody has.
"""

import re
from collections.abc import Mapping
from typing import Any, NoReturn

import pytest
from starlette.testclient import TestClient

from archivolt.domain.federation import McpServer, McpTransport
from archivolt.domain.identity import Role, TokenKind
from archivolt.domain.oauth import Person
from archivolt.domain.rights import RIGHTS
from archivolt.domain.settings import TenantSettings
from archivolt.domain.tool import Surface
from archivolt.entrypoints.http.openapi import product_openapi
from archivolt.entrypoints.http.tools_app import create_tools_app
from archivolt.governance.admission import AdmittingVerifier
from archivolt.tools.catalogue import native_tools
from tests.builders import ACME, ALICE, BOB, GLOBEX, principal
from tests.chat_world import ChatWorld
from tests.entrypoints.rest_world import rest_services
from tests.entrypoints.test_chat_http import chat_application
from tests.fakes.governance import KnownTokens
from tests.fakes.oauth import InMemoryOAuthGrants
from tests.fakes.personal_tokens import InMemoryPersonalTokens
from tests.oauth import OAuthWorld

PEOPLE = {
    "alice": principal(ALICE, role=Role.TENANT_ADMIN),
    "bob": principal(BOB),
    # The strongest role that has its own tenant alone, and the same user id elsewhere.
    "mallory": principal("mallory", tenant=GLOBEX, role=Role.TENANT_ADMIN),
    "namesake": principal(ALICE, tenant=GLOBEX, role=Role.TENANT_ADMIN),
}
NOWHERE = "absentabsentabsent"
# Not ids: names that are the same for everybody, or what the caller's own tenant gives a name to.
NO_IDS = {
    "edit_text",
    "call_tool",
    "propose_change",
    "apply_change",
    "decline_change",
    "change_mcp_server",
    "test_mcp_server",
    "change_webhook",
}
# Runs have a world of their own: tests/entrypoints/test_run_routes.
OF_RUNS = {
    operation
    for operation in RIGHTS
    if operation.endswith(("_run", "_events", "_approval", "_schedule", "_permission"))
}
BODIES: Mapping[str, dict[str, Any]] = {
    "create_file": {"path": "new.md", "content": "x"},
    "edit_file": {"path": "plan.md", "content": "x", "etag": "e1"},
    "append_to_file": {"path": "plan.md", "content": "x"},
    "rename_file": {"path": "plan.md", "new_name": "other.md"},
    "restore_backup": {"path": "plan.md", "version": "v1"},
    "create_directory": {"path": "new"},
    "rename_directory": {"path": "old", "new_name": "new"},
    "undelete_directory": {"path": "old"},
    "move_path": {"source_path": "plan.md", "target_path": "other.md"},
    "begin_upload": {"path": "new.pdf", "size": 1},
    "change_vault": {"aiDestructiveTools": True},
    "set_member": {"role": "owner"},
    "change_tenant_settings": {"chat_enabled": False},
    "rename_conversation": {"title": "Mine"},
}
QUERY = {"path": "plan.md", "version": "v1"}
_PLACE = re.compile(r"{(\w+)}")


def _no_services() -> NoReturn:
    raise LookupError("a description of routes needs no services")


def routes() -> list[tuple[str, str, str]]:
    """Every operation that takes an id: its own id, method and path."""
    document = product_openapi(create_tools_app(_no_services))
    return [
        (operation["operationId"], method.upper(), path)
        for path, item in document["paths"].items()
        for method, operation in item.items()
        if _PLACE.search(path)
    ]


WALKED = [each for each in routes() if each[0] not in NO_IDS | OF_RUNS]


class House:
    """What Alice of Acme has, and the doors that lead to it."""

    def __init__(self) -> None:
        world = self.world = ChatWorld(rates={"per_token": 10**6, "per_tool": 10**6})
        tokens = AdmittingVerifier(KnownTokens(PEOPLE), world.admission)
        personal = InMemoryPersonalTokens()
        grants = InMemoryOAuthGrants()
        services = rest_services(world, tokens, "", personal, grants)
        self.tools = TestClient(create_tools_app(lambda: services))
        self.chat = TestClient(chat_application(world, tokens))
        world.write(world.vault("garden"), "plan.md", "The plan of acme.")
        world.share(world.vault("theirs"), PEOPLE["bob"])
        world.admission.admit(PEOPLE["bob"])
        self.ids = {
            "vault": "garden",
            "tenant": str(ACME),
            "user": str(BOB),
            "provider": "openai",
            "conversation_id": self._conversation(),
            "token_id": self.made("/api/v1/tokens", {"name": "x", "read_only": True})["id"],
            "connection_id": self._connection(grants),
            "confirmation": self._proposal(),
            "skill_id": self.made(
                "/api/v1/ai/skills",
                {"title": "Mine", "description": "d", "prompt": "p", "keywords": ["k"]},
            )["id"],
            "server_id": self._server(),
            "webhook_id": self._webhook(),
            "erasure": self._erasure(),
        }

    def made(self, path: str, body: dict[str, Any]) -> dict[str, Any]:
        """Return what Alice made."""
        answer = self._door(path).post(path, json=body, headers=_as("alice"))
        assert answer.is_success, answer.text
        return answer.json()

    def asked(self, route: tuple[str, str, str], user: str, ids: Mapping[str, str]) -> Any:  # noqa: ANN401  JSON
        """Return the answer of a route to somebody who knows the ids."""
        operation, method, path = route
        url = _PLACE.sub(lambda found: ids[found[1]], path)
        last = _PLACE.findall(path)[-1]
        body = BODIES.get(operation)
        return self._door(path).request(
            method,
            url,
            params={**QUERY, "confirm": ids[last]},
            json=body,
            headers=_as(user),
        )

    def _door(self, path: str) -> TestClient:
        of_chat = path.startswith(("/api/v1/chat/", "/api/v1/ai/"))
        return self.chat if of_chat else self.tools

    def _server(self) -> str:
        server = McpServer(
            id="acmes-own", enabled=True, transport=McpTransport.HTTP, url="https://acme.test/mcp"
        )
        self.world.mcp_servers.save(ACME, server)
        return server.id

    def _conversation(self) -> str:
        body = {"message": "What is the plan?", "stream": False}
        return self.made("/api/v1/chat/messages", body)["conversation_id"]

    def _connection(self, grants: InMemoryOAuthGrants) -> str:
        oauth = OAuthWorld(self.world.clock, grants)
        return oauth.pair(person=Person(tenant=ACME, user=ALICE, role=Role.VIEWER)).grant.id

    def _proposal(self) -> str:
        self.world.tenant_settings.save(ACME, TenantSettings(human_confirmation=True))
        return self.world.propose(
            "create_file",
            {"vault": "garden", "path": "new.md", "content": "x"},
            by=principal(ALICE, kind=TokenKind.MCP),
            surface=Surface.MCP,
        ).id

    def _webhook(self) -> str:
        body, name = {"url": "https://hooks.test"}, "acmes-webhook"
        made = self.tools.put(f"/api/v1/webhooks/{name}", json=body, headers=_as("alice"))
        return made.json()["id"]

    def _erasure(self) -> str:
        self.world.vault("shed")
        deleted = self.tools.delete("/api/v1/vaults/shed?confirm=shed", headers=_as("alice"))
        return deleted.json()["id"]


def _as(user: str) -> dict[str, str]:
    return {"Authorization": f"Bearer {user}"}


@pytest.fixture(scope="module")
def house() -> House:
    return House()


@pytest.mark.parametrize("route", WALKED, ids=lambda route: route[0])
def test_what_is_anothers_is_to_the_letter_what_nobody_has(
    house: House, route: tuple[str, str, str]
) -> None:
    absent = dict.fromkeys(house.ids, NOWHERE)
    for user in ("mallory", "namesake"):
        there = house.asked(route, user, house.ids)
        nowhere = house.asked(route, user, absent)
        if RIGHTS[route[0]].role is Role.CPI_ADMIN:
            assert there.status_code == nowhere.status_code == 403
            assert there.text == nowhere.text
            continue

        assert (there.status_code, nowhere.status_code) == (404, 404), there.text
        assert _unnamed(there.text, house.ids) == _unnamed(nowhere.text, absent)
        assert set(there.headers) == set(nowhere.headers)


def _unnamed(text: str, ids: Mapping[str, str]) -> str:
    for each in sorted(set(ids.values()), key=len, reverse=True):
        text = text.replace(f'"{each}"', '"…"').replace(f" {each}", " …")
    return text


def test_the_walk_harms_nothing(house: House) -> None:
    seen = house.tools.get("/api/v1/file/garden?path=plan.md", headers=_as("alice"))
    assert "The plan of acme" in seen.text
    conversation = f"/api/v1/chat/conversations/{house.ids['conversation_id']}"
    assert house.chat.get(conversation, headers=_as("alice")).status_code == 200
    tokens = house.tools.get("/api/v1/tokens", headers=_as("alice")).json()["tokens"]
    assert [each["id"] for each in tokens] == [house.ids["token_id"]]
    [webhook] = house.world.webhooks.of_tenant(ACME)
    assert (webhook.id, house.world.receiver.posted) == (house.ids["webhook_id"], [])


ARGUMENTS: Mapping[str, Any] = {
    "vault": "garden",
    "path": "plan.md",
    "source_path": "plan.md",
    "destination_dir": "old",
    "new_name": "other.md",
    "content": "x",
    "version": "v1",
    "q": "plan",
    "query": "plan",
    "find": "plan",
    "search": "plan",
    "replacement": "x",
    "replace": "x",
    "text": "plan",
    "url": "https://example.com/",
}
TOOLS_OF_A_VAULT = [
    tool.name for tool in native_tools() if "vault" in tool.spec.parameters["properties"]
]


@pytest.mark.parametrize("surface", list(Surface))
@pytest.mark.parametrize("name", TOOLS_OF_A_VAULT)
def test_a_tool_finds_no_vault_of_another_tenant(house: House, name: str, surface: Surface) -> None:
    tool = native_tools().get(name)
    if surface not in tool.scopes:
        return
    required = tool.spec.parameters.get("required", [])
    given = {each: ARGUMENTS[each] for each in required} | {"vault": "garden"}
    call = house.world.propose if tool.requires_confirmation else house.world.result
    told: list[str] = []
    for vault in ("garden", NOWHERE):
        with pytest.raises(Exception, match="vault_not_found") as error:
            call(name, given | {"vault": vault}, by=PEOPLE["namesake"], surface=surface)
        told.append(str(error.value).replace(vault, "…"))

    assert told[0] == told[1]


@pytest.mark.parametrize(
    "route", [each for each in WALKED if each[1] == "GET"], ids=lambda route: route[0]
)
def test_who_has_it_is_not_told_that_it_is_absent(
    house: House, route: tuple[str, str, str]
) -> None:
    answer = house.asked(route, "alice", house.ids)

    assert answer.status_code != 404, answer.text
