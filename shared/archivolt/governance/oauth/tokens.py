"""From a person's yes to tokens: codes, their exchange, renewal with detection of reuse, the end.

A code or a refresh token that is used twice was stolen from somebody: whoever brings it second, all
that came of it ends. So two renewals at once by one client end its grant too, and the person is
asked again.
"""

import base64
import hashlib
import hmac
import re
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final

from archivolt.domain.errors import (
    ConflictError,
    ForbiddenError,
    UnauthenticatedError,
    UnavailableError,
)
from archivolt.domain.identity import Principal, TenantId, TokenReach, UserId
from archivolt.domain.limits import (
    MAX_ACCESS_TOKENS_PER_GRANT,
    MAX_OAUTH_GRANTS,
    OAUTH_ACCESS_SECONDS,
    OAUTH_CODE_SECONDS,
    OAUTH_GRANT_DAYS,
)
from archivolt.domain.oauth import (
    ACCESS_TOKENS,
    REFRESH_TOKENS,
    AccessDigest,
    AuthorizationCode,
    OAuthError,
    OAuthGrant,
    Person,
)
from archivolt.domain.token_forms import SECRET_CHARS, digest_of, random_text
from archivolt.governance.oauth.requests import AuthorizationRequest
from archivolt.observability import logger
from archivolt.ports.clock import Clock
from archivolt.ports.oauth import OAuthGrantStore

# RFC 7636 §4.1.
_VERIFIER: Final = re.compile(r"[A-Za-z0-9._~-]{43,128}")


@dataclass(frozen=True, slots=True, kw_only=True)
class TokenPair:
    """What a client is given; the only time that anybody sees it. `seconds`: how long it lasts."""

    access: str
    refresh: str
    seconds: int
    grant: OAuthGrant


@dataclass(frozen=True, slots=True, kw_only=True)
class CodeExchange:
    """What a client sends with a code; `redirect_uri` is "" where OAuth 2.1 has none."""

    code: str
    client_id: str
    redirect_uri: str
    verifier: str


class OAuthTokens:
    """Gives, renews and ends tokens.

    Args:
        grants: Keeps what people let in.
        clock: The time.
        require: Checks that somebody may come in, as `Admission.require`.

    """

    def __init__(
        self,
        grants: OAuthGrantStore,
        clock: Clock,
        require: Callable[[TenantId, UserId], object] = lambda tenant, user: None,  # noqa: ARG005  all may
    ) -> None:
        self._grants = grants
        self._clock = clock
        self._require = require

    def agree(self, person: Person, request: AuthorizationRequest, reach: TokenReach) -> str:
        """Return where the browser goes with the code for what a person agreed to."""
        code = random_text(SECRET_CHARS)
        self._grants.add_code(
            AuthorizationCode(
                digest=digest_of(code),
                client_id=request.client.id,
                client_name=request.client.name,
                redirect_uri=request.redirect_uri,
                challenge=request.challenge,
                person=person,
                reach=reach,
                expires_at=self._clock.now() + timedelta(seconds=OAUTH_CODE_SECONDS),
            )
        )
        return request.answered(code=code)

    def exchange(self, given: CodeExchange) -> TokenPair:
        """Return the tokens for a code, once.

        Raises:
            OAuthError: `oauth_code`, or as `_check_welcome`.

        """
        code = self._grants.find_code(digest_of(given.code))
        if code is None or not _is_of(code, given):
            raise OAuthError("oauth_code")
        if code.grant:
            self._end_stolen(code.grant)
            raise OAuthError("oauth_code")
        if code.expires_at <= self._clock.now():
            raise OAuthError("oauth_code")
        self._check_welcome(code.person)
        pair = self._first_pair(code)
        try:
            self._grants.exchange(code, pair.grant)
        except ConflictError as error:
            again = self._grants.find_code(code.digest)
            self._end_stolen(again.grant if again else "")
            raise OAuthError("oauth_code") from error
        # The code is spent: what was given for it is told, and the next exchange ends what is old.
        with suppress(UnavailableError):
            self._end_oldest(code.person)
        return pair

    def renew(self, token: str, client_id: str) -> TokenPair:
        """Return new tokens for a refresh token, which is used up with that.

        Raises:
            OAuthError: `oauth_refresh`, or as `_check_welcome`.

        """
        grant = self._grant_of_refresh(token)
        now = self._clock.now()
        if grant is None or grant.client_id != client_id or grant.expires_at <= now:
            raise OAuthError("oauth_refresh")
        if not hmac.compare_digest(digest_of(token), grant.refresh):
            self._end_stolen(grant.id)
            raise OAuthError("oauth_refresh")
        self._check_welcome(grant.person)
        access = ACCESS_TOKENS.new(grant.id)
        refresh = REFRESH_TOKENS.new(grant.id, REFRESH_TOKENS.kept_part_of(token))
        good = tuple(each for each in grant.access if each.expires_at > now)
        kept = good[-(MAX_ACCESS_TOKENS_PER_GRANT - 1) :]
        renewed = grant.renewed(
            refresh=digest_of(refresh), access=(*kept, _noted(access, now, grant.expires_at))
        )
        try:
            self._grants.renew(grant, renewed)
        except ConflictError as error:
            self._end_stolen(grant.id)
            raise OAuthError("oauth_refresh") from error
        return _pair(access, refresh, renewed, now)

    def revoke(self, token: str, client_id: str) -> None:
        """End the grant of a token; what is none of this client's is no error (RFC 7009 §2.2)."""
        grant = self._grant_of_refresh(token) or self._grant_of_access(token)
        if grant is not None and client_id in {"", grant.client_id}:
            self._grants.remove(grant)

    def verify(self, token: str) -> Principal:
        """Return who an access token speaks for, at the cost of one read.

        Raises:
            UnauthenticatedError: `invalid_token`.

        """
        grant = self._grant_of_access(token)
        if grant is None:
            raise UnauthenticatedError("invalid_token")
        return grant.principal()

    def _check_welcome(self, person: Person) -> None:
        """Give nothing to whoever may not come in; their grants stay, for when they may again.

        Raises:
            OAuthError: `tenant_suspended`, `tenant_deleting`, `user_suspended`.
            UnavailableError: It cannot be read.

        """
        try:
            self._require(person.tenant, person.user)
        except ForbiddenError as error:
            raise OAuthError(error.code) from error

    def _first_pair(self, code: AuthorizationCode) -> TokenPair:
        refresh = REFRESH_TOKENS.new()
        grant_id = REFRESH_TOKENS.id_of(refresh)
        access = ACCESS_TOKENS.new(grant_id)
        now = self._clock.now()
        ends = now + timedelta(days=OAUTH_GRANT_DAYS)
        grant = OAuthGrant(
            id=grant_id,
            client_id=code.client_id,
            client_name=code.client_name,
            person=code.person,
            reach=code.reach,
            family=digest_of(REFRESH_TOKENS.kept_part_of(refresh)),
            refresh=digest_of(refresh),
            access=(_noted(access, now, ends),),
            created_at=now,
            expires_at=ends,
        )
        return _pair(access, refresh, grant, now)

    def _grant_of_refresh(self, token: str) -> OAuthGrant | None:
        """Return the grant that a refresh token is or was of."""
        try:
            grant = self._grants.find(REFRESH_TOKENS.id_of(token))
        except UnauthenticatedError:
            return None
        family = digest_of(REFRESH_TOKENS.kept_part_of(token))
        is_of = hmac.compare_digest(family, grant.family if grant else "")
        return grant if is_of else None

    def _grant_of_access(self, token: str) -> OAuthGrant | None:
        """Return the grant of an access token that is good."""
        try:
            grant = self._grants.find(ACCESS_TOKENS.id_of(token))
        except UnauthenticatedError:
            return None
        if grant is None or not _holds(grant.access, digest_of(token), self._clock.now()):
            return None
        return grant

    def _end_stolen(self, grant_id: str) -> None:
        grant = self._grants.find(grant_id) if grant_id else None
        if grant is not None:
            logger.warning("oauth_token_reused", extra={"grant": grant.id})
            self._grants.remove(grant)

    def _end_oldest(self, person: Person) -> None:
        """Hold a person to so many grants: each new connection of a client makes one."""
        for grant in self._grants.of_user(person.tenant, person.user)[MAX_OAUTH_GRANTS:]:
            self._grants.remove(grant)


def challenge_of(verifier: str) -> str:
    """Return the challenge of a PKCE verifier by S256 (RFC 7636 §4.2)."""
    digest = hashlib.sha256(verifier.encode()).digest()
    return base64.urlsafe_b64encode(digest).rstrip(b"=").decode()


def _is_of(code: AuthorizationCode, given: CodeExchange) -> bool:
    return (
        code.client_id == given.client_id
        and given.redirect_uri in {"", code.redirect_uri}
        and bool(_VERIFIER.fullmatch(given.verifier))
        and hmac.compare_digest(code.challenge, challenge_of(given.verifier))
    )


def _holds(access: Sequence[AccessDigest], digest: str, now: datetime) -> bool:
    # All are compared: how long it takes tells nothing.
    same = [hmac.compare_digest(each.digest, digest) and each.expires_at > now for each in access]
    return any(same)


def _pair(access: str, refresh: str, grant: OAuthGrant, now: datetime) -> TokenPair:
    left = grant.access[-1].expires_at - now
    return TokenPair(access=access, refresh=refresh, seconds=int(left.total_seconds()), grant=grant)


def _noted(token: str, now: datetime, ends: datetime) -> AccessDigest:
    until = min(now + timedelta(seconds=OAUTH_ACCESS_SECONDS), ends)
    return AccessDigest(digest=digest_of(token), expires_at=until)
