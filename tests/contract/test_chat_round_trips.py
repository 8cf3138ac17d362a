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
from archivolt.domain.conversation import ConversationId
from archivolt.domain.identity import TenantId
from archivolt.domain.messages import Language
from archivolt.domain.settings import CHAT_API_KEY, TenantSettings
from archivolt.settings import Settings
from tests.builders import ACME, ALICE, principal
from tests.chat_world import events_of
from tests.contract.conftest import client_of, make_table
from tests.fakes.clock import FrozenClock

TABLES = ("ControlTable", "ConversationsTable", "LedgerTable", "AuditTable", "CatalogueTable")
MOST_ROUND_TRIPS = 3
ANSWER = (
    b'data: {"choices": [{"index": 0, "delta": {"content": "Hello."}, "finish_reason": "stop"}]}'
    b"\n\ndata: [DONE]\n\n"
)


class CountedTables:
    """The client of tables; counts round trips, those that go side by side as one.

    Which do is held to: the calls of a wave each wait until all of it are there, so that calls
    which are made one after another never get through.
    """

    def __init__(self, client: Any) -> None:  # noqa: ANN401  every operation of the client
        self._client = client
        self._lock = threading.Lock()  # moto is not thread-safe
        self._waves: list[threading.Barrier] = []
        self._made = 0
        self.calls: list[str] = []

    def expect(self, *waves: int) -> None:
        """Count anew, with so many calls side by side in each wave; any further call is a wave."""
        self._waves = [wave for size in waves for wave in [threading.Barrier(size)] * size]
        self._made = len(waves)
        self.calls = []

    @property
    def round_trips(self) -> int:
        """How many there were."""
        return self._made + max(len(self.calls) - len(self._waves), 0)

    def __getattr__(self, operation: str) -> Callable[..., Any]:
        def call(**arguments: object) -> Any:  # noqa: ANN401  as botocore
            with self._lock:
                place = len(self.calls)
                self.calls.append(operation)
            if place < len(self._waves):
                self._waves[place].wait(timeout=30)
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
    container.clock = FrozenClock()

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
            chat_model="gpt-4o",
            sealed_chat_api_key=sealed,
        ),
    )
    return container


def test_a_turn_waits_for_its_stores_at_most_three_times_before_its_model_is_asked(
    tables: CountedTables,
) -> None:
    trips: list[int] = []
    container = composed(tables, lambda: trips.append(tables.round_trips))

    async def turn(conversation: ConversationId | None = None) -> ConversationId:
        request = TurnRequest(text="Hi", conversation_id=conversation)
        # At the door, which keeps what it read for a moment.
        container.admission.admit(principal(ALICE))
        send = container.chat.send_message
        running = await send.start(principal(ALICE), request, language=Language.EN)
        await events_of(running)
        assert running.error is None
        return running.plan.conversation.id

    async def talk() -> None:
        await turn()  # what is known of the tenant is read now and then
        # Settings, skills, servers, two rates; the reservation; that it is sent, and the question.
        tables.expect(5, 1, 2)
        conversation = await turn()
        # The same, with the two reads of the conversation.
        tables.expect(7, 1, 2)
        await turn(conversation)

    asyncio.run(talk())

    assert trips[1:] == [MOST_ROUND_TRIPS, MOST_ROUND_TRIPS]
