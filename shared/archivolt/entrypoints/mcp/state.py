"""What a client carries between the rounds of one call, sealed (MCP 2026-07-28, `requestState`).

Every process seals with the same key, so that any of them takes the next round. A state is bound
to its user, method, tool and arguments, and to a time; whoever puts it in sees to a single use.
"""

import hashlib
import hmac
import json
from collections.abc import Callable
from functools import cached_property

from mcp.server.request_state import (
    AESGCMRequestStateCodec,
    RequestStateBoundary,
    RequestStateSecurity,
)

from archivolt.domain.limits import CONFIRMATION_SECONDS
from archivolt.entrypoints.mcp.caller import RequestContext, caller_of

_PURPOSE = b"mcp request state"
_AUDIENCE = "archivolt"


class SharedKeyCodec:
    """Seals with a key made of the deployment's, read when it is first needed.

    Satisfies `mcp.server.request_state.RequestStateCodec`.
    """

    def __init__(self, key: Callable[[], bytes]) -> None:
        self._key = key

    def seal(self, payload: bytes) -> str:
        """Return a token."""
        return self._codec.seal(payload)

    def unseal(self, token: str) -> bytes:
        """Return what a token of ours holds.

        Raises:
            InvalidRequestState: It is none.

        """
        return self._codec.unseal(token)

    @cached_property
    def _codec(self) -> AESGCMRequestStateCodec:
        # The same key signs confirmation tokens: no key has two purposes.
        return AESGCMRequestStateCodec([hmac.digest(self._key(), _PURPOSE, hashlib.sha256)])


def sealed_state(key: Callable[[], bytes]) -> RequestStateBoundary:
    """Return the middleware that seals what goes out and opens what comes back."""
    security = RequestStateSecurity(
        codec=SharedKeyCodec(key), ttl=CONFIRMATION_SECONDS, bind_principal=_whose
    )
    return RequestStateBoundary(security, default_audience=_AUDIENCE)


def _whose(context: RequestContext) -> str:
    principal = caller_of(context).principal
    return json.dumps([principal.tenant, principal.user])
