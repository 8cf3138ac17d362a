"""Ways to a server: a program on this machine, or streamable HTTP through the guarded client."""

import json
from collections.abc import AsyncGenerator, Generator, Mapping
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass
from typing import Final

import httpx2
from mcp.client.streamable_http import streamable_http_client

from archivolt.adapters.http.addresses import OutboundRules
from archivolt.adapters.http.loopback_proxy import loopback_proxy
from archivolt.adapters.http.outbound import Caps, guarded_async_client
from archivolt.adapters.mcp.bounds import Budget, Counted, Stream
from archivolt.adapters.mcp.failures import LinkLostError
from archivolt.adapters.mcp.program import program_streams
from archivolt.domain.federation import PROXY_PLACE, McpTarget, McpTransport
from archivolt.domain.federation_limits import (
    MAX_CHALLENGE_CHARS,
    MAX_MCP_ANSWER_BYTES,
)
from archivolt.domain.limits import (
    MAX_OUTBOUND_SECONDS,
)

_NOT_LET_IN: Final = 401
_FIRST_FAILURE: Final = 400

# What the SDK takes: a stream to read and one to write.
Streams = tuple[Counted, object]
_Opened = tuple[Stream, object]


@dataclass(slots=True, eq=False)
class Request:
    """One request; `alone`: no other was under way meanwhile, so that what failed is this one."""

    alone: bool


class LastStatus:
    """The last answer over HTTP: the SDK does not tell failures apart. And what is sent with it."""

    def __init__(self) -> None:
        self.value = 0
        self.challenge = ""
        self.budget = Budget()
        self._under_way: set[Request] = set()
        self._client: httpx2.AsyncClient | None = None

    @property
    def is_free(self) -> bool:
        """Whether no request is under way."""
        return not self._under_way

    @contextmanager
    def requesting(self) -> Generator[Request]:
        """Give a request that is under way until the end of the block."""
        request = Request(alone=self.is_free)
        self.budget.renew()
        if request.alone:
            self.value, self.challenge = 0, ""
        for other in self._under_way:
            other.alone = False
        self._under_way.add(request)
        try:
            yield request
        finally:
            self._under_way.discard(request)

    def watch(self, client: httpx2.AsyncClient) -> None:
        """Take notice of what a client is answered."""
        self._client = client
        client.event_hooks["request"].append(self.budget.resume)
        client.event_hooks["response"] += [self._note, self.budget.hear]

    def send(self, values: Mapping[str, str]) -> None:
        """Have these headers sent from now on: a token is renewed while a connection lasts."""
        if self._client is not None:
            self._client.headers.update(values)

    async def _note(self, response: httpx2.Response) -> None:
        # Who is not let in is so whatever a second attempt is answered, in words of another era.
        failed = response.status_code >= _FIRST_FAILURE
        still_out = self.value == _NOT_LET_IN and failed
        if response.request.method == "POST" and not still_out:
            if failed and not _is_request(response.request):
                return  # a note, or an answer of ours: no request failed by it
            self.value = response.status_code
            header = response.headers.get("www-authenticate", "")
            self.challenge = header[:MAX_CHALLENGE_CHARS]


class Transports:
    """Opens ways to servers.

    Args:
        rules: Where an address may lead.
        pages: Where a program may go that is given a proxy.
        programs: Whether programs of this machine may be run (decision 25).

    """

    def __init__(self, rules: OutboundRules, pages: OutboundRules, *, programs: bool) -> None:
        self._rules = rules
        self._pages = pages
        self._programs = programs

    @asynccontextmanager
    async def open(self, target: McpTarget, status: LastStatus) -> AsyncGenerator[Streams]:
        """Give the streams to and from a server, as the SDK takes them.

        Raises:
            LinkLostError: `mcp_programs_off`: it is a program, and none is run here.

        """
        way = self._program if target.transport is McpTransport.STDIO else self._address
        async with way(target, status) as (heard, said):
            yield Counted(heard, status.budget), said

    @asynccontextmanager
    async def _program(self, target: McpTarget, _: LastStatus) -> AsyncGenerator[_Opened]:
        if not self._programs:
            raise LinkLostError("mcp_programs_off")
        async with self._arguments(target) as arguments:
            values = dict(target.values)
            async with program_streams(target.command, arguments, values) as streams:
                yield streams

    @asynccontextmanager
    async def _arguments(self, target: McpTarget) -> AsyncGenerator[list[str]]:
        """Give a program's arguments; a proxy that they name listens as long as it runs."""
        if PROXY_PLACE not in target.arguments:
            yield list(target.arguments)
            return
        async with loopback_proxy(self._pages) as address:
            yield [address if each == PROXY_PLACE else each for each in target.arguments]

    @asynccontextmanager
    async def _address(self, target: McpTarget, status: LastStatus) -> AsyncGenerator[_Opened]:
        caps = Caps(max_bytes=MAX_MCP_ANSWER_BYTES, seconds=MAX_OUTBOUND_SECONDS)
        async with guarded_async_client(self._rules, caps) as client:
            client.headers.update(target.values)
            # This one is a person's own, and a server of several machines may know it by a cookie.
            client.cookies = httpx2.Cookies()
            status.watch(client)
            async with streamable_http_client(
                target.url, http_client=client, max_sse_event_size=MAX_MCP_ANSWER_BYTES
            ) as streams:
                yield streams


def _is_request(sent: httpx2.Request) -> bool:
    message: object = json.loads(sent.content)
    return isinstance(message, dict) and "id" in message and "method" in message
