"""Connections to MCP servers of others: made at the first call, kept, closed when idle (S9, L4).

They live on an event loop of their own, in a thread of its own, whoever asks: functions that answer
in one piece, and turns of the chat that run side by side.
"""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from typing import Final
from weakref import WeakValueDictionary

from archivolt.adapters.mcp.failures import LinkLostError
from archivolt.adapters.mcp.link import Link
from archivolt.adapters.mcp.own_loop import OwnLoop
from archivolt.adapters.mcp.transports import Transports
from archivolt.domain import federation_limits as limits
from archivolt.domain.errors import UnavailableError
from archivolt.domain.federation import McpAnswers, McpResult, McpTarget, McpTool
from archivolt.domain.tool import JsonObject
from archivolt.observability import failure, logger
from archivolt.ports.clock import Clock
from archivolt.ports.federation import ListCheck

_SWEEP_SECONDS: Final = 15.0
# A server that does not end by itself is killed after four seconds.
_END_SECONDS: Final = 6.0
# What has been silent for so long is asked for its list before a call that is made once only.
_FRESH_SECONDS: Final = 5.0
# How long it may take over that: it is known to have been well.
_TRIED_SECONDS: Final = 5.0


class SdkMcpClient:
    """An `McpClient` on the official SDK.

    Args:
        transports: Open ways to servers.
        clock: The time, for what is idle.
        pause: Waits so many seconds before a connection is made anew.
        call_seconds: How long a call may take, its connection included.
        connect_seconds: How long a connection may take to be made.
        sweep_seconds: How often what is idle is looked for.

    """

    def __init__(
        self,
        transports: Transports,
        clock: Clock,
        *,
        pause: Callable[[float], Awaitable[None]] = asyncio.sleep,
        call_seconds: float = limits.MCP_CALL_SECONDS,
        connect_seconds: float = limits.MCP_CONNECT_SECONDS,
        sweep_seconds: float = _SWEEP_SECONDS,
    ) -> None:
        self._transports = transports
        self._clock = clock
        self._pause = pause
        self._call_seconds = call_seconds
        self._connect_seconds = connect_seconds
        self._sweep_seconds = sweep_seconds
        self._links: dict[str, Link] = {}
        # A lock is there as long as somebody holds it or waits for it.
        self._locks: WeakValueDictionary[str, asyncio.Lock] = WeakValueDictionary()
        self._open: set[Link] = set()
        self._is_closing = False
        self._loop = OwnLoop(self._sweep_regularly)

    def tools(self, target: McpTarget) -> list[McpTool]:
        """Connect, return what is listed, and leave nothing behind."""
        return self._loop.run(self._listed(target))

    def call(
        self,
        target: McpTarget,
        key: str,
        tool: str,
        arguments: JsonObject,
        *,
        check: ListCheck,
        repeatable: bool = False,
        answers: McpAnswers | None = None,
    ) -> McpResult:
        """Call a tool over the connection of a key; see the port."""
        call = (tool, arguments, answers)
        return self._loop.run(self._called(target, key, call, check, repeatable))

    def forget(self, key_prefix: str, *, but: Sequence[str]) -> None:
        """Close the connections of these keys that are not among `but`, soon."""

        def is_forgotten(key: str) -> bool:
            return key.startswith(key_prefix) and key not in but

        if any(map(is_forgotten, tuple(self._links))):
            self._loop.run(self._closed(is_forgotten))

    def sweep(self) -> None:
        """Close what has been idle for long; it is done regularly."""
        if self._links:
            self._loop.run(self._closed(self._is_idle))

    def close(self) -> None:
        """Close all, and wait until no program is left."""
        self._loop.close(self._all_ended)

    def _is_idle(self, key: str) -> bool:
        link = self._links[key]
        return link.is_over or (self._silence(link) >= limits.MCP_IDLE_SECONDS and not link.calls)

    def _silence(self, link: Link) -> float:
        return (self._clock.now() - link.used_at).total_seconds()

    async def _sweep_regularly(self) -> None:
        while True:
            await asyncio.sleep(self._sweep_seconds)
            try:
                await self._closed(self._is_idle)
            except Exception as error:  # noqa: BLE001  else nothing idle would be closed any more
                logger.error("idle connections are not closed", extra=failure(error))

    async def _listed(self, target: McpTarget) -> list[McpTool]:
        link = self._link(target)
        try:
            async with asyncio.timeout(min(target.seconds, self._connect_seconds)):
                return await link.tools()
        except TimeoutError as error:
            raise LinkLostError("mcp_slow").told(target.server) from error
        except LinkLostError as error:
            raise error.told(target.server) from error
        finally:
            link.close()
            await asyncio.wait([link.task], timeout=_END_SECONDS)

    async def _called(
        self,
        target: McpTarget,
        key: str,
        call: tuple[str, JsonObject, McpAnswers | None],
        check: ListCheck,
        repeatable: bool,
    ) -> McpResult:
        is_first = True
        link: Link | None = None
        try:
            async with asyncio.timeout(min(target.seconds, self._call_seconds)):
                while True:
                    link = await self._linked(target, key, check, settled=repeatable)
                    try:
                        return await link.call(*call)
                    except LinkLostError as error:
                        self._drop(key, link)
                        if error.is_unsent:
                            continue
                        harmless = error.is_unmade or (repeatable and not error.would_recur)
                        again, is_first = is_first and harmless, False
                        if not again:
                            raise UnavailableError(
                                "mcp_call_cut",
                                server=target.server,
                                reason=error.reason,
                                status=error.status,
                            ) from error
                    finally:
                        link.used_at = self._clock.now()
        except TimeoutError as error:
            if link is not None:
                link.stale = True  # whether it answers at all is tried before the next call
            raise UnavailableError(
                "mcp_call_timeout", server=target.server, limit=int(self._call_seconds)
            ) from error

    async def _linked(
        self, target: McpTarget, key: str, check: ListCheck, *, settled: bool
    ) -> Link:
        """Return a connection whose list was checked; `settled`: a call on it may be repeated.

        Raises:
            UnavailableError: `mcp_server_unavailable`.

        """
        async with self._locks.setdefault(key, asyncio.Lock()):
            link = self._links.get(key)
            if link is not None and link.serves(target):
                if not link.stale and (settled or self._silence(link) < _FRESH_SECONDS):
                    return link
                try:
                    await self._checked(link, check, min(_TRIED_SECONDS, self._connect_seconds))
                except BaseException as error:
                    self._drop(key, link)
                    if not isinstance(error, LinkLostError | TimeoutError):
                        raise
                else:
                    if link.serves(target):
                        return link
            return await self._made(target, key, check)

    async def _made(self, target: McpTarget, key: str, check: ListCheck) -> Link:
        """Make a connection, again with growing pauses where it breaks off."""
        pause = limits.MCP_FIRST_PAUSE_SECONDS
        for attempt in range(limits.MCP_RECONNECTS + 1):
            link = self._link(target)
            try:
                await self._checked(link, check, self._connect_seconds)
            except LinkLostError as error:
                link.close()
                if attempt == limits.MCP_RECONNECTS or not error.passes:
                    raise error.told(target.server) from error
                await self._pause(pause)
                pause *= 2
            except TimeoutError as error:
                link.close()
                raise LinkLostError("mcp_slow").told(target.server) from error
            except BaseException:
                link.close()
                raise
            else:
                self._keep(key, link)
                return link
        raise LinkLostError("mcp_unreachable").told(target.server)

    async def _checked(self, link: Link, check: ListCheck, seconds: float) -> None:
        async with asyncio.timeout(seconds):
            listed = await link.tools()
        # What it learns it keeps: no other connection waits for that.
        await asyncio.to_thread(check, listed)

    def _keep(self, key: str, link: Link) -> None:
        self._links[key] = link
        idle = [each for each in self._links.items() if not each[1].calls and each[1] is not link]
        idle.sort(key=lambda each: each[1].used_at)
        for each, kept in idle[: max(0, len(self._links) - limits.MAX_MCP_LINKS)]:
            self._drop(each, kept)

    def _drop(self, key: str, link: Link) -> None:
        if self._links.get(key) is link:
            del self._links[key]
        link.retire()

    def _link(self, target: McpTarget) -> Link:
        if self._is_closing:
            raise UnavailableError("unavailable")  # nothing would end it
        link = Link(target, self._transports, self._clock.now())
        self._open.add(link)

        def ended(task: asyncio.Task[None]) -> None:
            self._open.discard(link)
            if not task.cancelled():
                task.exception()  # told already to whoever called

        link.task.add_done_callback(ended)
        return link

    async def _closed(self, which: Callable[[str], bool]) -> None:
        for key, link in tuple(self._links.items()):
            if which(key):
                self._drop(key, link)
                link.close()

    async def _all_ended(self) -> None:
        self._is_closing = True
        self._links.clear()
        for link in self._open:
            link.close()
        if self._open:
            await asyncio.wait([link.task for link in self._open], timeout=_END_SECONDS)
        left = asyncio.all_tasks() - {asyncio.current_task()}
        for task in left:
            task.cancel()
        if left:  # who waits for one of them has to hear of its end
            await asyncio.wait(left, timeout=_END_SECONDS)
