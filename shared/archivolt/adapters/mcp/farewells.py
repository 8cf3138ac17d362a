"""Calls that nobody waits for any more: their server is told so, beside what follows.

The SDK tells it where its caller goes away (`notifications/cancelled`, or the end of the request in
the stateless era), and takes seconds over it where a server is hung.
"""

import asyncio
from collections.abc import Coroutine
from typing import Any, TypeVar

_AnswerT = TypeVar("_AnswerT")


class Farewells:
    """Those of one connection."""

    def __init__(self) -> None:
        self._leaving: set[asyncio.Task[Any]] = set()

    async def awaited(self, call: Coroutine[Any, Any, _AnswerT]) -> _AnswerT:
        """Return what a call comes to; whoever is cancelled leaves at once."""
        calling = asyncio.create_task(call)
        try:
            return await asyncio.shield(calling)
        except asyncio.CancelledError:
            self._leaving.add(calling)
            calling.add_done_callback(self._left)
            calling.cancel()
            raise

    def _left(self, calling: asyncio.Task[Any]) -> None:
        self._leaving.discard(calling)
        if not calling.cancelled():
            calling.exception()  # nobody asks any more
