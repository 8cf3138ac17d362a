"""How much a server may say without being asked: what it sends is counted, whatever it is.

Each message is work, and a request of theirs is kept until it is answered.
"""

from collections.abc import AsyncIterator
from types import TracebackType
from typing import Final, Protocol, Self, cast

import httpx2
from mcp.shared.message import SessionMessage
from mcp_types import JSONRPCRequest, JSONRPCResponse

from archivolt.adapters.http.outbound import AnswerCapError
from archivolt.adapters.mcp.failures import LinkLostError
from archivolt.adapters.mcp.structure import Structure
from archivolt.domain.federation_limits import (
    MAX_MCP_MESSAGES,
    MAX_MCP_PARTS,
    MAX_MCP_RESUMED,
    MAX_MCP_VALUES,
)

# How many messages that nobody can read a server may send before it is asked again.
_MAX_GARBLED: Final = 20
# A request of theirs is answered: over HTTP that is a request of ours.
_REQUEST_WEIGHS: Final = 10
# What the results of calls and of lists have many of.
_LISTS: Final = ("content", "tools")


class Stream(Protocol):
    """A stream of the SDK's to read from."""

    async def receive(self) -> object:
        """Return what comes next."""
        ...

    async def __anext__(self) -> object:
        """Return what comes next, as iteration has it."""
        ...

    async def aclose(self) -> None:
        """Close it."""
        ...

    async def __aenter__(self) -> object:
        """Keep it open until the end of a block."""
        ...

    async def __aexit__(
        self,
        exc_type: type[BaseException] | None,
        exc_val: BaseException | None,
        exc_tb: TracebackType | None,
    ) -> bool | None:
        """Close it."""
        ...


class Budget:
    """What a server may still send before it is asked again."""

    def __init__(self) -> None:
        self._heard = 0
        self._resumed = 0
        self._garbled = 0
        self._values = 0
        self.is_spent = False

    def renew(self) -> None:
        """Begin anew: it is asked something."""
        self._heard = self._resumed = self._garbled = self._values = 0
        self.is_spent = False

    def take(self, message: object) -> object:
        """Return a message, or a `LinkLostError` in the place of one that is too much.

        `mcp_garbled`: one too many that nobody can read; `mcp_too_much`: one too many of any kind,
        or of more parts than anybody reads.
        """
        sent = message.message if isinstance(message, SessionMessage) else None
        self._heard += _REQUEST_WEIGHS if isinstance(sent, JSONRPCRequest) else 1
        self._garbled += isinstance(message, Exception)
        if self._garbled > _MAX_GARBLED:
            return LinkLostError("mcp_garbled")
        if self._heard > MAX_MCP_MESSAGES or _parts(sent) > MAX_MCP_PARTS:
            return LinkLostError("mcp_too_much")
        return message

    async def resume(self, request: httpx2.Request) -> None:
        """Take notice of a request that is sent.

        Raises:
            LinkLostError: `mcp_too_much`: its stream breaks off again and again.

        """
        if request.method == "GET":
            self._resumed += 1
            if self._resumed > MAX_MCP_RESUMED:
                self.is_spent = True
                raise LinkLostError("mcp_too_much")

    def read(self, values: int) -> None:
        """Take notice of so many values of JSON that have yet to be read.

        Raises:
            AnswerCapError: There are too many.

        """
        self._values += values
        if self._values > MAX_MCP_VALUES:
            self.is_spent = True
            raise AnswerCapError("the answer has too many values")

    async def hear(self, response: httpx2.Response) -> None:
        """Take notice of an answer that turns out too large: in a stream it only seems to end."""
        response.encoding = "utf-8"  # as all of MCP is: its bytes are counted as that
        if isinstance(response.stream, httpx2.AsyncByteStream):
            response.stream = _Watched(response.stream, self)


def _parts(sent: object) -> int:
    """Return how many parts an answer has: the SDK makes some kilobytes of each."""
    if not isinstance(sent, JSONRPCResponse):
        return 0
    found: list[object] = [sent.result.get(name) for name in _LISTS]
    return sum(len(cast("list[object]", each)) for each in found if isinstance(each, list))


class _Watched(httpx2.AsyncByteStream):
    def __init__(self, stream: httpx2.AsyncByteStream, budget: Budget) -> None:
        self._stream = stream
        self._budget = budget

    async def __aiter__(self) -> AsyncIterator[bytes]:
        structure = Structure()
        try:
            async for part in self._stream:
                self._budget.read(structure.values_in(part))
                yield part
        except AnswerCapError:
            self._budget.is_spent = True
            raise

    async def aclose(self) -> None:
        await self._stream.aclose()


class Counted:
    """A stream of the SDK's whose messages are taken from a budget."""

    def __init__(self, stream: Stream, budget: Budget) -> None:
        self._stream = stream
        self._budget = budget

    @property
    def last_context(self) -> object:
        """What the SDK keeps beside a message, if it does."""
        return getattr(self._stream, "last_context", None)

    async def receive(self) -> object:
        """Return what comes next."""
        return self._budget.take(await self._stream.receive())

    async def aclose(self) -> None:
        """Close it."""
        await self._stream.aclose()

    def __aiter__(self) -> Self:
        """Iterate over what comes."""
        return self

    async def __anext__(self) -> object:
        """Return what comes next, as iteration has it."""
        return self._budget.take(await self._stream.__anext__())

    async def __aenter__(self) -> Self:
        """Keep it open until the end of a block."""
        await self._stream.__aenter__()
        return self

    async def __aexit__(
        self,
        exc_type: type[BaseException] | None,
        exc_val: BaseException | None,
        exc_tb: TracebackType | None,
    ) -> bool | None:
        """Close it."""
        return await self._stream.__aexit__(exc_type, exc_val, exc_tb)
