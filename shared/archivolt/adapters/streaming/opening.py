"""Opens a streamed answer: the request, its retries, and the first bytes that come back.

Nothing is tried again once a byte of an answer was read: the person may have seen it.
"""

import asyncio
import json
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Mapping
from contextlib import AsyncExitStack
from dataclasses import dataclass, replace
from typing import Any

import httpx2

from archivolt.adapters.streaming.failures import is_transient, read_report, retry_delay
from archivolt.domain.tool import JsonObject
from archivolt.ports.chat_model import UnsentError

CONNECT_SECONDS = 10.0
BETWEEN_CHUNKS_SECONDS = 120.0
"""A model that reasons may be silent for long before its first word."""

PAUSES_BEFORE_RETRIES = (0.5, 2.0)
MAX_PAUSE_SECONDS = 8.0
MAX_ADAPTATIONS = 4
MAX_REPORT_BYTES = 64_000

_WORTH_A_RETRY = (
    httpx2.ConnectError,
    httpx2.ConnectTimeout,
    httpx2.PoolTimeout,
    httpx2.ReadError,
    httpx2.RemoteProtocolError,
    httpx2.WriteError,
)
_REACHED_NOBODY = (httpx2.ConnectError, httpx2.ConnectTimeout, httpx2.PoolTimeout)
_JSON = (b"", b"{", b"[")
_ABOUT_THE_BODY = frozenset({400, 422})


class StatusError(Exception):
    """The provider answered with an HTTP status that is not a success."""

    def __init__(self, status: int, report: JsonObject, retry_after: str) -> None:
        self.status = status
        self.report = report
        self.retry_after = retry_after
        super().__init__(f"HTTP {status}")


@dataclass(frozen=True, slots=True, kw_only=True)
class OpenedAnswer:
    """An answer that has begun: its kind, and its bytes from the first."""

    is_stream: bool
    first: bytes
    rest: AsyncIterator[bytes]

    async def pieces(self) -> AsyncIterator[bytes]:
        """Yield the bytes as they come."""
        yield self.first
        async for piece in self.rest:
            yield piece


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """A request as it is sent."""

    url: str
    headers: Mapping[str, str]
    body: JsonObject


Adapt = Callable[[Mapping[str, Any], str], JsonObject | None]
"""Returns a refused body as the provider takes it, by its complaint, or None."""


class AnswerOpener:
    """Sends requests.

    Args:
        client: Whatever guards outbound calls.
        adapt: Makes a refused body acceptable, where that can be done.
        pause: Waits for a number of seconds between retries.
        timeout: Of the connection, and between two chunks.

    """

    def __init__(
        self,
        client: httpx2.AsyncClient,
        adapt: Adapt,
        *,
        pause: Callable[[float], Awaitable[None]] = asyncio.sleep,
        timeout: httpx2.Timeout | None = None,
    ) -> None:
        self._client = client
        self._adapt = adapt
        self._pause = pause
        self._timeout = timeout or httpx2.Timeout(BETWEEN_CHUNKS_SECONDS, connect=CONNECT_SECONDS)

    async def open(
        self, question: Question, stack: AsyncExitStack, again: Callable[[], Awaitable[None]]
    ) -> OpenedAnswer:
        """Return the beginning of an answer; `stack` closes its connection.

        `again` is awaited before what may have been read by a provider is sent once more.

        Raises:
            StatusError: The provider refuses, still after the retries if they made sense.
            UnsentError: The request cannot be written.
            httpx2.HTTPError: There is no answer.

        """
        pauses = iter(PAUSES_BEFORE_RETRIES)
        adaptations, lost = 0, False
        while True:
            if lost:
                await again()
            try:
                return await self._attempt(question, stack)
            except StatusError as error:
                adapted = self._adapted(error, question.body)
                adaptations += 1
                if adapted is not None and adaptations <= MAX_ADAPTATIONS:
                    question, lost = replace(question, body=adapted), False
                    continue
                wait, lost = _pause_before_retry(error, pauses), False
            except _WORTH_A_RETRY as error:
                wait, lost = next(pauses, None), not isinstance(error, _REACHED_NOBODY)
                if wait is None:
                    raise
            await self._pause(wait)

    async def _attempt(self, question: Question, stack: AsyncExitStack) -> OpenedAnswer:
        async with AsyncExitStack() as attempt:
            response = await self._client.send(self._written(question), stream=True)
            attempt.push_async_callback(response.aclose)
            rest = response.aiter_bytes()
            if not response.is_success:
                report = read_report(await read_at_most(rest, MAX_REPORT_BYTES))
                retry_after = response.headers.get("retry-after", "")
                raise StatusError(response.status_code, report, retry_after)
            kind = response.headers.get("content-type", "")
            first = await anext(rest, b"")
            # Some say JSON of a stream.
            is_whole = kind.lower().startswith("application/json") and first.lstrip()[:1] in _JSON
            opened = OpenedAnswer(is_stream=not is_whole, first=first, rest=rest)
            stack.push_async_callback(attempt.pop_all().aclose)
            return opened

    def _written(self, question: Question) -> httpx2.Request:
        """Return a question as it is sent; half a surrogate pair or NaN cannot be."""
        try:
            return self._client.build_request(
                "POST",
                question.url,
                json=question.body,
                headers={"Accept": "text/event-stream", **question.headers},
                timeout=self._timeout,
            )
        except (ValueError, RecursionError) as error:
            raise UnsentError from error

    def _adapted(self, error: StatusError, body: JsonObject) -> JsonObject | None:
        """Return the body as the provider takes it, None where the error is about another thing."""
        if error.status not in _ABOUT_THE_BODY:
            return None
        return self._adapt(body, json.dumps(error.report))


def _pause_before_retry(error: StatusError, pauses: Iterator[float]) -> float:
    """Return how long to wait before the same request is sent again, or raise `error`."""
    wait = next(pauses, None) if is_transient(error.status, error.report) else None
    asked = retry_delay(error.retry_after, error.report)
    if wait is None or asked > MAX_PAUSE_SECONDS:
        raise error
    return max(wait, asked)


async def read_at_most(pieces: AsyncIterator[bytes], limit: int) -> bytes:
    """Return the bytes up to `limit`."""
    read = b""
    async for piece in pieces:
        read += piece
        if len(read) >= limit:
            break
    return read[:limit]
