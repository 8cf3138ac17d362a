"""Nobody sees the documents of others, through whatever door (in one process; see also e2e)."""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import replace

import httpx2
import pytest
from starlette.types import ASGIApp, Receive, Scope, Send

from archivolt.domain.identity import Role, TokenKind, TokenReach
from archivolt.entrypoints.http.chat_app import create_chat_app
from archivolt.entrypoints.http.chat_services import ChatServices
from archivolt.entrypoints.http.tools_app import create_tools_app
from archivolt.entrypoints.mcp.app import McpServices, create_app
from tests.builders import ACME, ALICE, BOB, GLOBEX, principal
from tests.chat_world import ChatWorld
from tests.entrypoints.rest_world import rest_services
from tests.every_door import (
    TEXT,
    TOPIC,
    Place,
    content_seen,
    told_apart,
    unseen_by_owner,
    walk,
)
from tests.export_world import taking_home_of
from tests.fakes.governance import KnownTokens
from tests.world import SIGNING_KEY

pytestmark = pytest.mark.anyio

# Ids as `World.vault` makes them.
SHED_ONLY = TokenReach(vaults=frozenset({f"id-of-{ACME}-shed"}))
READ_ONLY = TokenReach(read_only=True)
PEOPLE = {
    "alice": principal(ALICE),
    "bob": principal(BOB),
    "root": principal("root", role=Role.CPI_ADMIN),
    "mallory": principal("mallory", tenant=GLOBEX),
    "namesake": principal(ALICE, tenant=GLOBEX),
    "program": replace(principal(ALICE, kind=TokenKind.PERSONAL), reach=SHED_ONLY),
    "reader": replace(principal(ALICE), reach=READ_ONLY),
    "reading-program": replace(principal(ALICE, kind=TokenKind.PERSONAL), reach=READ_ONLY),
}
NEW_FILE: dict[str, object] = {"vault": "garden", "path": "new.md", "content": "x"}
WRITES: list[tuple[str, str, dict[str, object]]] = [
    ("POST", "/vaults", {"name": "mine"}),
    ("PATCH", "/vaults/garden", {"aiDestructiveTools": True}),
    ("PUT", "/vaults/garden/members/bob", {"role": "owner"}),
    ("DELETE", "/vaults/garden/members/alice", {}),
    ("POST", "/file/garden", {"path": "new.md", "content": "x"}),
    ("DELETE", "/file/garden?path=beds/east.md", {}),
    ("POST", "/vault/garden/uploads", {"path": "new.pdf", "size": 1}),
    ("PUT", "/tenants/acme/settings", {}),
    ("POST", "/tokens", {"name": "more", "read_only": False}),
    ("POST", "/confirmations/c0ffee/approve", {}),
    ("POST", "/confirmations/c0ffee/decline", {}),
    ("POST", "/tools/create_file", NEW_FILE),
    ("POST", "/tools/create_file/propose", NEW_FILE),
]
NOWHERE = Place("cellar", "absent/absent.md", "c0ffee")


class House:
    """Every door over one set of fakes, routed as the front door routes them."""

    def __init__(self) -> None:
        world = ChatWorld()
        world.write(world.vault("garden"), "beds/east.md", TEXT, tags=("perennials",))
        world.write(world.vault("shed"), "tools.md", "A rake and a spade.")
        world.write(world.vault("weeds", owner=PEOPLE["mallory"]), "list.md", f"No {TOPIC} here.")
        tokens = KnownTokens(PEOPLE)
        rest = rest_services(world, tokens)
        chat = ChatServices(
            enabled=True,
            token_verifier=tokens,
            send_message=world.send_message,
            scopes=world.scopes,
            skills=world.skills,
            editor=world.editor,
            conversations=world.conversation_service,
            model_choices=world.model_choices,
            usage=world.usage,
            taking_home=lambda: taking_home_of(world),
            close=world.outside.close,
        )
        self._tools: ASGIApp = create_tools_app(lambda: rest)
        self._chat: ASGIApp = create_chat_app(lambda: chat)
        self._mcp = create_app(
            McpServices(
                token_verifier=tokens, pipeline=world.pipeline, state_key=lambda: SIGNING_KEY
            )
        )

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        path: str = scope["path"]
        if path.startswith("/api/v1/chat"):
            await self._chat(scope, receive, send)
        else:
            await (self._mcp if path == "/mcp" else self._tools)(scope, receive, send)

    @asynccontextmanager
    async def visited_by(self, user: str) -> AsyncGenerator[httpx2.AsyncClient]:
        """A client with a user's token."""
        async with httpx2.AsyncClient(
            transport=httpx2.ASGITransport(app=self),
            base_url="http://house.test",
            headers={"authorization": f"Bearer {user}"},
        ) as http:
            yield http


async def a_house() -> tuple[House, Place]:
    house = House()
    async with house.visited_by("alice") as http:
        message = {"message": f"Which {TOPIC}?", "stream": False}
        told = (await http.post("/api/v1/chat/messages", json=message)).json()
    return house, Place("garden", "beds/east.md", told["conversation_id"])


async def test_the_owner_sees_the_document_through_every_door() -> None:
    house, place = await a_house()

    async with house.visited_by("alice") as http:
        seen = await walk(http, place)

    assert unseen_by_owner(seen, place) == []
    assert len(content_seen(seen)) > len(seen) / 3


@pytest.mark.parametrize("user", ["bob", "mallory", "namesake", "program"])
async def test_others_see_nothing_through_any_door(user: str) -> None:
    house, place = await a_house()

    async with house.visited_by(user) as http:
        there, nowhere = await walk(http, place), await walk(http, NOWHERE)

    assert content_seen(there) == []
    assert told_apart(there, nowhere, (place, NOWHERE)) == []


async def test_a_token_for_one_vault_sees_that_one() -> None:
    house, _ = await a_house()

    async with house.visited_by("program") as http:
        vaults = (await http.get("/api/v1/vaults")).json()["vaults"]
        read = await http.get("/api/v1/file/shed?path=tools.md")

    assert [vault["name"] for vault in vaults] == ["shed"]
    assert "rake" in read.text


async def test_tags_come_from_vaults_in_reach_alone() -> None:
    house, _ = await a_house()
    seen: dict[str, str] = {}

    for user in ("alice", "program"):
        async with house.visited_by(user) as http:
            answers = [await http.get(f"/api/v1/tags{more}") for more in ("", "/suggest?text=x")]
        seen[user] = "".join(answer.text for answer in answers)

    assert "perennials" in seen["alice"]
    assert "perennials" not in seen["program"]


@pytest.mark.parametrize("user", ["reader", "reading-program"])
async def test_a_token_that_only_reads_changes_nothing_through_any_route(user: str) -> None:
    house, _ = await a_house()
    refused: list[int] = []

    async with house.visited_by(user) as http:
        assert (await http.get("/api/v1/file/garden?path=beds/east.md")).status_code == 200
        for method, address, body in WRITES:
            answer = await http.request(method, f"/api/v1{address}", json=body)
            refused.append(answer.status_code)

    assert refused == [403] * len(WRITES)
    async with house.visited_by("alice") as http:
        assert TEXT in (await http.get("/api/v1/file/garden?path=beds/east.md")).text
        assert len((await http.get("/api/v1/vaults")).json()["vaults"]) == len(("garden", "shed"))


async def test_an_administrator_sees_the_tenants_conversations_but_no_document() -> None:
    house, place = await a_house()

    async with house.visited_by("root") as http:
        there, nowhere = await walk(http, place), await walk(http, NOWHERE)

    assert content_seen(there) == ["conversation"]
    assert told_apart(there, nowhere, (place, NOWHERE)) == ["conversation"]
