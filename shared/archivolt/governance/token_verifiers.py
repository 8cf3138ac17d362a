"""One verifier for every token the product takes: each is judged by the one whose form it has."""

import hmac
from collections.abc import Callable
from typing import Final

from archivolt.domain.errors import UnauthenticatedError
from archivolt.domain.identity import Principal, Role, TokenKind
from archivolt.domain.oauth import ACCESS_TOKENS
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
        granted: Of access tokens that our own authorization server gave to programs.

    """

    def __init__(
        self, others: MakeVerifier, *, personal: MakeVerifier, granted: MakeVerifier
    ) -> None:
        self._others = others
        self._personal = personal
        self._granted = granted

    def verify(self, token: str) -> Principal:
        """Return who the token speaks for."""
        if len(token) > _MAX_TOKEN_CHARS:
            raise UnauthenticatedError("invalid_token")
        if token.startswith(PREFIX):
            return self._personal().verify(token)
        if token.startswith(ACCESS_TOKENS.prefix):
            return self._granted().verify(token)
        return self._others().verify(token)


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
            # Of its owner's role only a person's own sign-in tells what it is today.
            role=Role.VIEWER,
            token_id=digest[:_TOKEN_ID_CHARS],
            kind=TokenKind.PERSONAL,
            reach=kept.reach,
            program=kept.name,
        )
