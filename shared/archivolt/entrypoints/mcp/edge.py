"""Both eras of MCP on one POST: no session, no task group, no lifespan (decision 10).

Refuses to know tools, resources and who is calling.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final

import anyio
from mcp.server import Server
from mcp.server.runner import serve_one
from mcp.shared.dispatcher import CallOptions
from mcp.shared.exceptions import NoBackChannelError
from mcp.shared.inbound import ERROR_CODE_HTTP_STATUS
from mcp.shared.jsonrpc_dispatcher import (
    handler_exception_to_error_data,
    progress_token_from_params,
)
from mcp.shared.message import ServerMessageMetadata
from mcp.shared.transport_context import TransportContext
from mcp_types import INTERNAL_ERROR, INVALID_REQUEST, ErrorData, ProgressToken, RequestId
from mcp_types.methods import validate_client_request

from archivolt.entrypoints.http.middleware import log_unexpected
from archivolt.entrypoints.mcp.envelope import (
    Request,
    is_modern,
    is_notification,
    is_response,
    read_request,
)
from archivolt.entrypoints.mcp.wire import (
    JsonObject,
    Post,
    RefusalError,
    Reply,
    dump,
    read_message,
    result_reply,
)

_ACCEPTED: Final = Reply(status=202)
_UNEXPECTED: Final = Reply(status=400)


class Edge:
    """Answers POSTs for one server.

    Args:
        server: Where the handlers are; they find the post's caller in `ctx.request`.
        constant: Methods whose first page is the same for everybody, always; it is kept as bytes.

    """

    def __init__(self, server: Server[Any], *, constant: frozenset[str] = frozenset()) -> None:
        self._server = server
        self._constant = constant
        self._kept: dict[tuple[str, str], bytes] = {}

    async def answer(self, post: Post) -> Reply:
        """Return the answer to one POST; never raises, never tells internals."""
        try:
            message = read_message(post.body)
            if is_notification(message):
                return _ACCEPTED
            if is_response(message):
                return _UNEXPECTED if is_modern(message, post.headers) else _ACCEPTED
            return await self._serve(read_request(message, post), post)
        except RefusalError as refusal:
            return refusal.reply()

    async def _serve(self, request: Request, post: Post) -> Reply:
        accept = post.headers.get("accept", "*/*")
        key = (request.method, request.connection.protocol_version)
        constant = request.method in self._constant and _asks_first_page(request)
        if constant and key in self._kept:
            return result_reply(request.id, self._kept[key], [], accept=accept)
        dispatch = _Dispatch(
            transport=TransportContext(
                kind="streamable-http", can_send_request=False, headers=post.headers
            ),
            request_id=request.id,
            message_metadata=ServerMessageMetadata(request_context=post.caller),
            progress_token=progress_token_from_params(request.params),
        )
        result = await self._run(request, dispatch)
        if constant:
            self._kept[key] = result
        return result_reply(request.id, result, dispatch.notifications, accept=accept)

    async def _run(self, request: Request, dispatch: "_Dispatch") -> bytes:
        try:
            result = await serve_one(
                self._server,
                dispatch,
                request.method,
                request.params,
                connection=request.connection,
                lifespan_state=None,
            )
            return dump(result)
        except Exception as error:
            raise _refusal(error, request) from error


def _asks_first_page(request: Request) -> bool:
    if request.params and request.params.keys() - {"_meta"}:
        return False
    try:
        validate_client_request(request.method, request.connection.protocol_version, request.params)
    except (KeyError, ValueError):
        return False
    return True


def _refusal(error: Exception, request: Request) -> RefusalError:
    told = handler_exception_to_error_data(error)
    if isinstance(error, RecursionError):
        told = ErrorData(code=INVALID_REQUEST, message="The request is nested too deeply")
    if told is None or told.code == INTERNAL_ERROR:
        log_unexpected(error, request_id="")
        told = ErrorData(code=INTERNAL_ERROR, message="Internal error")
    status = ERROR_CODE_HTTP_STATUS.get(told.code, 200) if request.modern else 200
    return RefusalError(
        told.code, told.message, status=status, data=told.data, request_id=request.id
    )


@dataclass(kw_only=True)
class _Dispatch:
    """The SDK's view of one request: notifications are kept for the answer, nothing is asked back.

    Satisfies `mcp.shared.dispatcher.DispatchContext`.
    """

    transport: TransportContext
    request_id: RequestId
    message_metadata: ServerMessageMetadata
    progress_token: ProgressToken | None
    notifications: list[JsonObject] = field(default_factory=list[JsonObject])
    can_send_request: bool = False
    cancel_requested: anyio.Event = field(default_factory=anyio.Event)

    async def send_raw_request(
        self,
        method: str,
        params: Mapping[str, Any] | None,  # noqa: ARG002  the protocol's signature
        opts: CallOptions | None = None,  # noqa: ARG002
    ) -> dict[str, Any]:
        """Refuse: the client's reply to a request of ours would reach another process."""
        raise NoBackChannelError(method)

    async def notify(
        self,
        method: str,
        params: Mapping[str, Any] | None,
        opts: CallOptions | None = None,  # noqa: ARG002
    ) -> None:
        """Keep a notification; it goes ahead of the result if the client takes streams."""
        message: JsonObject = {"jsonrpc": "2.0", "method": method}
        self.notifications.append(message if params is None else {**message, "params": {**params}})

    async def progress(
        self, progress: float, total: float | None = None, message: str | None = None
    ) -> None:
        """Keep a progress notification, if the client asked for them."""
        if self.progress_token is None:
            return
        values = {"progress": progress, "total": total, "message": message}
        present = {name: value for name, value in values.items() if value is not None}
        await self.notify(
            "notifications/progress", {"progressToken": self.progress_token, **present}
        )
