"""The public keys of an identity provider, read from its JWKS address (RFC 7517) and kept.

A token that names an unknown key makes the set be read again, since keys rotate, but not more often
than every half minute, whatever strangers send. While the address does not answer, the keys known
so far go on being used.
"""

from collections.abc import Callable, Iterator
from datetime import datetime, timedelta
from threading import Lock
from typing import Any, Final

from cryptography.hazmat.primitives.asymmetric.rsa import RSAPublicKey
from jwt import PyJWK
from jwt.exceptions import PyJWTError

from archivolt.domain.errors import UnauthenticatedError, UnavailableError
from archivolt.ports.clock import Clock

_FRESH_FOR: Final = timedelta(minutes=10)
_BETWEEN_READS: Final = timedelta(seconds=30)
# RFC 7518 §3.3.
_MIN_RSA_BITS: Final = 2048


class JwksKeys:
    """RS256 keys from a JWKS address.

    Args:
        read: Returns the parsed document at the address.

    """

    algorithm: str = "RS256"

    def __init__(self, read: Callable[[], Any], clock: Clock) -> None:
        self._read = read
        self._clock = clock
        self._lock = Lock()
        self._keys: dict[str | None, PyJWK] = {}
        self._read_at: datetime | None = None
        self._tried_at: datetime | None = None

    def key_for(self, key_id: str | None) -> PyJWK:
        """Return the key of this id; without one, the only key of the set."""
        with self._lock:
            if self._is_stale() or self._find(key_id) is None:
                self._read_again()
            key = self._find(key_id)
        if key is None:
            raise UnauthenticatedError("invalid_token")
        return key

    def _find(self, key_id: str | None) -> PyJWK | None:
        if key_id is None and len(self._keys) == 1:
            return next(iter(self._keys.values()))
        return self._keys.get(key_id)

    def _is_stale(self) -> bool:
        return self._read_at is None or self._clock.now() - self._read_at > _FRESH_FOR

    def _read_again(self) -> None:
        now = self._clock.now()
        if self._tried_at is not None and now - self._tried_at < _BETWEEN_READS:
            if self._read_at is None:
                raise UnavailableError("unavailable")
            return
        self._tried_at = now
        try:
            keys = dict(_usable(self._read()))
        except UnavailableError:
            if self._read_at is None:
                raise
            return
        self._keys, self._read_at = keys, now


def _usable(document: Any) -> Iterator[tuple[str | None, PyJWK]]:  # noqa: ANN401  a stranger's JSON
    """Yield the RSA keys for signatures; others may stand beside them and are not ours to judge."""
    try:
        entries = list(document["keys"])
    except (KeyError, TypeError) as error:
        raise UnavailableError("unavailable") from error
    for entry in entries:
        key = _rsa_key(entry)
        if key is not None:
            yield key.key_id, key


def _rsa_key(entry: Any) -> PyJWK | None:  # noqa: ANN401
    try:
        usable = (
            entry["kty"] == "RSA"
            and entry.get("use", "sig") == "sig"
            and entry.get("alg", "RS256") == "RS256"
        )
        key = PyJWK(entry, algorithm="RS256") if usable else None
    except (AttributeError, KeyError, TypeError, ValueError, PyJWTError):
        return None
    if key is None or not isinstance(key.key, RSAPublicKey) or key.key.key_size < _MIN_RSA_BITS:
        return None
    return key
