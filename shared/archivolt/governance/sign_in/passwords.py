"""Passwords of local people: kept as scrypt hashes, compared in constant time."""

import base64
import hashlib
import hmac
import secrets
from typing import Final

from archivolt.domain.errors import InvalidRequestError
from archivolt.domain.limits import MAX_PASSWORD_CHARS, MIN_PASSWORD_CHARS

# OWASP, "Password Storage Cheat Sheet": N=2^15, r=8, p=3, that is 32 MB for a moment.
_COST: Final = 2**15
_BLOCK: Final = 8
_PARALLEL: Final = 3
_MEMORY: Final = 64 * 1024 * 1024
_SALT_BYTES: Final = 16
_SCHEME: Final = "scrypt"
# Compared against where there is nobody of a name, so that it takes as long.
NOBODYS: Final = f"{_SCHEME}$" + "A" * 24 + "$" + "A" * 88


def hashed(password: str) -> str:
    """Return what is kept of a password.

    Raises:
        InvalidRequestError: `password_length`.

    """
    if not MIN_PASSWORD_CHARS <= len(password) <= MAX_PASSWORD_CHARS:
        raise InvalidRequestError(
            "password_length", shortest=MIN_PASSWORD_CHARS, longest=MAX_PASSWORD_CHARS
        )
    salt = secrets.token_bytes(_SALT_BYTES)
    return "$".join((_SCHEME, _text(salt), _text(_scrypt(password, salt))))


def matches(password: str, kept: str) -> bool:
    """Tell whether this is the password of which `kept` is the hash."""
    scheme, salt, digest = kept.split("$")
    if len(password) > MAX_PASSWORD_CHARS:
        return False
    computed = _scrypt(password, base64.b64decode(salt))
    return hmac.compare_digest(computed, base64.b64decode(digest)) and scheme == _SCHEME


def _scrypt(password: str, salt: bytes) -> bytes:
    return hashlib.scrypt(
        password.encode("utf-8", "replace"),
        salt=salt,
        n=_COST,
        r=_BLOCK,
        p=_PARALLEL,
        maxmem=_MEMORY,
    )


def _text(value: bytes) -> str:
    return base64.b64encode(value).decode()
