"""Builds the event of a REST API's Lambda proxy integration from an HTTP request.

Reference: API Gateway developer guide, "Input format of a Lambda function for proxy integration".
The path and its parameters stay percent-encoded, as a REST API passes them; query parameters are
decoded; with binary media type */* every body travels in base64.
"""

import base64
import uuid
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from urllib.parse import parse_qsl

from archivolt.ports.clock import Clock
from archivolt_local.emulator import REGION
from archivolt_local.gateway.api import RouteMatch
from archivolt_local.provisioning.intrinsics import ACCOUNT

STAGE = "live"
API_ID = "local"

Pairs = Sequence[tuple[str, str]]

# Of callers who sign their requests; nobody does here.
_OF_SIGNED_REQUESTS = (
    "accessKey",
    "accountId",
    "caller",
    "cognitoAuthenticationProvider",
    "cognitoAuthenticationType",
    "cognitoIdentityId",
    "cognitoIdentityPoolId",
    "principalOrgId",
    "user",
    "userArn",
)


@dataclass(frozen=True, kw_only=True)
class IncomingRequest:
    """An HTTP request as it came: the path percent-encoded, header names in lower case."""

    method: str
    raw_path: str
    query: str
    headers: Pairs
    client: str
    scheme: str = "http"

    def header(self, name: str) -> str:
        """Return the first value of a header, empty when there is none."""
        return next((value for key, value in self.headers if key == name), "")


def proxy_event(
    request: IncomingRequest,
    match: RouteMatch,
    body: bytes,
    authorizer: Mapping[str, str],
    clock: Clock,
) -> dict[str, Any]:
    """Return the event for the function behind a route."""
    context = request_context(request, match, clock)
    if authorizer:
        context["authorizer"] = dict(authorizer)
    return {
        **_common(request, match),
        "requestContext": context,
        "body": base64.b64encode(body).decode("ascii") if body else None,
        "isBase64Encoded": bool(body),
    }


def authorizer_event(request: IncomingRequest, match: RouteMatch, clock: Clock) -> dict[str, Any]:
    """Return the event for a REQUEST authorizer."""
    return {
        "type": "REQUEST",
        "methodArn": method_arn(request),
        **_common(request, match),
        "requestContext": request_context(request, match, clock),
    }


def method_arn(request: IncomingRequest) -> str:
    """Return the ARN that the authorizer's policy is about."""
    path = request.raw_path.strip("/")
    return f"arn:aws:execute-api:{REGION}:{ACCOUNT}:{API_ID}/{STAGE}/{request.method}/{path}"


def _common(request: IncomingRequest, match: RouteMatch) -> dict[str, Any]:
    headers = forwarded_headers(request)
    query = parse_qsl(request.query, keep_blank_values=True)
    return {
        "resource": match.route.resource,
        "path": request.raw_path,
        "httpMethod": request.method,
        "headers": dict(headers),
        "multiValueHeaders": _grouped(headers),
        "queryStringParameters": dict(query) or None,
        "multiValueQueryStringParameters": _grouped(query) or None,
        "pathParameters": dict(match.parameters) or None,
        "stageVariables": None,
    }


def _grouped(pairs: Pairs) -> dict[str, list[str]]:
    grouped: dict[str, list[str]] = {}
    for name, value in pairs:
        grouped.setdefault(name, []).append(value)
    return grouped


def forwarded_headers(request: IncomingRequest) -> list[tuple[str, str]]:
    """Return the client's headers, as an HTTP/1.1 client spells them, with the gateway's own."""
    before = request.header("x-forwarded-for")
    ours = {
        "X-Forwarded-For": f"{before}, {request.client}" if before else request.client,
        "X-Forwarded-Port": request.header("host").partition(":")[2] or "443",
        "X-Forwarded-Proto": request.scheme,
        "X-Amzn-Trace-Id": f"Root=1-{uuid.uuid4().hex[:8]}-{uuid.uuid4().hex[:24]}",
    }
    theirs = [(_spelled(name), value) for name, value in request.headers]
    return [(name, value) for name, value in theirs if name not in ours] + list(ours.items())


def _spelled(name: str) -> str:
    return "-".join(part.capitalize() for part in name.split("-"))


def request_context(request: IncomingRequest, match: RouteMatch, clock: Clock) -> dict[str, Any]:
    """Return what the gateway knows about a request."""
    now = clock.now()
    return {
        "accountId": ACCOUNT,
        "apiId": API_ID,
        "domainName": request.header("host"),
        "domainPrefix": API_ID,
        "extendedRequestId": uuid.uuid4().hex,
        "httpMethod": request.method,
        "identity": {
            **dict.fromkeys(_OF_SIGNED_REQUESTS),
            "sourceIp": request.client,
            "userAgent": request.header("user-agent"),
        },
        "path": f"/{STAGE}{request.raw_path}",
        "protocol": "HTTP/1.1",
        "requestId": str(uuid.uuid4()),
        "requestTime": now.strftime("%d/%b/%Y:%H:%M:%S +0000"),
        "requestTimeEpoch": int(now.timestamp() * 1_000),
        "resourceId": "local",
        "resourcePath": match.route.resource,
        "stage": STAGE,
    }
