"""Gives each function the credentials of its role, and fresh ones before they expire.

Served as AWS serves containers (the SDK's "container credentials"): the SDK asks again by itself.
"""

import asyncio
import hmac
import json
import secrets
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import timedelta
from typing import TYPE_CHECKING

from archivolt.ports.clock import Clock
from archivolt_local.addresses import LOOPBACK
from archivolt_local.loopback_http import HttpRequest, HttpResponse, port_of, serve_loopback

if TYPE_CHECKING:
    from types_boto3_sts import STSClient

# The SDK asks for new ones 15 minutes before the old expire.
_RENEWED_BEFORE = timedelta(minutes=20)


@dataclass
class _Grant:
    role: str
    token: str
    answer: bytes = b""
    fresh_until: float = 0.0


class RoleCredentials:
    """Hands out credentials by function, to those who show the function's token."""

    def __init__(self, sts: "STSClient", clock: Clock) -> None:
        self._sts = sts
        self._clock = clock
        self._grants: dict[str, _Grant] = {}
        self._server: asyncio.Server | None = None

    async def start(self) -> None:
        """Listen on the loopback."""
        self._server = await serve_loopback(self._answer)

    def stop(self) -> None:
        """Stop listening."""
        if self._server is not None:
            self._server.close()

    def environment(self, function: str, role: str) -> Mapping[str, str]:
        """Return the variables with which an SDK obtains the credentials of `role`."""
        if self._server is None:
            raise RuntimeError("not started")
        grant = self._grants.setdefault(function, _Grant(role, secrets.token_urlsafe(24)))
        grant.role, grant.fresh_until = role, 0.0
        return {
            "AWS_CONTAINER_CREDENTIALS_FULL_URI": (
                f"http://{LOOPBACK}:{port_of(self._server)}/{function}"
            ),
            "AWS_CONTAINER_AUTHORIZATION_TOKEN": grant.token,
        }

    async def _answer(self, request: HttpRequest) -> HttpResponse:
        grant = self._grants.get(request.path.strip("/"))
        shown = request.headers.get("authorization", "")
        if grant is None or not hmac.compare_digest(shown.encode(), grant.token.encode()):
            return HttpResponse(403)
        if self._clock.now().timestamp() >= grant.fresh_until:
            await asyncio.to_thread(self._renew, grant)
        return HttpResponse(200, grant.answer, {"Content-Type": "application/json"})

    def _renew(self, grant: _Grant) -> None:
        given = self._sts.assume_role(RoleArn=grant.role, RoleSessionName="worker")["Credentials"]
        grant.fresh_until = (given["Expiration"] - _RENEWED_BEFORE).timestamp()
        grant.answer = json.dumps(
            {
                "AccessKeyId": given["AccessKeyId"],
                "SecretAccessKey": given["SecretAccessKey"],
                "Token": given["SessionToken"],
                "Expiration": given["Expiration"].strftime("%Y-%m-%dT%H:%M:%SZ"),
            }
        ).encode()
