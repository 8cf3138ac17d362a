"""Where the key of a token comes from. Each source has its one algorithm, whatever a token says."""

from typing import Final, Protocol

from jwt import PyJWK

from archivolt.domain.errors import UnauthenticatedError

# RFC 7518 §3.2: a key of HS256 has at least as many bits as the hash.
MIN_LOCAL_KEY_BYTES: Final = 32


class KeySource(Protocol):
    """Finds the key that a token has to be signed with."""

    @property
    def algorithm(self) -> str:
        """The only algorithm accepted with these keys."""
        ...

    def key_for(self, key_id: str | None) -> PyJWK | bytes:
        """Return the key a token names by its `kid`.

        Raises:
            UnauthenticatedError: `invalid_token`: there is no such key.
            UnavailableError: The keys cannot be read.

        """
        ...


class LocalKey:
    """One shared key (HS256), for the stack on one machine."""

    algorithm: str = "HS256"

    def __init__(self, key: str) -> None:
        self._key = key.encode()
        if len(self._key) < MIN_LOCAL_KEY_BYTES:
            raise ValueError(f"AUTH_LOCAL_KEY has to have at least {MIN_LOCAL_KEY_BYTES} bytes")

    def key_for(self, key_id: str | None) -> bytes:
        """Return the key; a token that names another one is not ours."""
        if key_id is not None:
            raise UnauthenticatedError("invalid_token")
        return self._key
