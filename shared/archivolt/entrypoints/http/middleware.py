"""What wraps every request: an id, a limit on the body, and a last resort for the unexpected."""

import re
import traceback
import uuid
from typing import TYPE_CHECKING, Any, Final

from starlette.datastructures import Headers, MutableHeaders
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect, Request
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from archivolt.domain.errors import ArchivoltError, TooLargeError
from archivolt.entrypoints.http.errors import error_response, language_for
from archivolt.observability import logger

if TYPE_CHECKING:
    from collections.abc import Mapping

REQUEST_ID_HEADER: Final = "x-request-id"
_ACCEPTABLE_ID: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{7,63}")


class RequestId:
    """Gives every request an id, returns it in a header, and keeps it in `request.state`.

    The caller's own id is taken when it is plain enough to be logged, else the front door's.
    """

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        offered = Headers(scope=scope).get(REQUEST_ID_HEADER, "")
        request_id = offered if _ACCEPTABLE_ID.fullmatch(offered) else _id_of_front_door(scope)
        scope.setdefault("state", {})["request_id"] = request_id

        async def send_with_id(message: Message) -> None:
            if message["type"] == "http.response.start":
                MutableHeaders(scope=message)[REQUEST_ID_HEADER] = request_id
            await send(message)

        await self._app(scope, receive, send_with_id)


class BodyLimit:
    """Refuses a request whose body has more than `limit` bytes, however it is sent."""

    def __init__(self, app: ASGIApp, limit: int) -> None:
        self._app = app
        self._limit = limit

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request, or answer `request_too_large`."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        announced = Headers(scope=scope).get("content-length", "")
        if announced.isdecimal() and int(announced) > self._limit:
            error = TooLargeError("request_too_large", size=int(announced), limit=self._limit)
            response = error_response(error, language_for(Request(scope)))
            await response(scope, receive, send)
            return
        await self._app(scope, self._counted(receive), send)

    def _counted(self, receive: Receive) -> Receive:
        size = 0

        async def receive_counted() -> Message:
            nonlocal size
            message = await receive()
            if message["type"] == "http.request":
                size += len(message.get("body", b""))
            if size > self._limit:
                # Anything but the framework's own exception would be told as an unreadable body.
                raise HTTPException(413) from TooLargeError(
                    "request_too_large", size=size, limit=self._limit
                )
            return message

        return receive_counted


class LastResort:
    """Answers an unexpected exception with `internal`, and logs where it rose but not its text.

    An exception's text can hold a caller's content, so the traceback is logged as places only.
    """

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request."""
        started = False

        async def send_watched(message: Message) -> None:
            nonlocal started
            started = started or message["type"] == "http.response.start"
            await send(message)

        try:
            await self._app(scope, receive, send_watched)
        except ClientDisconnect:
            logger.info("client_disconnected", extra={"request_id": _request_id(scope)})
        except Exception as error:
            log_unexpected(error, request_id=_request_id(scope))
            if scope["type"] != "http":
                raise
            if not started:
                await _answer_internal(scope, receive, send)


def log_unexpected(error: BaseException, *, request_id: str) -> None:
    """Log an exception nobody expected: its type and the places it passed, never its text."""
    places = [
        f"{frame.filename}:{frame.lineno} {frame.name}"
        for frame in traceback.extract_tb(error.__traceback__)
    ]
    logger.error(
        "unexpected_error",
        extra={"error_type": type(error).__name__, "places": places, "request_id": request_id},
    )


def _id_of_front_door(scope: Scope) -> str:
    """Return the id in the access logs of API Gateway; a new one where there is none."""
    event: Mapping[str, Any] = scope.get("aws.event", {})
    context: Mapping[str, Any] = event.get("requestContext", {})
    return str(context.get("requestId") or uuid.uuid4())


def _request_id(scope: Scope) -> str:
    return str(scope.get("state", {}).get("request_id", ""))


async def _answer_internal(scope: Scope, receive: Receive, send: Send) -> None:
    error = ArchivoltError("internal", request_id=_request_id(scope))
    await error_response(error, language_for(Request(scope)))(scope, receive, send)
