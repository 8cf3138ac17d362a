"""Nobody sees the documents of others, through whatever door (in one process; see also e2e)."""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager

import httpx2
import pytest
from starlette.types import ASGIApp, Receive, Scope, Send

from archivolt.domain.identity import Role
from archivolt.entrypoints.http.chat_app import create_chat_app
from archivolt.entrypoints.http.chat_services import ChatServices
from archivolt.entrypoints.http.tools_app import create_tools_app
from archivolt.entrypoints.mcp.app import McpServices, create_app
from tests.builders import ALICE, BOB, GLOBEX, principal
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
from tests.fakes.governance import KnownTokens
from tests.world import SIGNING_KEY

pytestmark = pytest.mark.anyio

PEOPLE = {
    "alice": principal(ALICE),
    "bob": principal(BOB),
    "root": principal("root", role=Role.CPI_ADMIN),
    "mallory": principal("mallory", tenant=GLOBEX),
    "namesake": principal(ALICE, tenant=GLOBEX),
}
NOWHERE = Place("cellar", "absent/absent.md", "c0ffee")


class House:
    """Every door over one set of fakes, routed as the front door routes them."""

    def __init__(self) -> None:
        world = ChatWorld()
        world.write(world.vault("garden"), "beds/east.md", TEXT)
        world.write(world.vault("weeds", owner=PEOPLE["mallory"]), "list.md", f"No {TOPIC} here.")
        tokens = KnownTokens(PEOPLE)
        rest = rest_services(world, tokens)
        chat = ChatServices(
            enabled=True,
            token_verifier=tokens,
            send_message=world.send_message,
            conversations=world.conversation_service,
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
    assert len(content_seen(seen)) > len(seen) / 2


@pytest.mark.parametrize("user", ["bob", "mallory", "namesake"])
async def test_others_see_nothing_through_any_door(user: str) -> None:
    house, place = await a_house()

    async with house.visited_by(user) as http:
        there, nowhere = await walk(http, place), await walk(http, NOWHERE)

    assert content_seen(there) == []
    assert told_apart(there, nowhere, (place, NOWHERE)) == []


async def test_an_administrator_sees_the_tenants_conversations_but_no_document() -> None:
    house, place = await a_house()

    async with house.visited_by("root") as http:
        there, nowhere = await walk(http, place), await walk(http, NOWHERE)

    assert content_seen(there) == ["conversation"]
    assert told_apart(there, nowhere, (place, NOWHERE)) == ["conversation"]
