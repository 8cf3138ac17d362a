"""How often a turn waits for its stores before its model is asked, with the adapters of production.

A call to a table is a round trip; those that go side by side are one.
"""

import asyncio
import base64
import threading
from collections.abc import Callable, Iterator
from typing import Any

import httpx2
import pytest
from moto import mock_aws

from archivolt.adapters.aws.clients import AwsClients
from archivolt.bootstrap import Container
from archivolt.chat.requests import TurnRequest
from archivolt.domain.identity import TenantId
from archivolt.domain.messages import Language
from archivolt.domain.settings import CHAT_API_KEY, TenantSettings
from archivolt.settings import Settings
from tests.builders import ACME, ALICE, principal
from tests.chat_world import events_of
from tests.contract.conftest import client_of, make_table

TABLES = ("ControlTable", "ConversationsTable", "LedgerTable", "AuditTable", "CatalogueTable")
MOST_ROUND_TRIPS = 3
ANSWER = (
    b'data: {"choices": [{"index": 0, "delta": {"content": "Hello."}, "finish_reason": "stop"}]}'
    b"\n\ndata: [DONE]\n\n"
)


class CountedTables:
    """The client of tables; counts the round trips of one thread after another.

    Its first `at_once` calls have to come side by side: each waits for all of them, and they are
    one round trip. Every later call is one.
    """

    def __init__(self, client: Any) -> None:  # noqa: ANN401  every operation of the client
        self._client = client
        self._lock = threading.Lock()  # moto is not thread-safe
        self._together: threading.Barrier | None = None
        self._at_once = 0
        self.calls: list[str] = []

    def count(self, *, at_once: int) -> None:
        """Count from now on."""
        self.calls, self._at_once = [], at_once
        self._together = threading.Barrier(at_once)

    @property
    def round_trips(self) -> int:
        """How many there were."""
        return bool(self.calls) + max(len(self.calls) - self._at_once, 0)

    def __getattr__(self, operation: str) -> Callable[..., Any]:
        def call(**arguments: object) -> Any:  # noqa: ANN401
            if self._together is not None:
                with self._lock:
                    self.calls.append(operation)
                    is_first = len(self.calls) <= self._at_once
                if is_first:
                    self._together.wait(timeout=30)
            with self._lock:
                return getattr(self._client, operation)(**arguments)

        return call


class CountedClients(AwsClients):
    """The clients of AWS, with the tables counted."""

    def __init__(self, dynamodb: CountedTables) -> None:
        super().__init__()
        self.__dict__["dynamodb"] = dynamodb


@pytest.fixture
def tables() -> Iterator[CountedTables]:
    with mock_aws():
        client = client_of("dynamodb")
        for logical_id in TABLES:
            make_table(client, logical_id)
        yield CountedTables(client)


def composed(tables: CountedTables, asked: Callable[[], None]) -> Container:
    """The product's own composition over the tables, with a provider that is told to count."""
    names: list[str] = tables.list_tables()["TableNames"]
    named = {f"{name.partition('Table')[0].lower()}_table": name for name in names}
    key = base64.b64encode(bytes(32)).decode()
    settings = {"user_store_encryption_key": key, "documents_bucket": "documents", **named}
    container = Container(Settings.model_validate(settings))
    container.aws = CountedClients(tables)

    def answer(_: httpx2.Request) -> httpx2.Response:
        asked()
        return httpx2.Response(200, content=ANSWER, headers={"content-type": "text/event-stream"})

    container.outbound_async_client = httpx2.AsyncClient(transport=httpx2.MockTransport(answer))
    sealed = container.secret_box.seal("not-a-real-" + "key", tenant=ACME, field=CHAT_API_KEY)
    container.tenant_settings.save(
        TenantId(ACME),
        TenantSettings(
            chat_provider="openai",
            chat_base_url="https://model.test/v1",
            chat_model="m-1",
            sealed_chat_api_key=sealed,
        ),
    )
    return container


def test_a_turn_waits_for_its_stores_at_most_three_times_before_its_model_is_asked(
    tables: CountedTables,
) -> None:
    trips: list[int] = []
    container = composed(tables, lambda: trips.append(tables.round_trips))

    async def talk() -> None:
        send = container.chat.send_message
        # Settings and skills side by side.
        tables.count(at_once=2)
        first = await send.start(principal(ALICE), TurnRequest(text="Hi"), language=Language.EN)
        await events_of(first)
        assert first.error is None
        # The same, and both reads of the conversation.
        tables.count(at_once=4)
        request = TurnRequest(text="And?", conversation_id=first.plan.conversation.id)
        second = await send.start(principal(ALICE), request, language=Language.EN)
        await events_of(second)
        assert second.error is None

    asyncio.run(talk())

    assert len(trips) == 2
    assert max(trips) <= MOST_ROUND_TRIPS
