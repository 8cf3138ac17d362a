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
                    await asyncio.wait({following})
            piece = following.result()
            if piece is None:
                return
            yield piece
