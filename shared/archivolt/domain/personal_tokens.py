"""Personal access tokens: `avp_`, in the form of all tokens that we make."""

from dataclasses import dataclass
from datetime import date, datetime
from typing import Final

from archivolt.domain.identity import TenantId, TokenReach, UserId
from archivolt.domain.token_forms import TokenForm, digest_of

__all__ = ["PREFIX", "PersonalToken", "SecretToken", "digest_of", "id_of", "new_token"]

PREFIX: Final = "avp_"
_FORM: Final = TokenForm(prefix=PREFIX)
_FINGERPRINT_CHARS: Final = 4


@dataclass(frozen=True, slots=True, kw_only=True)
class PersonalToken:
    """A token as it is kept: everything but its secret.

    `digest` is the SHA-256 of the whole token: for 256 random bits nothing slower is needed.
    `fingerprint` is its end, to tell tokens apart.
    `last_used` is a day, None before the first use.
    """

    id: str
    tenant: TenantId
    user: UserId
    name: str
    reach: TokenReach
    digest: str
    fingerprint: str
    created_at: datetime
    expires_at: datetime
    last_used: date | None = None


@dataclass(frozen=True, slots=True)
class SecretToken:
    """A new token, shown once."""

    text: str

    @property
    def id(self) -> str:
        """What names it without revealing it."""
        return id_of(self.text)

    @property
    def fingerprint(self) -> str:
        """Its last characters; they are of the checksum and of no use to anybody."""
        return f"…{self.text[-_FINGERPRINT_CHARS:]}"


def new_token() -> SecretToken:
    """Return a token that nobody can guess."""
    return SecretToken(_FORM.new())


def id_of(token: str) -> str:
    """Return the part that names a token.

    Raises:
        UnauthenticatedError: `invalid_token`: it has not the form of one, or a wrong checksum.

    """
    return _FORM.id_of(token)
