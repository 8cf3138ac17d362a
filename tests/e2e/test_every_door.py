"""Nobody sees the documents of others through any door of the running stack."""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager

import httpx2
import pytest

from archivolt.domain.identity import Role
from tests.e2e.stack import Stack, wait_until
from tests.every_door import (
    API,
    TEXT,
    TOPIC,
    Place,
    content_seen,
    told_apart,
    unseen_by_owner,
    walk,
)

pytestmark = pytest.mark.anyio

OWNER = "door-owner"
NOWHERE = Place("every-cellar", "absent/absent.md", "c0ffee")


@pytest.fixture(scope="module")
def place(stack: Stack) -> Place:
    """A document of a user who owns one vault, searchable by meaning and by words."""
    vault, path = "every-door", "beds/east.md"
    with stack.client(stack.token(OWNER, role=Role.VIEWER)) as http:
        assert http.post(f"{API}/vaults", json={"name": vault}).status_code == 201
        file = {"path": path, "content": TEXT}
        assert http.post(f"{API}/file/{vault}", json=file).status_code == 201

        wait_until(lambda: has_vectors(http, vault))
        message = {"message": f"Which {TOPIC}?", "stream": False}
        told = http.post(f"{API}/chat/messages", json=message)
        assert told.status_code == 200, told.text
    return Place(vault, path, told.json()["conversation_id"])


def has_vectors(http: httpx2.Client, vault: str) -> bool:
    return http.get(f"{API}/vault/{vault}/index").json()["states"]["indexed"] == 1


@asynccontextmanager
async def visited(stack: Stack, token: str) -> AsyncGenerator[httpx2.AsyncClient]:
    async with httpx2.AsyncClient(
        base_url=stack.url,
        headers={"Authorization": f"Bearer {token}"},
        timeout=60,
        trust_env=False,
    ) as http:
        yield http


async def test_the_owner_sees_the_document_through_every_door(stack: Stack, place: Place) -> None:
    async with visited(stack, stack.token(OWNER, role=Role.VIEWER)) as http:
        seen = await walk(http, place)

    assert unseen_by_owner(seen, place) == []
    assert len(content_seen(seen)) > len(seen) / 3


@pytest.mark.parametrize(
    ("user", "tenant", "role"),
    [
        ("nobodys-member", "local", Role.VIEWER),
        ("mallory", "globex", Role.CPI_ADMIN),
        (OWNER, "globex", Role.TENANT_ADMIN),
    ],
)
async def test_others_see_nothing_through_any_door(
    stack: Stack, place: Place, user: str, tenant: str, role: Role
) -> None:
    async with visited(stack, stack.token(user, tenant=tenant, role=role)) as http:
        there, nowhere = await walk(http, place), await walk(http, NOWHERE)

    assert content_seen(there) == []
    assert told_apart(there, nowhere, (place, NOWHERE)) == []
