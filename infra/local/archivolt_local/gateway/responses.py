"""What the client gets: the gateway's own answers, and the functions' translated.

Reference: API Gateway developer guide, "Gateway response types" and "Output format of a Lambda
function for proxy integration".
"""

import base64
import json
import uuid
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, cast

from archivolt_local.runtime.worker import Outcome

_DEFAULT_STATUS = {
    "ACCESS_DENIED": 403,
    "AUTHORIZER_CONFIGURATION_ERROR": 500,
    "AUTHORIZER_FAILURE": 500,
    "BAD_REQUEST": 400,
    "INTEGRATION_FAILURE": 504,
    "INTEGRATION_TIMEOUT": 504,
    "MISSING_AUTHENTICATION_TOKEN": 403,
    "REQUEST_TOO_LARGE": 413,
    "UNAUTHORIZED": 401,
}
_FIRST_SERVER_ERROR = 500
# The gateway keeps these for itself and passes a function's value on under another name
# (API Gateway developer guide, "Important notes", REST APIs).
_REMAPPED = frozenset(
    {"authorization", "connection", "content-length", "content-md5", "date", "expect", "host",
     "max-forwards", "proxy-authenticate", "server", "te", "trailer", "transfer-encoding",
     "upgrade", "user-agent", "www-authenticate"}
)  # fmt: skip


@dataclass(frozen=True)
class ClientResponse:
    """A complete answer."""

    status: int
    headers: list[tuple[str, str]]
    body: bytes


class GatewayResponses:
    """The gateway's own answers, as the template words them."""

    def __init__(self, definitions: Mapping[str, Any]) -> None:
        self._definitions = definitions

    def answer(self, kind: str, *, status: int | None = None) -> ClientResponse:
        """Return the answer of a kind (`UNAUTHORIZED`, …); `status` overrides a default one's."""
        usual = status or _DEFAULT_STATUS[kind]
        family = "DEFAULT_5XX" if usual >= _FIRST_SERVER_ERROR else "DEFAULT_4XX"
        definition = self._definitions.get(kind) or self._definitions[family]
        headers = [("content-type", "application/json"), ("x-amzn-errortype", kind)]
        for name, value in definition.get("responseParameters", {}).items():
            headers.append((name.removeprefix("gatewayresponse.header."), value.strip().strip("'")))
        body = str(definition["responseTemplates"]["application/json"])
        code = status or int(definition.get("statusCode", usual))
        return ClientResponse(code, [*headers, _request_id()], body.encode())


def _request_id() -> tuple[str, str]:
    return ("x-amzn-requestid", str(uuid.uuid4()))


def function_response(outcome: Outcome, gateway: GatewayResponses) -> ClientResponse:
    """Return what a function's outcome becomes for the client."""
    if outcome.failed:
        timed_out = b"Sandbox.Timedout" in outcome.payload
        return gateway.answer("INTEGRATION_TIMEOUT") if timed_out else _malformed(gateway)
    try:
        answer: Any = json.loads(outcome.payload)
    except ValueError:
        return _malformed(gateway)
    if not isinstance(answer, Mapping) or not isinstance(
        cast("Any", answer).get("statusCode"), int
    ):
        return _malformed(gateway)
    return _translated(cast("Mapping[str, Any]", answer))


def _malformed(gateway: GatewayResponses) -> ClientResponse:
    return gateway.answer("API_CONFIGURATION_ERROR", status=502)


def _translated(answer: Mapping[str, Any]) -> ClientResponse:
    multiple: Mapping[str, list[Any]] = answer.get("multiValueHeaders") or {}
    pairs = [(name, str(value)) for name, values in multiple.items() for value in values]
    known = {name.lower() for name in multiple}
    single: Mapping[str, Any] = answer.get("headers") or {}
    pairs += [(name, str(value)) for name, value in single.items() if name.lower() not in known]
    text = answer.get("body") or ""
    body = base64.b64decode(text) if answer.get("isBase64Encoded") else str(text).encode()
    headers = [remapped(name, value) for name, value in pairs]
    if not any(name.lower() == "content-type" for name, _ in headers):
        headers.append(("content-type", "application/json"))
    return ClientResponse(answer["statusCode"], [*headers, _request_id()], body)


def remapped(name: str, value: str) -> tuple[str, str]:
    """Return a function's header under the name it reaches the client by."""
    return (f"x-amzn-remapped-{name.lower()}" if name.lower() in _REMAPPED else name, value)
