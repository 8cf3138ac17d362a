"""`ChatProvider` over HTTP: one request, its stream, and its errors, whatever the wire format."""

import asyncio
import json
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable, Mapping
from contextlib import AsyncExitStack, aclosing, suppress
from dataclasses import replace
from decimal import Decimal
from functools import partial
from typing import Any

import httpx2

from archivolt.adapters.streaming.declarations import ToolNames
from archivolt.adapters.streaming.echoes import join_echoes
from archivolt.adapters.streaming.failures import (
    is_malformed_call,
    reported_failure,
    status_failure,
)
from archivolt.adapters.streaming.formats import (
    BrokenTurnError,
    ProviderFormat,
    ReportedError,
    TurnAssembler,
)
from archivolt.adapters.streaming.opening import AnswerOpener, Question, StatusError, read_at_most
from archivolt.adapters.streaming.sse import MAX_EVENT_BYTES, ChunkDecoder, UnreadableStreamError
from archivolt.domain.errors import ArchivoltError, InvalidRequestError, UnavailableError
from archivolt.domain.tool import JsonObject
from archivolt.ports.chat_model import (
    ModelEvent,
    ModelMessage,
    ModelRequest,
    ModelToolCall,
    ModelTurn,
    ProviderConnection,
    TextDelta,
    UnsentError,
)
from archivolt.ports.model_catalogue import ModelCatalogue

LINGER_SECONDS = 10.0
DRAIN_SECONDS = 0.1
MAX_PAUSED_TURNS = 4
"""How often a provider may ask to go on with the same turn."""


class StreamedChatModel:
    """Streams the answers of one provider.

    Args:
        client: Whatever guards outbound calls.
        wire: The format that the provider speaks.
        connection: Its name, address and key; the key goes to that address only, and may be empty.
        catalogue: Knows prices.
        pause: Waits for a number of seconds between retries.
        timeout: Of the connection, and between two chunks.
        linger: How many seconds to wait for the end of a stream whose turn is over.

    """

    def __init__(
        self,
        client: httpx2.AsyncClient,
        wire: ProviderFormat,
        connection: ProviderConnection,
        catalogue: ModelCatalogue,
        *,
        pause: Callable[[float], Awaitable[None]] = asyncio.sleep,
        timeout: httpx2.Timeout | None = None,
        linger: float = LINGER_SECONDS,
    ) -> None:
        self._wire = wire
        self._linger = linger
        self._connection = connection
        self._catalogue = catalogue
        self._opener = AnswerOpener(client, wire.adapted, pause=pause, timeout=timeout)

    def convert_mcp_tool(self, tool: Mapping[str, Any]) -> JsonObject:
        """See `ChatProvider.convert_mcp_tool`."""
        return self._wire.declaration(tool)

    def extract_tool_calls(self, answer: JsonObject) -> tuple[ModelToolCall, ...]:
        """See `ChatProvider.extract_tool_calls`.

        Raises:
            UnavailableError: `provider_unavailable`: it is no whole answer.
            InvalidRequestError: It is an error of the provider.

        """
        assembler = self._wire.assembler()
        try:
            for chunk in self._wire.chunks(answer):
                assembler.feed(chunk)
            assembler.close()
            return assembler.turn(ended=True).tool_calls
        except (BrokenTurnError, ReportedError) as error:
            raise self._translated(error) from error

    def estimate_cost(self, input_tokens: int, output_tokens: int, model: str) -> Decimal:
        """See `ChatProvider.estimate_cost`."""
        provider = self._connection.provider
        return self._catalogue.price(provider, model).cost(input_tokens, output_tokens)

    async def create_message(self, request: ModelRequest) -> AsyncGenerator[ModelEvent, None]:
        """See `ChatModel.create_message`."""
        names = ToolNames(request.tools)
        try:
            async with aclosing(self._continued(names.sent(request))) as events:
                async for event in events:
                    yield names.received(event) if isinstance(event, ModelTurn) else event
        except (
            BrokenTurnError,
            ReportedError,
            StatusError,
            UnreadableStreamError,
            httpx2.HTTPError,
            httpx2.InvalidURL,
        ) as error:
            raise self._translated(error) from error

    async def _continued(self, request: ModelRequest) -> AsyncGenerator[ModelEvent, None]:
        """Yield the events of a turn that the provider may pause, as of one."""
        so_far, asked, part = ModelTurn(text=""), request, None
        for _ in range(1 + MAX_PAUSED_TURNS):
            if part is not None:
                await _again(request, part)
            try:
                async with aclosing(self._told(request)) as events:
                    async for event in events:
                        if isinstance(event, TextDelta):
                            yield event
                        else:
                            so_far, part = _added(so_far, event), event
            except UnsentError as error:
                if request is asked:
                    raise
                raise BrokenTurnError from error
            if so_far.finish_reason != "paused":
                yield so_far
                return
            said = ModelMessage(role="assistant", text=so_far.text, echo=so_far.echo)
            request = replace(asked, messages=[*asked.messages, said])
        raise BrokenTurnError

    async def _events(self, request: ModelRequest) -> AsyncGenerator[ModelEvent, None]:
        assembler, decoder = self._wire.assembler(), ChunkDecoder()
        told = 0
        async with aclosing(self._chunks(request, decoder, assembler)) as chunks:
            async for chunk in chunks:
                shown = assembler.feed(chunk)
                unseen, told = assembler.unseen - told, assembler.unseen
                if shown or unseen:
                    yield TextDelta(text=shown, unseen=unseen)
        if shown := assembler.close():
            yield TextDelta(text=shown)
        yield assembler.turn(ended=decoder.done)

    async def _told(self, request: ModelRequest) -> AsyncGenerator[ModelEvent, None]:
        """Yield the events of one answer; a call the provider could not read is no error."""
        shown = ""
        try:
            async with aclosing(self._events(request)) as events:
                async for event in events:
                    shown += event.text if isinstance(event, TextDelta) else ""
                    yield event
        except (ReportedError, StatusError) as error:
            if not is_malformed_call(error.report):
                raise
            yield ModelTurn(text=shown, finish_reason="malformed")

    async def _chunks(
        self, request: ModelRequest, decoder: ChunkDecoder, assembler: TurnAssembler
    ) -> AsyncGenerator[JsonObject, None]:
        async with AsyncExitStack() as stack:
            again = partial(_again, request, None)
            opened = await self._opener.open(self._question(request), stack, again)
            if not opened.is_stream:
                whole = await read_at_most(opened.pieces(), MAX_EVENT_BYTES)
                for chunk in self._wire.chunks(_parsed(whole)):
                    yield chunk
                return
            pieces = opened.pieces()
            while (piece := await self._next(pieces, assembler)) is not None:
                for chunk in decoder.feed(piece):
                    yield chunk
                if decoder.done or assembler.ended:
                    await self._drain(pieces)
                    return
            for chunk in decoder.close():
                yield chunk

    async def _next(self, pieces: AsyncIterator[bytes], assembler: TurnAssembler) -> bytes | None:
        """Return the next bytes, None after the last: some never close a stream that is over."""
        linger = self._linger if assembler.finished else None
        try:
            async with asyncio.timeout(linger):
                return await anext(pieces, None)
        except TimeoutError:
            return None

    async def _drain(self, pieces: AsyncIterator[bytes]) -> None:
        """Read to the end of a transfer that is over: only so does its connection serve again."""
        with suppress(TimeoutError, httpx2.HTTPError):
            async with asyncio.timeout(min(self._linger, DRAIN_SECONDS)):
                async for _ in pieces:
                    pass

    def _question(self, request: ModelRequest) -> Question:
        try:
            body = self._wire.body(request)
        except Exception as error:
            raise UnsentError from error
        return Question(
            url=self._wire.url(self._connection.base_url, request.model),
            headers=self._wire.headers(self._connection.key),
            body=body,
        )

    def _translated(self, error: Exception) -> ArchivoltError:
        """Return our error for one of the adapter's, most specific first."""
        provider, key = self._connection.provider, self._connection.key
        match error:
            case StatusError():
                return status_failure(provider, error.status, error.report, key)
            case ReportedError():
                return reported_failure(provider, error.report, key)
            case httpx2.InvalidURL() | httpx2.UnsupportedProtocol():
                return InvalidRequestError(
                    "provider_refused", provider=provider, reason="provider_address"
                )
            case httpx2.ConnectError() | httpx2.ConnectTimeout() | httpx2.PoolTimeout():
                reason = "provider_unreachable"
            case httpx2.TimeoutException():
                reason = "provider_silent"
            case httpx2.HTTPError():
                reason = "provider_connection"
            case _:
                reason = "provider_incomplete"
        return UnavailableError("provider_unavailable", provider=provider, reason=reason)


async def _again(request: ModelRequest, came: ModelTurn | None) -> None:
    """Have it agreed to that the provider is asked once more."""
    if request.again is not None:
        await request.again(request, came)


def _added(before: ModelTurn, after: ModelTurn) -> ModelTurn:
    """Return two parts of one turn as one; the end is the second's."""
    return replace(
        after,
        text=before.text + after.text,
        input_tokens=before.input_tokens + after.input_tokens,
        output_tokens=before.output_tokens + after.output_tokens,
        reasoning=before.reasoning + after.reasoning,
        echo=join_echoes(before.echo, after.echo),
    )


def _parsed(body: bytes) -> object:
    try:
        return json.loads(body)
    except (ValueError, RecursionError) as error:
        raise UnreadableStreamError from error
