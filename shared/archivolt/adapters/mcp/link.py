"""One connection to a server, from its handshake to its end.

The SDK's client is entered and left by one task, as it has to be; calls come from others. Both eras
of the protocol are spoken: questions of the newer come as results, those of the older in the middle
of a call. Such a call is answered with "cancel" and made anew once the person has answered.
"""

import asyncio
import logging
from datetime import datetime
from typing import Final

import mcp_types as types
from mcp import Client
from mcp.shared.exceptions import MCPError
from mcp_types import REQUEST_TIMEOUT
from mcp_types.version import HANDSHAKE_PROTOCOL_VERSIONS

from archivolt.adapters.mcp.failures import LinkLostError, breaks, by_status, lost_by
from archivolt.adapters.mcp.farewells import Farewells
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
from archivolt.domain.federation_limits import MAX_MCP_ANSWER_BYTES
from archivolt.domain.mcp_accounts import AccountNeededError
from archivolt.domain.tool import JsonObject

_MAX_PAGES: Final = 50
_STATE_ONLY_ROUNDS: Final = 5
_STATE_ONLY_PAUSE: Final = 0.2
# How long a call that was cut off waits to hear why.
_REASON_SECONDS: Final = 1.0

# What the SDK says of messages that it cannot read holds them: no part of our logs.
logging.getLogger("mcp").setLevel(logging.CRITICAL + 1)


class Link:
    """A connection that is made at once; `opened` waits for it, `used_at` is when a call ended."""

    def __init__(self, target: McpTarget, transports: Transports, now: datetime) -> None:
        self.used_at = now
        self.stale = False
        self._is_retired = False
        self._fault = ""
        self._server = target.server
        self._account = target.account
        self._status = LastStatus()
        self._closing = asyncio.Event()
        self._opened: asyncio.Future[Client] = asyncio.get_running_loop().create_future()
        self._turn = asyncio.Lock()
        self._asked: Asked | None = None
        self._farewells = Farewells()
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
        if not self.calls and self._status.is_free:
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
            with self._status.requesting() as request:
                try:
                    page = await client.list_tools(cursor=cursor)
                except Exception as error:
                    raise await self._lost(error, request) from error
            listed += page.tools
            left -= size_of(page.tools)
            if left < 0:
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
        older = client.protocol_version in HANDSHAKE_PROTOCOL_VERSIONS
        self.calls += 1
        try:
            if older:
                return await self._call_and_listen(client, tool, arguments, answers)
            return await self._call(client, tool, arguments, answers)
        finally:
            self.calls -= 1
            if self._is_retired:
                self.retire()

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
        with self._status.requesting() as request:
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
        """Return why it broke off: its own task may know better than a call on it.

        Only a request that was alone is known not to have been let in: another one may be done.
        """
        is_clear = self._known_fault or (request.alone and by_status(self._status.value))
        if not is_clear:
            await asyncio.wait([self.task], timeout=_REASON_SECONDS)
        if self.task.done() and not self.task.cancelled():
            error = self.task.exception() or error
        self._is_retired = True
        return self._why(error, is_known=request.alone)

    def _why(
        self, error: BaseException, *, is_known: bool = True
    ) -> LinkLostError | AccountNeededError:
        if self._known_fault:
            return LinkLostError(self._known_fault)
        lost = lost_by(error, self._status.value, self._status.challenge)
        lost.is_guess = not is_known
        return (lost.asked(self._server) if is_known else None) or lost

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
                self._tell_fault()
        except Exception as error:
            if not self._opened.done():
                self._opened.set_exception(self._why(error))
                # Whoever waited may have gone: then nobody asks why.
                self._opened.exception()
                return
            raise
        finally:
            self._closing.set()
            if not self._opened.done():
                self._opened.set_exception(LinkLostError(self._fault or "mcp_slow"))
                self._opened.exception()

    async def _on_message(self, message: object) -> None:
        if isinstance(message, types.ToolListChangedNotification):
            self.stale = True
        elif isinstance(message, LinkLostError):
            self._fault = self._fault or message.reason
            self.close()

    @property
    def _known_fault(self) -> str:
        return self._fault or ("mcp_too_much" if self._status.budget.is_spent else "")

    def _tell_fault(self) -> None:
        if self._fault:
            raise LinkLostError(self._fault)

    async def _on_question(
        self,
        context: object,  # noqa: ARG002  the SDK's protocol
        params: types.ElicitRequestParams,
    ) -> types.ElicitResult | types.ErrorData:
        asked = self._asked
        return asked.answer(params) if asked else types.ElicitResult(action="cancel")


async def _take(name: str, result: types.CallToolResult) -> None:
    """Take a result as it is."""
