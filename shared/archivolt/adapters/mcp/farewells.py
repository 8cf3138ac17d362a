"""Calls that nobody waits for any more: their server is told so, beside what follows.

The SDK tells it where its caller goes away (`notifications/cancelled`, or the end of the request in
the stateless era), and takes seconds over it where a server is hung.
"""

import asyncio
from collections.abc import Callable, Coroutine
from typing import Any, Final, TypeVar

_AnswerT = TypeVar("_AnswerT")
# What is said is on its way for so long: over HTTP nothing tells that it arrived.
_ON_ITS_WAY_SECONDS: Final = 0.5


class Farewells:
    """Those of one connection; `said` is called whenever one of them is over."""

    def __init__(self, said: Callable[[], None]) -> None:
        self._said = said
        self._leaving: set[asyncio.Task[None]] = set()

    @property
    def are_on_their_way(self) -> bool:
        """Whether one is still being said."""
        return bool(self._leaving)

    async def awaited(self, call: Coroutine[Any, Any, _AnswerT]) -> _AnswerT:
        """Return what a call comes to; whoever is cancelled leaves at once."""
        calling = asyncio.create_task(call)
        try:
            return await asyncio.shield(calling)
        except asyncio.CancelledError:
            calling.cancel()
            leaving = asyncio.create_task(_leave(calling))
            self._leaving.add(leaving)
            leaving.add_done_callback(self._left)
            raise

    def _left(self, leaving: asyncio.Task[None]) -> None:
        self._leaving.discard(leaving)
        self._said()


async def _leave(calling: asyncio.Task[Any]) -> None:
    await asyncio.wait([calling])
    if not calling.cancelled():
        calling.exception()  # nobody asks any more
    await asyncio.sleep(_ON_ITS_WAY_SECONDS)
