"""One connection to a server, from its handshake to its end.

The SDK's client is entered and left by one task, as it has to be; calls come from others. Both eras
of the protocol are spoken: questions of the newer come as results, those of the older in the middle
of a call. Such a call is answered with "cancel" and made anew once the person has answered.
"""

import asyncio
import logging
from collections.abc import Generator
from contextlib import contextmanager
from datetime import datetime
from typing import Final

import mcp_types as types
from mcp import Client
from mcp.shared.exceptions import MCPError
from mcp_types import REQUEST_TIMEOUT
from mcp_types.version import HANDSHAKE_PROTOCOL_VERSIONS

from archivolt.adapters.mcp.failures import LinkLostError, breaks
from archivolt.adapters.mcp.farewells import Farewells
from archivolt.adapters.mcp.faults import Fault
from archivolt.adapters.mcp.questions import Asked
from archivolt.adapters.mcp.readings import (
    questions_of,
    responses_of,
    result_of,
    size_of,
    tools_of,
)
from archivolt.adapters.mcp.transports import LastStatus, Request, Transports
from archivolt.domain.errors import InvalidRequestError
from archivolt.domain.federation import McpAnswers, McpResult, McpTarget, McpTool
from archivolt.domain.federation_limits import MAX_MCP_ANSWER_BYTES, MAX_MCP_PARTS
from archivolt.domain.mcp_accounts import AccountNeededError
from archivolt.domain.tool import JsonObject

_MAX_PAGES: Final = 50
_STATE_ONLY_ROUNDS: Final = 5
_STATE_ONLY_PAUSE: Final = 0.2

# What the SDK says of messages that it cannot read holds them: no part of our logs.
logging.getLogger("mcp").setLevel(logging.CRITICAL + 1)


class Link:
    """A connection that is made at once; `opened` waits for it, `used_at` is when a call ended."""

    def __init__(self, target: McpTarget, transports: Transports, now: datetime) -> None:
        self.used_at = now
        self.stale = False
        self._is_retired = False
        self._is_left = False
        self._server = target.server
        self._account = target.account
        self._status = LastStatus()
        self._fault = Fault(target.server, self._status)
        self._closing = asyncio.Event()
        self._opened: asyncio.Future[Client] = asyncio.get_running_loop().create_future()
        self._turn = asyncio.Lock()
        self._asked: Asked | None = None
        self._farewells = Farewells(self._retire_if_due)
        self.calls = 0
        self.task = asyncio.create_task(self._live(target, transports))

    async def opened(self) -> Client:
        """Return the client once it has shaken hands.

        Raises:
            LinkLostError: It never will.
            AccountNeededError: The server asks for the person's account.

        """
        return await asyncio.shield(self._opened)

    @property
    def is_over(self) -> bool:
        """Whether it broke off, or was closed."""
        return self.task.done() or self._closing.is_set()

    def serves(self, target: McpTarget) -> bool:
        """Tell whether calls to a target can go on it; it ends where another account is meant."""
        if self._account != target.account or self._is_retired:
            self.retire()
            return False
        if self.is_over:
            return False
        self._status.send(target.values)
        return True

    def retire(self) -> None:
        """Let it end once nobody uses it: another's call on it may be under way."""
        self._is_retired = True
        self._retire_if_due()

    def _retire_if_due(self) -> None:
        is_used = self.calls or not self._status.is_free or self._farewells.are_on_their_way
        if self._is_retired and not is_used:
            self.close()

    def close(self) -> None:
        """Let it end, soon: `task` is done when nothing is left of it."""
        if self._closing.is_set():
            return  # to cancel it a second time would leave its program behind
        self._closing.set()
        if not self._opened.done():
            self.task.cancel()

    async def tools(self) -> list[McpTool]:
        """Return what is listed now.

        Raises:
            LinkLostError: It broke off.
            AccountNeededError: The server asks for the person's account.

        """
        client = await self.opened()
        listed: list[types.Tool] = []
        left = MAX_MCP_ANSWER_BYTES
        cursor: str | None = None
        self.stale = False
        for _ in range(_MAX_PAGES):
            with self._requesting(client) as request:
                try:
                    page = await client.list_tools(cursor=cursor)
                except Exception as error:
                    raise await self._lost(error, request) from error
            listed += page.tools
            left -= size_of(page.tools)
            if left < 0 or len(listed) > MAX_MCP_PARTS:
                self.close()
                raise LinkLostError("mcp_too_much")
            cursor = page.next_cursor
            if not cursor:
                break
        return tools_of(listed)

    async def call(self, tool: str, arguments: JsonObject, answers: McpAnswers | None) -> McpResult:
        """Call a tool.

        Raises:
            LinkLostError: It broke off.
            AccountNeededError: The server asks for the person's account; the call was not made.
            TimeoutError: The answer did not come in the client's time.
            InvalidRequestError: `mcp_question_unanswerable`.

        """
        client = await self.opened()
        self.calls += 1
        try:
            if _is_older(client):
                return await self._call_and_listen(client, tool, arguments, answers)
            return await self._call(client, tool, arguments, answers)
        finally:
            self.calls -= 1
            self._retire_if_due()

    @contextmanager
    def _requesting(self, client: Client) -> Generator[Request]:
        """Give a request; none follows one of the older era that somebody went away from.

        Its server may go on with it: its questions, and its status, would be taken for the next's.
        """
        if self._is_left:
            raise LinkLostError.unsent()
        try:
            with self._status.requesting() as request:
                yield request
        except asyncio.CancelledError:
            self.stale = True  # whether it answers at all is tried before the next call
            if _is_older(client):
                self._is_left = self._is_retired = True
            raise

    async def _call_and_listen(
        self, client: Client, tool: str, arguments: JsonObject, answers: McpAnswers | None
    ) -> McpResult:
        # One at a time: a question does not say which call it belongs to.
        async with self._turn:
            self._asked = asked = Asked(self._server, answers)
            try:
                result = await self._call(client, tool, arguments, None)
            finally:
                self._asked = None
        if asked.refused is not None:
            raise asked.refused
        return McpResult(questions=tuple(asked.questions)) if asked.questions else result

    async def _call(
        self, client: Client, tool: str, arguments: JsonObject, answers: McpAnswers | None
    ) -> McpResult:
        responses: types.InputResponses | None = responses_of(answers) if answers else None
        state = answers.state if answers else None
        for _ in range(_STATE_ONLY_ROUNDS):
            answer = await self._sent(client, tool, arguments, responses, state)
            if isinstance(answer, McpResult):
                return answer
            if answer.input_requests:
                questions = questions_of(self._server, answer.input_requests)
                return McpResult(questions=questions, state=answer.request_state)
            # It only wants to be asked again.
            responses, state = None, answer.request_state
            await asyncio.sleep(_STATE_ONLY_PAUSE)
        raise InvalidRequestError(
            "mcp_question_unanswerable", server=self._server, reason="mcp_asks_too_much"
        )

    async def _sent(
        self,
        client: Client,
        tool: str,
        arguments: JsonObject,
        responses: types.InputResponses | None,
        state: str | None,
    ) -> McpResult | types.InputRequiredResult:
        with self._requesting(client) as request:
            try:
                answer = await self._farewells.awaited(
                    client.session.call_tool(
                        tool,
                        arguments,
                        input_responses=responses,
                        request_state=state,
                        allow_input_required=True,
                    )
                )
            except MCPError as error:
                status, over = self._status.value, self.is_over
                if breaks(error, status, is_over=over, alone=request.alone):
                    raise await self._lost(error, request) from error
                if error.code == REQUEST_TIMEOUT:
                    raise TimeoutError from error
                return McpResult(text=error.message, failed=True)
            except Exception as error:
                raise await self._lost(error, request) from error
        return result_of(answer) if isinstance(answer, types.CallToolResult) else answer

    async def _lost(
        self, error: BaseException, request: Request
    ) -> LinkLostError | AccountNeededError:
        lost = await self._fault.found(error, request, self.task)
        self._is_retired = True
        return lost

    async def _live(self, target: McpTarget, transports: Transports) -> None:
        client = Client(
            transports.open(target, self._status),  # pyright: ignore[reportArgumentType]  as streams
            mode="auto",
            client_info=types.Implementation(name="archivolt", version="1"),
            elicitation_callback=self._on_question,
            message_handler=self._on_message,
            cache=None,
        )
        try:
            async with client:
                # What a server declares of its results is for programs: they are read as text. To
                # check it would run patterns of strangers, on the loop that all connections share.
                client.session.validate_tool_result = _take  # pyright: ignore[reportAttributeAccessIssue]
                self._opened.set_result(client)
                await self._closing.wait()
                self._fault.tell()
        except Exception as error:
            if not self._opened.done():
                self._opened.set_exception(self._fault.why(error))
                # Whoever waited may have gone: then nobody asks why.
                self._opened.exception()
                return
            raise
        finally:
            self._closing.set()
            if not self._opened.done():
                self._opened.set_exception(LinkLostError(self._fault.noted or "mcp_slow"))
                self._opened.exception()

    async def _on_message(self, message: object) -> None:
        if isinstance(message, types.ToolListChangedNotification):
            self.stale = True
        elif isinstance(message, LinkLostError):
            self._fault.note(message.reason)
            self.close()

    async def _on_question(
        self,
        context: object,  # noqa: ARG002  the SDK's protocol
        params: types.ElicitRequestParams,
    ) -> types.ElicitResult | types.ErrorData:
        asked = self._asked
        return asked.answer(params) if asked else types.ElicitResult(action="cancel")


def _is_older(client: Client) -> bool:
    return client.protocol_version in HANDSHAKE_PROTOCOL_VERSIONS


async def _take(name: str, result: types.CallToolResult) -> None:
    """Take a result as it is."""
