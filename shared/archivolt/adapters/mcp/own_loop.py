"""An event loop in a thread of its own, which work is given to from any other."""

import asyncio
import threading
from collections.abc import Callable, Coroutine
from concurrent.futures import CancelledError, Future
from typing import Any, TypeVar

from archivolt.domain.abandonment import current_abandonment
from archivolt.domain.errors import UnavailableError

_ResultT = TypeVar("_ResultT")
_Work = Callable[[], Coroutine[Any, Any, None]]


class OwnLoop:
    """An event loop that is there from its first work on; `beside` runs on it all the while."""

    def __init__(self, beside: _Work) -> None:
        self._beside = beside
        self._starting = threading.Lock()
        self._is_closed = False
        self._loop: asyncio.AbstractEventLoop | None = None

    def run(self, work: Coroutine[Any, Any, _ResultT]) -> _ResultT:
        """Return what work comes to; it is cancelled when nobody waits for its caller any more.

        Raises:
            UnavailableError: `unavailable`: it was cancelled, or the loop is closed.

        """
        try:
            future = self._begun(work)
        except UnavailableError:
            work.close()
            raise
        try:
            with current_abandonment().ending(future.cancel):
                return future.result()
        except CancelledError as error:
            raise UnavailableError("unavailable") from error

    def close(self, last: _Work) -> None:
        """End it, once the last work is done; it takes none from now on."""
        with self._starting:
            loop, self._loop, self._is_closed = self._loop, None, True
        if loop is not None:
            asyncio.run_coroutine_threadsafe(last(), loop).result()
            loop.call_soon_threadsafe(loop.stop)

    def _begun(self, work: Coroutine[Any, Any, _ResultT]) -> Future[_ResultT]:
        # Under the lock: what is begun before the end is there when the last work is done.
        with self._starting:
            if self._is_closed:
                raise UnavailableError("unavailable")
            if self._loop is None:
                self._loop = asyncio.new_event_loop()
                threading.Thread(
                    target=_live, args=(self._loop,), name="mcp-servers", daemon=True
                ).start()
                asyncio.run_coroutine_threadsafe(self._beside(), self._loop)
            return asyncio.run_coroutine_threadsafe(work, self._loop)


def _live(loop: asyncio.AbstractEventLoop) -> None:
    asyncio.set_event_loop(loop)
    try:
        loop.run_forever()
    finally:
        loop.close()
