"""Passwords of local people: kept as scrypt hashes, compared in constant time."""

import base64
import hashlib
import hmac
import secrets
from typing import Final, NamedTuple

from archivolt.domain.errors import InvalidRequestError
from archivolt.domain.limits import MAX_PASSWORD_CHARS, MIN_PASSWORD_CHARS


class Cost(NamedTuple):
    """How much work a hash is; it is kept with each, so that it can grow."""

    n: int
    r: int
    p: int


# OWASP, "Password Storage Cheat Sheet": with these, 32 MB for a moment.
USUAL: Final = Cost(n=2**15, r=8, p=3)
_MAX_MEMORY: Final = 64 * 1024 * 1024
_SALT_BYTES: Final = 16
_SCHEME: Final = "scrypt"
# Compared against where there is nobody of a name, so that it takes as long.
NOBODYS: Final = "$".join((_SCHEME, *map(str, USUAL), "A" * 24, "A" * 88))


def hashed(password: str, cost: Cost = USUAL) -> str:
    """Return what is kept of a password.

    Raises:
        InvalidRequestError: `password_length`.

    """
    if not MIN_PASSWORD_CHARS <= len(password) <= MAX_PASSWORD_CHARS:
        raise InvalidRequestError(
            "password_length", shortest=MIN_PASSWORD_CHARS, longest=MAX_PASSWORD_CHARS
        )
    salt = secrets.token_bytes(_SALT_BYTES)
    digest = _scrypt(password, salt, cost)
    return "$".join((_SCHEME, *map(str, cost), _text(salt), _text(digest)))


def matches(password: str, kept: str) -> bool:
    """Tell whether this is the password of which `kept` is the hash."""
    scheme, n, r, p, salt, digest = kept.split("$")
    if scheme != _SCHEME or len(password) > MAX_PASSWORD_CHARS:
        return False
    computed = _scrypt(password, base64.b64decode(salt), Cost(int(n), int(r), int(p)))
    return hmac.compare_digest(computed, base64.b64decode(digest))


def _scrypt(password: str, salt: bytes, cost: Cost) -> bytes:
    return hashlib.scrypt(
        password.encode("utf-8", "replace"),
        salt=salt,
        n=cost.n,
        r=cost.r,
        p=cost.p,
        maxmem=_MAX_MEMORY,
    )


def _text(value: bytes) -> str:
    return base64.b64encode(value).decode()
