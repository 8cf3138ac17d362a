"""Both eras of MCP on one POST: no session, no task group, no lifespan (decision 10).

Refuses to know tools, resources and who is calling.
"""

from typing import Any, Final

from mcp.server import Server
from mcp.server.runner import serve_one
from mcp.shared.inbound import ERROR_CODE_HTTP_STATUS
from mcp.shared.jsonrpc_dispatcher import (
    handler_exception_to_error_data,
    progress_token_from_params,
)
from mcp.shared.message import ServerMessageMetadata
from mcp.shared.transport_context import TransportContext
from mcp_types import INTERNAL_ERROR, INVALID_REQUEST, ErrorData
from mcp_types.methods import validate_client_request

from archivolt.entrypoints.http.middleware import log_unexpected
from archivolt.entrypoints.mcp.dispatch import BufferedDispatch
from archivolt.entrypoints.mcp.envelope import (
    Request,
    is_modern,
    is_notification,
    is_response,
    read_request,
)
from archivolt.entrypoints.mcp.wire import (
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
        dispatch = BufferedDispatch(
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

    async def _run(self, request: Request, dispatch: BufferedDispatch) -> bytes:
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
