"""The form of personal access tokens: `avp_`, 16 characters that name it, a secret, a checksum.

All in letters and digits: one double click selects a token, and any scanner can find it and tell it
from an accident by the checksum (CRC-32 of what is before it, in base 62).
"""

import hashlib
import re
import secrets
import string
import zlib
from dataclasses import dataclass
from datetime import date, datetime
from typing import Final

from archivolt.domain.errors import UnauthenticatedError
from archivolt.domain.identity import TenantId, TokenReach, UserId

PREFIX: Final = "avp_"
ID_CHARS: Final = 16
# 62 ** 43 is more than 2 ** 256.
_SECRET_CHARS: Final = 43
_CHECKSUM_CHARS: Final = 6
_FINGERPRINT_CHARS: Final = 4
_DIGITS: Final = string.digits + string.ascii_letters
_FORM: Final = re.compile(rf"{PREFIX}[0-9A-Za-z]{{{ID_CHARS + _SECRET_CHARS + _CHECKSUM_CHARS}}}")


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
    body = PREFIX + "".join(secrets.choice(_DIGITS) for _ in range(ID_CHARS + _SECRET_CHARS))
    return SecretToken(body + _checksum(body))


def id_of(token: str) -> str:
    """Return the part that names a token.

    Raises:
        UnauthenticatedError: `invalid_token`: it has not the form of one, or a wrong checksum.

    """
    if not _FORM.fullmatch(token) or token[-_CHECKSUM_CHARS:] != _checksum(
        token[:-_CHECKSUM_CHARS]
    ):
        raise UnauthenticatedError("invalid_token")
    return token[len(PREFIX) : len(PREFIX) + ID_CHARS]


def digest_of(token: str) -> str:
    """Return what is kept of a token."""
    return hashlib.sha256(token.encode()).hexdigest()


def _checksum(body: str) -> str:
    number = zlib.crc32(body.encode())
    text = ""
    for _ in range(_CHECKSUM_CHARS):
        number, digit = divmod(number, len(_DIGITS))
        text = _DIGITS[digit] + text
    return text
