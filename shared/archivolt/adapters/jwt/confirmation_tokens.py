"""Confirmation tokens as JSON Web Tokens (decision 12): HS256 and nothing else, whatever one says.

They are no access tokens, nor the other way round: the key is another, and so is the type.
"""

import json
import re
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from typing import Any, Final

from jwt import PyJWS
from jwt.exceptions import PyJWTError

from archivolt.domain.errors import InvalidRequestError
from archivolt.domain.identity import TenantId, UserId
from archivolt.domain.limits import MAX_CONFIRMATION_TOKEN_CHARS
from archivolt.domain.tool import Surface
from archivolt.ports.confirmations import ConfirmationClaims

_TYPE: Final = "mcp_confirmation"
_ALGORITHM: Final = "HS256"
# Base64 has several spellings for one value, and only one of them is ours: a signature of 32 bytes
# ends in a character of four bits, with its other two at zero.
_FORM: Final = re.compile(r"[\w-]+\.[\w-]+\.[\w-]{42}[AEIMQUYcgkosw048]", re.ASCII)
_TEXTS: Final = ("jti", "tenant", "sub", "tool", "surface", "digest")


class JwtConfirmationTokens:
    """A `ConfirmationTokens`.

    Args:
        key: Gives the signing key when it is first needed.

    """

    def __init__(self, key: Callable[[], bytes]) -> None:
        self._key = key
        self._jws = PyJWS(algorithms=[_ALGORITHM])

    def sign(self, claims: ConfirmationClaims) -> str:
        """Return the token."""
        payload: dict[str, Any] = {
            "type": _TYPE,
            "jti": claims.id,
            "tenant": claims.tenant,
            "sub": claims.user,
            "tool": claims.tool,
            "surface": claims.surface.value,
            "exp": int(claims.expires_at.timestamp()),
            "digest": claims.digest,
        }
        if claims.call is not None:
            payload["call"] = claims.call
        # As UTF-8: escapes would make a name in Greek or Chinese six times as long.
        compact = json.dumps(payload, ensure_ascii=False, separators=(",", ":"))
        return self._jws.encode(compact.encode(), self._key(), algorithm=_ALGORITHM)

    def read(self, token: str) -> ConfirmationClaims:
        """Return what a token of ours says."""
        if len(token) > MAX_CONFIRMATION_TOKEN_CHARS or not _FORM.fullmatch(token):
            raise InvalidRequestError("confirmation_invalid")
        key = self._key()
        try:
            payload = json.loads(self._jws.decode(token, key, algorithms=[_ALGORITHM]))
            return _claims(payload)
        except (PyJWTError, ValueError, KeyError, TypeError, OverflowError) as error:
            raise InvalidRequestError("confirmation_invalid") from error


def _claims(payload: Mapping[str, Any]) -> ConfirmationClaims:
    if payload["type"] != _TYPE or not all(isinstance(payload[name], str) for name in _TEXTS):
        raise ValueError(_TYPE)
    call = payload.get("call")
    if call is not None and not isinstance(call, dict):
        raise TypeError(_TYPE)
    return ConfirmationClaims(
        id=payload["jti"],
        tenant=TenantId(payload["tenant"]),
        user=UserId(payload["sub"]),
        tool=payload["tool"],
        surface=Surface(payload["surface"]),
        expires_at=datetime.fromtimestamp(payload["exp"], UTC),
        call=payload.get("call"),
        digest=payload["digest"],
    )
