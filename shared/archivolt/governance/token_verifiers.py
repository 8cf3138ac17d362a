"""One verifier for every token the product takes: each is judged by the one whose form it has.

Reading the issuer proves nothing: it only chooses who verifies, and every verifier holds a token to
its own issuer.
"""

import base64
import binascii
import hmac
import json
from collections.abc import Callable, Mapping
from typing import Any, Final, cast

from archivolt.domain.errors import UnauthenticatedError
from archivolt.domain.identity import Principal, TokenKind
from archivolt.domain.personal_tokens import PREFIX, digest_of, id_of
from archivolt.ports.clock import Clock
from archivolt.ports.governance import TokenVerifier
from archivolt.ports.personal_tokens import PersonalTokenStore

_MAX_TOKEN_CHARS: Final = 8_192
_TOKEN_ID_CHARS: Final = 32

MakeVerifier = Callable[[], TokenVerifier]


class TokenVerifiers:
    """The `TokenVerifier` of every door. Each verifier is made when its first token comes.

    Args:
        others: Of tokens by anybody else: the identity provider's.
        personal: Of personal access tokens.
        by_issuer: Of tokens that name one of these as their `iss`.

    """

    def __init__(
        self,
        others: MakeVerifier,
        *,
        personal: MakeVerifier,
        by_issuer: Mapping[str, MakeVerifier] | None = None,
    ) -> None:
        self._others = others
        self._personal = personal
        self._by_issuer = by_issuer or {}

    def verify(self, token: str) -> Principal:
        """Return who the token speaks for."""
        if len(token) > _MAX_TOKEN_CHARS:
            raise UnauthenticatedError("invalid_token")
        if token.startswith(PREFIX):
            return self._personal().verify(token)
        return self._by_issuer.get(_claimed_issuer(token), self._others)().verify(token)


class PersonalTokenVerifier:
    """A `TokenVerifier` of personal access tokens.

    Args:
        tokens: Where they are kept.
        clock: The time.
        notes_use: Whether the day of a use is noted; whoever may only read does not.

    """

    def __init__(self, tokens: PersonalTokenStore, clock: Clock, *, notes_use: bool = True) -> None:
        self._tokens = tokens
        self._clock = clock
        self._notes_use = notes_use

    def verify(self, token: str) -> Principal:
        """Return who the token speaks for; it costs one read, and none if it has not the form."""
        kept = self._tokens.find(id_of(token))
        digest = digest_of(token)
        # Compared with something in every case: how long it takes tells nothing.
        if not hmac.compare_digest(digest, kept.digest if kept else "") or kept is None:
            raise UnauthenticatedError("invalid_token")
        now = self._clock.now()
        if kept.expires_at <= now:
            raise UnauthenticatedError("invalid_token")
        if self._notes_use and kept.last_used != now.date():
            self._tokens.note_use(kept, now.date())
        return Principal(
            tenant=kept.tenant,
            user=kept.user,
            role=kept.role,
            token_id=digest[:_TOKEN_ID_CHARS],
            kind=TokenKind.PERSONAL,
            reach=kept.reach,
        )


def _claimed_issuer(token: str) -> str:
    """Return the issuer a JSON Web Token claims, unproven; "" if it claims none."""
    _, _, rest = token.partition(".")
    payload = rest.partition(".")[0]
    try:
        decoded = base64.urlsafe_b64decode(payload + "=" * (-len(payload) % 4))
        claims = json.loads(decoded)
    except (binascii.Error, ValueError, RecursionError):
        return ""
    issuer = cast("dict[str, Any]", claims).get("iss") if isinstance(claims, dict) else None
    return issuer if isinstance(issuer, str) else ""
