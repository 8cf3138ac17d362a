"""What the chat adds to a provider's own stream: before the first word, and for each piece.

The same provider, in a process of its own, is asked in turns by a bare client and through the whole
application: token, conversation, rules, tools and events are in it, the network between a person
and us is not. The bare client sends the same messages: any client of a provider does. Stores are in
memory; where there are real tables, conversations are in one as well. Each turn goes on with a
conversation of its own, so that its length stays what is said.
"""

import asyncio
import statistics
import time
import uuid
from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping
from contextlib import aclosing, nullcontext
from dataclasses import replace
from typing import Final

import httpx2

from archivolt.adapters.chat_models import OutboundChatModels
from archivolt.adapters.dynamodb.conversations import DynamoConversations
from archivolt.adapters.http.addresses import OutboundRules
from archivolt.adapters.http.outbound import guarded_async_client
from archivolt.adapters.models.table import ModelTable
from archivolt.domain.conversation import Author
from archivolt.domain.limits import MAX_HISTORY_MESSAGES
from archivolt.domain.providers import WireFormat
from archivolt.entrypoints.http.chat_app import LazyChatApp
from archivolt.ports.chat_model import ModelEvent, ModelRequest, ProviderConnection
from archivolt.ports.conversations import ConversationStore
from archivolt_local.tables.dynamodb_local import dynamodb_local, is_available
from bench.chat_round_trips import round_trip_rows
from bench.scripted_provider import scripted_provider
from bench.table import Row
from tests.builders import a_conversation, a_message
from tests.chat_world import ChatWorld
from tests.contract.conftest import client_of, make_table
from tests.entrypoints.asgi_call import AsgiCall
from tests.entrypoints.test_chat_http import MESSAGES, application, bearer
from tests.fakes.conversations import InMemoryConversations

ALLOWED_FIRST_MS: Final = 15.0
ALLOWED_PIECE_US: Final = 1_000.0
_ROUNDS: Final = 40
_PIECES: Final = 2_000
_PAST: Final = (0, 10, 100, 1_000)
_AUTHORS: Final = (Author.ASSISTANT, Author.USER)
# What one transaction carries.
_AT_ONCE: Final = 90
_SAID: Final = "The spare key is under the blue mat, as the note of last Tuesday says. " * 3
Timed = Callable[[], Awaitable[float]]
_Name = tuple[str, int]
_ALONE: Final = "the provider alone"
_WHOLE: Final = ("whole", 0)


class _OverHttp:
    """A model behind the real client of a provider, connected anew for each turn."""

    def __init__(self, base_url: str, client: httpx2.AsyncClient) -> None:
        self._models = OutboundChatModels(lambda: client, ModelTable())
        self._connection = ProviderConnection(
            provider="openai", base_url=base_url, key="", wire_format=WireFormat.OPENAI
        )

    async def create_message(self, request: ModelRequest) -> AsyncGenerator[ModelEvent, None]:
        """See `ChatModel.create_message`."""
        model = self._models.connect(self._connection)
        async with aclosing(model.create_message(request)) as events:
            async for event in events:
                yield event


def measure() -> list[Row]:
    """Return milliseconds before the first word, microseconds for each piece."""
    with dynamodb_local() if is_available() else nullcontext("") as tables:
        rows = asyncio.run(_measure(tables))
    return [*rows, *round_trip_rows()]


async def _measure(tables: str) -> list[Row]:
    async with (
        scripted_provider() as base_url,
        guarded_async_client(OutboundRules.from_setting("127.0.0.1")) as reached,
        httpx2.AsyncClient(trust_env=False) as bare,
    ):
        model = _OverHttp(base_url, reached)
        first: dict[_Name, Timed] = {}
        for past in _PAST:
            first[_ALONE, past] = _bare_with(bare, base_url, past)
            kept = _Conversations(InMemoryConversations(), past)
            first["in memory", past] = _first_word(model, kept)
        if tables:
            client = client_of("dynamodb", endpoint=tables)
            for past in _PAST:
                store = DynamoConversations(make_table(client, "ConversationsTable"))
                first["in a table", past] = _first_word(model, _Conversations(store, past))
        long: dict[_Name, Timed] = {
            (_ALONE, 0): lambda: _bare(bare, base_url, _PIECES),
            _WHOLE: _whole(model),
        }
        return [*_first_rows(await _in_turns(first, _ROUNDS)), _piece_row(await _in_turns(long, 7))]


class _Conversations:
    """Conversations of Alice with so many messages, one for each turn that is measured."""

    def __init__(self, store: ConversationStore, past: int) -> None:
        self.store = store
        self._past = past

    def begin(self) -> dict[str, str]:
        """Make one and return what names it in a message; nothing names one without messages."""
        if not self._past:
            return {}
        kept = a_conversation(uuid.uuid4().hex)
        self.store.create(kept)
        for first in range(1, self._past + 1, _AT_ONCE):
            numbers = range(first, min(first + _AT_ONCE, self._past + 1))
            said = [a_message(n, _SAID, author=_AUTHORS[n % 2]) for n in numbers]
            kept = self.store.append(replace(kept, messages=kept.messages[-_AT_ONCE:]), said)
        return {"conversation_id": kept.id}

    def end(self, body: Mapping[str, str]) -> None:
        """Let one go: what is kept in memory is looked through by the collector ever after."""
        if "conversation_id" in body:
            self.store.delete(a_conversation(body["conversation_id"]))


def _bare_with(bare: httpx2.AsyncClient, base_url: str, past: int) -> Timed:
    """Return what asks for one piece with as many messages as a turn shows the model."""
    return lambda: _bare(bare, base_url, 1, min(past, MAX_HISTORY_MESSAGES))


async def _bare(bare: httpx2.AsyncClient, base_url: str, pieces: int, past: int = 0) -> float:
    """Return the seconds to the first piece of a single one, or to the end of many."""
    messages = [{"role": "user", "content": _SAID}] * (past + 1)
    body = {"model": f"pieces-{pieces}", "messages": messages}
    start = time.perf_counter()
    took = 0.0
    async with bare.stream("POST", f"{base_url}/chat/completions", json=body) as answer:
        async for line in answer.aiter_lines():
            if line and (not took or pieces > 1):
                took = time.perf_counter() - start
    return took


def _first_word(model: _OverHttp, kept: _Conversations) -> Timed:
    """Return what takes a turn of one word, and returns the seconds to it."""
    app = _application(model, 1, kept.store)

    async def turn() -> float:
        body = {"message": _SAID, **await asyncio.to_thread(kept.begin)}
        start = time.perf_counter()
        async with AsgiCall(app, MESSAGES, body, bearer()) as call:
            await call.until(b"event: content_delta")
            took = time.perf_counter() - start
            await call.until(b"event: message_end")
        await asyncio.to_thread(kept.end, body)
        return took

    return turn


def _whole(model: _OverHttp) -> Timed:
    """Return what takes a turn of many pieces, and returns the seconds to its end."""
    app, body = _application(model, _PIECES, InMemoryConversations()), {"message": _SAID}

    async def turn() -> float:
        start = time.perf_counter()
        async with AsgiCall(app, MESSAGES, body, bearer()) as call:
            while b"event: message_end" not in await call.piece():
                pass
            return time.perf_counter() - start

    return turn


def _application(model: _OverHttp, pieces: int, kept: ConversationStore) -> LazyChatApp:
    world = ChatWorld(model, conversations=kept)
    world.vault("notes")
    world.use_model(f"pieces-{pieces}")
    return application(world)


async def _in_turns(steps: Mapping[_Name, Timed], rounds: int) -> dict[_Name, float]:
    """Return the median of each; the first rounds, in which modules are loaded, do not count."""
    taken: dict[_Name, list[float]] = {name: [] for name in steps}
    for _ in range(rounds):
        for name, step in steps.items():
            taken[name].append(await step())
    return {name: statistics.median(times[rounds // 4 :]) for name, times in taken.items()}


def _first_rows(seconds: Mapping[_Name, float]) -> list[Row]:
    """In memory beside what is allowed; in a table, which takes what it takes, beside none."""
    added = {
        (where, past): (took - seconds[_ALONE, past]) * 1e3
        for (where, past), took in seconds.items()
        if where != _ALONE
    }
    return [
        Row(
            measure=f"chat adds before the first word, {past:,} messages {where}",
            value=value,
            unit="ms",
            floor="allowed" if where == "in memory" else "after none",
            floor_value=ALLOWED_FIRST_MS if where == "in memory" else added[where, 0],
        )
        for (where, past), value in added.items()
    ]


def _piece_row(seconds: Mapping[_Name, float]) -> Row:
    return Row(
        measure="chat adds to each piece",
        value=(seconds[_WHOLE] - seconds[_ALONE, 0]) / _PIECES * 1e6,
        unit="µs",
        floor="allowed",
        floor_value=ALLOWED_PIECE_US,
    )
