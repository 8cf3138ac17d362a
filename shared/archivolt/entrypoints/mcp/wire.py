"""JSON-RPC as bytes on HTTP: one message read, one message written.

Refuses to know MCP's methods, callers and web frameworks.
"""

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, cast

from mcp_types import INVALID_REQUEST, PARSE_ERROR, RequestId

JsonObject = dict[str, Any]

_ENCODER: Final = json.JSONEncoder(ensure_ascii=False, separators=(",", ":"))
_ESCAPED_SURROGATE: Final = re.compile(rb"\\u[dD][89a-fA-F]")


@dataclass(frozen=True, slots=True, kw_only=True)
class Post:
    """A POST as it arrived.

    `headers` has lower-cased names; `header_lines` keeps duplicates. `caller` is handed to the
    server's handlers as it is; none of its content is read here.
    """

    headers: Mapping[str, str]
    header_lines: Sequence[tuple[str, str]]
    body: bytes
    caller: object


@dataclass(frozen=True, slots=True, kw_only=True)
class Reply:
    """What is answered.

    An empty body is given a type of its own: a gateway calls an untyped body JSON, and a strict
    client then fails to parse it.
    """

    status: int
    body: bytes = b""
    content_type: str = "text/plain"
    headers: Mapping[str, str] = field(default_factory=dict[str, str])


class RefusalError(Exception):
    """The message is answered with a JSON-RPC error.

    Args:
        code: The JSON-RPC error code.
        message: A sentence for the client's developer, without internals.
        status: The HTTP status.
        data: More about the error, as the specification of the code wants it.
        request_id: The id of the request, None where it could not be read.

    """

    def __init__(
        self,
        code: int,
        message: str,
        *,
        status: int,
        data: object = None,
        request_id: RequestId | None = None,
    ) -> None:
        super().__init__(message)
        self.code = code
        self.message = message
        self.status = status
        self.data = data
        self.request_id = request_id

    def reply(self) -> Reply:
        """Return the error as an answer."""
        error: JsonObject = {"code": self.code, "message": self.message}
        if self.data is not None:
            error["data"] = self.data
        body = dump({"jsonrpc": "2.0", "id": self.request_id, "error": error})
        return Reply(status=self.status, body=body, content_type="application/json")


def read_message(body: bytes) -> JsonObject:
    """Return the one JSON-RPC message of a body.

    Raises:
        RefusalError: Not JSON (-32700), or not exactly one JSON-RPC 2.0 message (-32600).

    """
    try:
        message: object = json.loads(body, parse_constant=_refuse_constant)
        if _ESCAPED_SURROGATE.search(body):
            dump(message)
    except (ValueError, RecursionError):
        raise RefusalError(PARSE_ERROR, "Parse error", status=400) from None
    if not isinstance(message, dict) or cast("JsonObject", message).get("jsonrpc") != "2.0":
        raise RefusalError(
            INVALID_REQUEST, "The body must be a single JSON-RPC 2.0 message", status=400
        )
    return cast("JsonObject", message)


def _refuse_constant(name: str) -> None:
    raise ValueError(f"{name} is no JSON")


def dump(value: object) -> bytes:
    """Return compact JSON in UTF-8.

    Raises:
        ValueError: A string holds half of a surrogate pair: it is not Unicode text.

    """
    return _ENCODER.encode(value).encode()


def result_reply(
    request_id: RequestId,
    result: bytes,
    notifications: Sequence[JsonObject],
    *,
    accept: str,
) -> Reply:
    """Return a result, as JSON or as one finished stream of server-sent events.

    A stream is sent to a client that takes nothing else, or that takes it and has notifications
    to get. `accept` is the request's Accept header; an absent or unknown one means JSON.
    """
    message = b'{"jsonrpc":"2.0","id":%b,"result":%b}' % (dump(request_id), result)
    if not _wants_stream(accept.lower(), bool(notifications)):
        return Reply(status=200, body=message, content_type="application/json")
    events = [*map(dump, notifications), message]
    return Reply(
        status=200,
        body=b"".join(b"event: message\r\ndata: %b\r\n\r\n" % event for event in events),
        content_type="text/event-stream",
        headers={"cache-control": "no-cache, no-transform", "x-accel-buffering": "no"},
    )


def _wants_stream(accept: str, has_notifications: bool) -> bool:
    takes_anything = "*/*" in accept
    takes_stream = takes_anything or "text/event-stream" in accept or "text/*" in accept
    takes_json = takes_anything or "application/json" in accept or "application/*" in accept
    return takes_stream and (has_notifications or not takes_json)
