"""Streams that are never silent for long: what stands between would take them for dead."""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import aclosing

from archivolt.chat.sse import HEARTBEAT
from archivolt.domain.limits import HEARTBEAT_SECONDS


async def kept_awake(
    pieces: AsyncGenerator[bytes, None], heartbeat_seconds: float = HEARTBEAT_SECONDS
) -> AsyncGenerator[bytes, None]:
    """Yield the pieces of an event stream, and a comment whenever none came for a while.

    Whoever closes this closes `pieces`, amid whatever they wait for.
    """
    async with aclosing(pieces):
        while True:
            following = asyncio.ensure_future(anext(pieces, None))
            try:
                while not (await asyncio.wait({following}, timeout=heartbeat_seconds))[0]:
                    yield HEARTBEAT
            finally:
                if following.cancel():
                    await _over(following)
            piece = following.result()
            if piece is None:
                return
            yield piece


async def _over(task: "asyncio.Task[bytes | None]") -> None:
    """Wait until a task is over; frameworks call off again and again what waits for that."""
    called_off: asyncio.CancelledError | None = None
    while not task.done():
        try:
            await asyncio.wait({task})
        except asyncio.CancelledError as error:
            called_off = error
    if called_off is not None:
        raise called_off
