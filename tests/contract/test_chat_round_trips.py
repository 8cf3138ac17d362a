"""How often a turn waits for its stores before its model is asked, with the adapters of production.

A call to a table or a bucket is a round trip; those that go side by side are one.
"""

import asyncio
import base64
import json
import threading
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from typing import Any

import httpx2
import jwt
import pytest
from moto import mock_aws

from archivolt.adapters.aws.clients import AwsClients
from archivolt.bootstrap import Container
from archivolt.composition.tenancy import tenant_directory
from archivolt.domain.federation import McpServer, McpTool, McpTransport
from archivolt.domain.identity import TenantId, UserId
from archivolt.domain.paths import VaultPath
from archivolt.domain.settings import CHAT_API_KEY, TenantSettings
from archivolt.domain.tenancy import UserState
from archivolt.entrypoints.http.chat_app import LazyChatApp
from archivolt.settings import Settings
from tests.builders import ACME, ALICE, a_vault
from tests.contract.conftest import REGION, client_of, make_table
from tests.entrypoints.asgi_call import AsgiCall
from tests.fakes.clock import FrozenClock
from tests.fakes.sync import InMemorySyncQueue

TABLES = ("ControlTable", "ConversationsTable", "LedgerTable", "AuditTable", "CatalogueTable")
ISSUER = "https://id.test"
LOCAL_KEY = "not-a-real-" + "key" * 8
TOKEN = jwt.encode(
    {"iss": ISSUER, "aud": "archivolt", "sub": ALICE, "tenant": ACME, "exp": 4_000_000_000},
    LOCAL_KEY,
    algorithm="HS256",
)
MESSAGES = "/api/v1/chat/messages"
MOST_ROUND_TRIPS = 3
# Who the person is, settings, skills, servers, two rates; what is set aside for the call; that it
# is sent, and the question.
OF_A_NEW_ONE = (6, 1, 2)
# The same, with the two reads of the conversation.
OF_ONE_THAT_GOES_ON = (8, 1, 2)
# The same, with the read of the vault, and of the file.
OF_ONE_ABOUT_A_FILE = (10, 1, 2)
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
        self.calls = 0

    def expect(self, *waves: int) -> None:
        """Count anew, with so many calls side by side in each wave; any further call is a wave."""
        self._waves = [wave for size in waves for wave in [threading.Barrier(size)] * size]
        self._made = len(waves)
        self.calls = 0

    @property
    def round_trips(self) -> int:
        """How many there were."""
        return self._made + max(self.calls - len(self._waves), 0)

    def __getattr__(self, operation: str) -> Callable[..., Any]:
        return self.counted(getattr(self._client, operation))

    def counted(self, made: Callable[..., Any]) -> Callable[..., Any]:
        """Return an operation, of this client or another, whose calls count."""

        def call(**arguments: Any) -> Any:  # noqa: ANN401  as botocore
            if "'CONVERSATION'" in str(arguments.get("Key")):
                # A look whether the person wants a turn ended, each second beside it: on a busy
                # machine there are some, and the last may come when the next turn has begun.
                return self._sent(made, arguments)
            with self._lock:
                place = self.calls
                self.calls += 1
            if place < len(self._waves):
                self._waves[place].wait(timeout=30)
            return self._sent(made, arguments)

        return call

    def _sent(self, made: Callable[..., Any], arguments: Mapping[str, Any]) -> Any:  # noqa: ANN401
        with self._lock:
            return made(**arguments)


class CountedObjects:
    """The client of buckets, whose calls count with those of tables."""

    def __init__(self, client: Any, tables: CountedTables) -> None:  # noqa: ANN401  as above
        self._client = client
        self._tables = tables

    def __getattr__(self, name: str) -> Any:  # noqa: ANN401  an operation, or the errors of all
        found = getattr(self._client, name)
        return self._tables.counted(found) if callable(found) else found


class CountedClients(AwsClients):
    """The clients of AWS, with calls to tables and buckets counted."""

    def __init__(self, dynamodb: CountedTables) -> None:
        super().__init__()
        self.__dict__["dynamodb"] = dynamodb
        self.__dict__["s3"] = CountedObjects(client_of("s3"), dynamodb)


class Deployment:
    """The product's own composition over the tables, with a provider that counts when it is asked.

    A minute passes before each turn, so that nothing is fresh that is believed for a moment only.
    """

    def __init__(self, tables: CountedTables) -> None:
        self.tables = tables
        self.trips: list[int] = []
        self.clock = FrozenClock()
        self.container = self._composed()
        self.configure()
        self._app = LazyChatApp(lambda: self.container.chat.services)

    def configure(self, **settings: Any) -> None:  # noqa: ANN401  by name
        """Set settings of the tenant."""
        key = self.container.secret_box.seal("not-a-real-" + "key", tenant=ACME, field=CHAT_API_KEY)
        configured = TenantSettings(
            chat_provider="openai",
            chat_base_url="https://model.test/v1",
            chat_model="gpt-4o",
            sealed_chat_api_key=key,
        )
        self.container.tenant_settings.save(TenantId(ACME), replace(configured, **settings))

    def turns(self, *waves: tuple[int, ...], **asked: object) -> list[str]:
        """Take turns of one conversation, each in such waves, and return their answers."""
        return asyncio.run(self._turns(waves, asked))

    async def _turns(
        self, waves: tuple[tuple[int, ...], ...], asked: Mapping[str, object]
    ) -> list[str]:
        answers: list[str] = []
        conversation: dict[str, str] = {}
        for expected in waves:
            self.clock.advance(minutes=1)
            self.tables.expect(*expected)
            body = {"message": "Hi", **asked, **conversation}
            async with AsgiCall(
                self._app, MESSAGES, body, {"Authorization": f"Bearer {TOKEN}"}
            ) as call:
                said = await call.until(b"}")
                if call.status == 200:
                    said += await call.until(b"event: message_end")
                    started = json.loads(said.partition(b"data: ")[2].partition(b"\n")[0])
                    conversation = {"conversation_id": started["conversation_id"]}
            answers.append(said.decode())
        return answers

    def _composed(self) -> Container:
        names: list[str] = self.tables.list_tables()["TableNames"]
        named = {f"{name.partition('Table')[0].lower()}_table": name for name in names}
        key = base64.b64encode(bytes(32)).decode()
        settings = {
            "user_store_encryption_key": key,
            "documents_bucket": "documents",
            "chat_enabled": True,
            "auth_issuer": ISSUER,
            "auth_local_key": LOCAL_KEY,
            **named,
        }
        container = Container(Settings.model_validate(settings))
        container.aws = CountedClients(self.tables)
        container.clock = self.clock
        container.index.sync.queue = InMemorySyncQueue()
        container.outbound_async_client = httpx2.AsyncClient(
            transport=httpx2.MockTransport(self._answer)
        )
        return container

    def _answer(self, _: httpx2.Request) -> httpx2.Response:
        self.trips.append(self.tables.round_trips)
        return httpx2.Response(200, content=ANSWER, headers={"content-type": "text/event-stream"})


@pytest.fixture
def deployment() -> Iterator[Deployment]:
    with mock_aws():
        client = client_of("dynamodb")
        for logical_id in TABLES:
            make_table(client, logical_id)
        deployment = Deployment(CountedTables(client))
        deployment.turns(())  # its person is noted on the first day
        yield deployment


def test_every_turn_waits_for_its_stores_three_times_before_its_model_is_asked(
    deployment: Deployment,
) -> None:
    deployment.turns(OF_A_NEW_ONE, *[OF_ONE_THAT_GOES_ON] * 10)

    assert deployment.trips[1:] == [MOST_ROUND_TRIPS] * 11


def test_budgets_and_servers_of_others_cost_no_further_round_trip(deployment: Deployment) -> None:
    deployment.configure(chat_monthly_budget_usd="100", chat_daily_tokens_per_user=1_000_000)
    tool = McpTool(name="look", read_only=True)
    server = McpServer(
        id="others", enabled=True, transport=McpTransport.HTTP, url="https://m.test", tools=(tool,)
    )
    deployment.container.tools.federation.store.save(ACME, server)

    deployment.turns(OF_A_NEW_ONE, OF_ONE_THAT_GOES_ON)

    assert deployment.trips[1:] == [MOST_ROUND_TRIPS] * 2


def test_a_question_about_a_document_costs_no_further_round_trip_once_its_vault_is_known(
    deployment: Deployment,
) -> None:
    location = {"LocationConstraint": REGION}
    client_of("s3").create_bucket(Bucket="documents", CreateBucketConfiguration=location)
    notes, container = a_vault("notes"), deployment.container
    container.vault_directory.create(notes, owner=UserId(ALICE))
    container.file_store.create(notes.ref, VaultPath("key.md"), b"Under the mat.")
    about = {"context": "documents", "vault": "notes", "paths": ["key.md"]}

    deployment.turns((), OF_ONE_ABOUT_A_FILE, **about)

    assert deployment.trips[2:] == [MOST_ROUND_TRIPS]


def test_who_was_suspended_meanwhile_is_answered_nothing_though_all_was_read_beside(
    deployment: Deployment,
) -> None:
    tenants = tenant_directory(deployment.container)
    tenants.set_user_state(TenantId(ACME), UserId(ALICE), UserState.SUSPENDED)

    [refused] = deployment.turns(OF_A_NEW_ONE[:1])

    assert json.loads(refused)["error"]["code"] == "user_suspended"
    assert len(deployment.trips) == 1
    kept, _ = deployment.container.conversations.of_user(TenantId(ACME), UserId(ALICE), limit=9)
    assert len(kept) == 1
