"""Asks the authorizer function who may pass, and remembers its answer as the API says.

Reference: API Gateway developer guide, "Use API Gateway Lambda authorizers". An answer is kept by
the identity source alone: its policy has to cover every route of the API.
"""

import json
from collections import OrderedDict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import Any

from archivolt.ports.clock import Clock
from archivolt_local.gateway.api import AuthorizerSettings, RouteMatch
from archivolt_local.gateway.proxy_event import IncomingRequest, authorizer_event, method_arn
from archivolt_local.json_values import JsonObject, JsonValue, json_items
from archivolt_local.runtime.pool import FunctionPool

_MAX_REMEMBERED = 1_000


class RefusedError(Exception):
    """The request does not pass; `kind` is the gateway's answer to give."""

    def __init__(self, kind: str) -> None:
        super().__init__(kind)
        self.kind = kind


@dataclass(frozen=True)
class _Verdict:
    statements: list[Mapping[str, Any]]
    context: Mapping[str, str]
    until: float


class RequestAuthorizer:
    """Lets a request pass, with what the authorizer says of its caller, or refuses it."""

    def __init__(self, settings: AuthorizerSettings, pool: FunctionPool, clock: Clock) -> None:
        self._settings = settings
        self._pool = pool
        self._clock = clock
        self._remembered: OrderedDict[str, _Verdict] = OrderedDict()

    async def authorize(self, request: IncomingRequest, match: RouteMatch) -> Mapping[str, str]:
        """Return the authorizer's context.

        Raises:
            RefusedError: No identity, an identity that is not accepted, or a failed authorizer.

        """
        identity = request.header(self._settings.header)
        if not identity:
            raise RefusedError("UNAUTHORIZED")
        verdict = self._remembered.get(identity)
        if verdict is None or verdict.until <= self._clock.now().timestamp():
            verdict = await self._ask(request, match)
            self._remember(identity, verdict)
        if not allows(verdict.statements, method_arn(request)):
            raise RefusedError("ACCESS_DENIED")
        return verdict.context

    def _remember(self, identity: str, verdict: _Verdict) -> None:
        if self._settings.seconds <= 0:
            return
        self._remembered[identity] = verdict
        self._remembered.move_to_end(identity)
        while len(self._remembered) > _MAX_REMEMBERED:
            self._remembered.popitem(last=False)

    async def _ask(self, request: IncomingRequest, match: RouteMatch) -> _Verdict:
        event = authorizer_event(request, match, self._clock)
        outcome = await self._pool.invoke(json.dumps(event).encode())
        answer: Any = json.loads(outcome.payload)
        if outcome.failed:
            unauthorized = answer.get("errorMessage") == "Unauthorized"
            raise RefusedError("UNAUTHORIZED" if unauthorized else "AUTHORIZER_FAILURE")
        try:
            statements = answer["policyDocument"]["Statement"]
            given: JsonObject = answer.get("context") or {}
            context = {name: _as_text(value) for name, value in given.items()}
            context["principalId"] = answer["principalId"]
        except (KeyError, TypeError, AttributeError) as error:
            raise RefusedError("AUTHORIZER_CONFIGURATION_ERROR") from error
        until = self._clock.now().timestamp() + self._settings.seconds
        return _Verdict(json_items(statements), context, until)


def _as_text(value: JsonValue) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def allows(statements: Iterable[Mapping[str, Any]], arn: str) -> bool:
    """Tell whether a policy lets a method be called: an allow, and no deny."""
    effects = {
        statement["Effect"]
        for statement in statements
        if any(fnmatchcase(arn, pattern) for pattern in _listed(statement.get("Resource", [])))
    }
    return "Allow" in effects and "Deny" not in effects


def _listed(value: JsonValue) -> list[str]:
    return json_items(value)
