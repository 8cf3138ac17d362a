"""The REST API as the template describes it: routes, the authorizer, the gateway's own answers."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from urllib.parse import unquote

_FUNCTION = re.compile(r":function:([^:/]+)/")
_ANY = "x-amazon-apigateway-any-method"
_INTEGRATION = "x-amazon-apigateway-integration"
_DEFAULT_TIMEOUT_MS = 29_000


@dataclass(frozen=True, kw_only=True)
class Route:
    """One method of one resource. `timeout` in seconds."""

    resource: str
    function: str
    authorized: bool
    streaming: bool
    timeout: float


@dataclass(frozen=True, kw_only=True)
class RouteMatch:
    """A route and the values of its path parameters, encoded as the client sent them."""

    route: Route
    parameters: Mapping[str, str]


@dataclass(frozen=True, kw_only=True)
class AuthorizerSettings:
    """Which function decides, by which header, and for how many seconds its answer holds."""

    function: str
    header: str
    seconds: float


class ApiDefinition:
    """The body of a REST API, every reference resolved."""

    def __init__(self, body: Mapping[str, Any]) -> None:
        self._resources = {
            path: {_method(name): _route(path, operation) for name, operation in methods.items()}
            for path, methods in body["paths"].items()
        }
        self.authorizer = _authorizer(body["components"]["securitySchemes"])
        self.gateway_responses: Mapping[str, Any] = body["x-amazon-apigateway-gateway-responses"]

    @property
    def routes(self) -> Sequence[Route]:
        """Every route."""
        return [route for methods in self._resources.values() for route in methods.values()]

    def match(self, method: str, raw_path: str) -> RouteMatch | None:
        """Return the most specific resource's route for a percent-encoded path, or None.

        As in API Gateway, a resource that lacks the method hides less specific ones.
        """
        segments = raw_path.strip("/").split("/")
        best: tuple[int, str, Mapping[str, str]] | None = None
        for resource in self._resources:
            parameters = _fits(resource, segments)
            rank = _literals(resource)
            if parameters is not None and (best is None or rank > best[0]):
                best = (rank, resource, parameters)
        if best is None:
            return None
        methods = self._resources[best[1]]
        route = methods.get(method) or methods.get("ANY")
        return RouteMatch(route=route, parameters=best[2]) if route else None


def _method(name: str) -> str:
    return "ANY" if name == _ANY else name.upper()


def _route(path: str, operation: Mapping[str, Any]) -> Route:
    integration = operation[_INTEGRATION]
    return Route(
        resource=path,
        function=_function_of(integration["uri"]),
        authorized=bool(operation.get("security")),
        streaming=integration.get("responseTransferMode") == "STREAM",
        timeout=integration.get("timeoutInMillis", _DEFAULT_TIMEOUT_MS) / 1_000,
    )


def _function_of(uri: str) -> str:
    match = _FUNCTION.search(uri)
    if match is None:
        raise ValueError(f"not a function's address: {uri}")
    return match.group(1)


def _authorizer(schemes: Mapping[str, Any]) -> AuthorizerSettings:
    (scheme,) = schemes.values()
    settings = scheme["x-amazon-apigateway-authorizer"]
    return AuthorizerSettings(
        function=_function_of(settings["authorizerUri"]),
        header=settings["identitySource"].removeprefix("method.request.header.").lower(),
        seconds=float(settings["authorizerResultTtlInSeconds"]),
    )


def _literals(resource: str) -> int:
    return sum(1 for part in resource.strip("/").split("/") if not part.startswith("{"))


def _fits(resource: str, segments: Sequence[str]) -> dict[str, str] | None:
    parts = resource.strip("/").split("/")
    parameters: dict[str, str] = {}
    for number, part in enumerate(parts):
        if part.endswith("+}"):
            rest = "/".join(segments[number:])
            return {**parameters, part[1:-2]: rest} if rest else None
        if number >= len(segments):
            return None
        if part.startswith("{"):
            parameters[part[1:-1]] = segments[number]
        elif unquote(segments[number]) != part:
            return None
    return parameters if len(segments) == len(parts) else None
