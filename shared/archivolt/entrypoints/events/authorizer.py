"""The REST API's authorizer (decision 13): lets a request pass whose token verifies.

Only so can the front door itself answer a true 401 with `WWW-Authenticate`. It decides nothing
else: behind it every function verifies the token again and does not believe this answer.
"""

from collections.abc import Callable, Mapping
from typing import Any

from archivolt.domain.errors import UnauthenticatedError
from archivolt.domain.identity import Principal
from archivolt.entrypoints.credentials import principal_of
from archivolt.ports.governance import TokenVerifier

Handler = Callable[[Mapping[str, Any], object], dict[str, Any]]


class RefusedError(Exception):
    """Makes the front door answer 401: it looks for exactly this message.

    Amazon API Gateway developer guide, "Output from an API Gateway Lambda authorizer".
    """

    def __init__(self) -> None:
        super().__init__("Unauthorized")


def build_authorizer(token_verifier: Callable[[], TokenVerifier]) -> Handler:
    """Return the handler of a REQUEST authorizer; what it raises besides is a 500."""

    def handler(event: Mapping[str, Any], context: object) -> dict[str, Any]:
        del context
        try:
            principal = principal_of(_authorization(event), token_verifier())
        except UnauthenticatedError as error:
            raise RefusedError from error
        return _policy(principal, event["methodArn"])

    return handler


def _authorization(event: Mapping[str, Any]) -> str:
    headers: Mapping[str, str] = event.get("headers") or {}
    return next((value for name, value in headers.items() if name.lower() == "authorization"), "")


def _policy(principal: Principal, method_arn: str) -> dict[str, Any]:
    """Return leave for the whole stage: the answer is kept by token, for any of its methods."""
    stage = "/".join(method_arn.split("/")[:2])
    statement = {"Action": "execute-api:Invoke", "Effect": "Allow", "Resource": f"{stage}/*"}
    return {
        "principalId": principal.user,
        "policyDocument": {"Version": "2012-10-17", "Statement": [statement]},
        "context": {
            "tenant": principal.tenant,
            "user": principal.user,
            "role": principal.role.value,
        },
    }
