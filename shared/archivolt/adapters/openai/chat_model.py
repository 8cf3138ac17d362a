"""`ChatModel` over any OpenAI-compatible endpoint (S3, S4)."""

import asyncio
import json
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import AsyncExitStack, aclosing

import httpx2

from archivolt.adapters.openai.assembler import (
    BrokenTurnError,
    ReportedError,
    TurnAssembler,
    whole_completion,
)
from archivolt.adapters.openai.failures import reported_failure, status_failure
from archivolt.adapters.openai.json_values import an_object
from archivolt.adapters.openai.opening import CompletionOpener, StatusError, read_at_most
from archivolt.adapters.openai.sse import MAX_EVENT_BYTES, ChunkDecoder, UnreadableStreamError
from archivolt.adapters.openai.wire import completion_request
from archivolt.domain.errors import ArchivoltError, InvalidRequestError, UnavailableError
from archivolt.domain.tool import JsonObject
from archivolt.ports.chat_model import ModelEvent, ModelRequest, TextDelta


class OpenAIChatModel:
    """Streams chat completions of one provider.

    Args:
        client: Whatever guards outbound calls.
        provider: Its name in error messages.
        base_url: The address below which `/chat/completions` is.
        key: Sent to that address only; may be empty.
        pause: Waits for a number of seconds between retries.
        timeout: Of the connection, and between two chunks.

    """

    def __init__(
        self,
        client: httpx2.AsyncClient,
        *,
        provider: str,
        base_url: str,
        key: str = "",
        pause: Callable[[float], Awaitable[None]] = asyncio.sleep,
        timeout: httpx2.Timeout | None = None,
    ) -> None:
        self._provider = provider
        self._key = key
        base = base_url.rstrip("/")
        url = base if base.endswith("/chat/completions") else f"{base}/chat/completions"
        self._opener = CompletionOpener(client, url=url, key=key, pause=pause, timeout=timeout)

    async def create_message(self, request: ModelRequest) -> AsyncGenerator[ModelEvent, None]:
        """See `ChatModel.create_message`."""
        try:
            async with aclosing(self._events(request)) as events:
                async for event in events:
                    yield event
        except (
            BrokenTurnError,
            ReportedError,
            StatusError,
            UnreadableStreamError,
            httpx2.HTTPError,
            httpx2.InvalidURL,
        ) as error:
            raise self._translated(error) from error

    async def _events(self, request: ModelRequest) -> AsyncGenerator[ModelEvent, None]:
        assembler, decoder = TurnAssembler(), ChunkDecoder()
        async with aclosing(self._chunks(completion_request(request), decoder)) as chunks:
            async for chunk in chunks:
                if shown := assembler.feed(chunk):
                    yield TextDelta(text=shown)
        if shown := assembler.close():
            yield TextDelta(text=shown)
        yield assembler.turn(ended=decoder.done)

    async def _chunks(
        self, body: JsonObject, decoder: ChunkDecoder
    ) -> AsyncGenerator[JsonObject, None]:
        async with AsyncExitStack() as stack:
            opened = await self._opener.open(body, stack)
            if not opened.is_stream:
                whole = await read_at_most(opened.pieces(), MAX_EVENT_BYTES)
                yield whole_completion(_parsed(whole))
                return
            async for piece in opened.pieces():
                for chunk in decoder.feed(piece):
                    yield chunk
                if decoder.done:
                    return
            for chunk in decoder.close():
                yield chunk

    def _translated(self, error: Exception) -> ArchivoltError:
        """Return our error for one of the adapter's, most specific first."""
        match error:
            case StatusError():
                return status_failure(self._provider, error.status, error.report, self._key)
            case ReportedError():
                return reported_failure(self._provider, error.report, self._key)
            case httpx2.InvalidURL() | httpx2.UnsupportedProtocol():
                return InvalidRequestError(
                    "provider_refused", provider=self._provider, reason="provider_address"
                )
            case httpx2.TimeoutException():
                reason = "provider_silent"
            case httpx2.HTTPError():
                reason = "provider_connection"
            case _:
                reason = "provider_incomplete"
        return UnavailableError("provider_unavailable", provider=self._provider, reason=reason)


def _parsed(body: bytes) -> JsonObject:
    try:
        return an_object(json.loads(body))
    except (ValueError, RecursionError) as error:
        raise UnreadableStreamError from error
