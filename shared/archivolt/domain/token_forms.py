"""The form of tokens that we make: a prefix, characters that name it, a secret, a checksum.

All in letters and digits: one double click selects a token, and any scanner can find it and tell it
from an accident by the checksum (CRC-32 of what is before it, in base 62).
"""

import hashlib
import re
import secrets
import string
import zlib
from dataclasses import dataclass
from typing import Final

from archivolt.domain.errors import UnauthenticatedError

ID_CHARS: Final = 16
# 62 ** 43 is more than 2 ** 256.
SECRET_CHARS: Final = 43
_CHECKSUM_CHARS: Final = 6
_DIGITS: Final = string.digits + string.ascii_letters


@dataclass(frozen=True, slots=True, kw_only=True)
class TokenForm:
    """One kind of token, by its prefix. `kept_chars` of the secret stay when it is renewed."""

    prefix: str
    kept_chars: int = 0

    def new(self, token_id: str = "", kept: str = "") -> str:
        """Return a token that nobody can guess, of a new id and a new kept part unless given."""
        named = token_id or random_text(ID_CHARS)
        body = f"{self.prefix}{named}{kept or random_text(self.kept_chars)}"
        body += random_text(SECRET_CHARS)
        return body + _checksum(body)

    def id_of(self, token: str) -> str:
        """Return the part that names a token.

        Raises:
            UnauthenticatedError: `invalid_token`: it has not this form, or a wrong checksum.

        """
        chars = ID_CHARS + self.kept_chars + SECRET_CHARS + _CHECKSUM_CHARS
        body, checksum = token[:-_CHECKSUM_CHARS], token[-_CHECKSUM_CHARS:]
        form = rf"{self.prefix}[0-9A-Za-z]{{{chars}}}"
        if not re.fullmatch(form, token) or checksum != _checksum(body):
            raise UnauthenticatedError("invalid_token")
        return token[len(self.prefix) : len(self.prefix) + ID_CHARS]

    def kept_part_of(self, token: str) -> str:
        """Return what stays of the secret of a token that has this form."""
        start = len(self.prefix) + ID_CHARS
        return token[start : start + self.kept_chars]


def random_text(chars: int) -> str:
    """Return so many letters and digits that nobody can guess."""
    return "".join(secrets.choice(_DIGITS) for _ in range(chars))


def digest_of(token: str) -> str:
    """Return what is kept of a token: its SHA-256; for 256 random bits nothing slower is needed."""
    return hashlib.sha256(token.encode()).hexdigest()


def _checksum(body: str) -> str:
    number = zlib.crc32(body.encode())
    text = ""
    for _ in range(_CHECKSUM_CHARS):
        number, digit = divmod(number, len(_DIGITS))
        text = _DIGITS[digit] + text
    return text
