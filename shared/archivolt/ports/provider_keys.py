"""Asking a provider whether it takes a key."""

from dataclasses import dataclass
from enum import StrEnum
from typing import Protocol

from archivolt.ports.chat_model import ProviderConnection


class KeyVerdict(StrEnum):
    """What a provider says of a key."""

    ACCEPTED = "accepted"
    REFUSED = "refused"
    """It is not valid, not paid for, or without rights."""
    UNCLEAR = "unclear"
    """The provider answered something else; `status` says what."""
    UNREACHABLE = "unreachable"
    """Nobody answers at the address, or not in time."""


@dataclass(frozen=True, slots=True, kw_only=True)
class KeyTrial:
    """What came of asking; `status` is the HTTP status, None without one.

    Nothing of the provider's words: providers repeat what they were sent.
    """

    verdict: KeyVerdict
    status: int | None = None


class ProviderKeyCheck(Protocol):
    """Asks providers something that costs nothing and takes a key."""

    def check(self, connection: ProviderConnection) -> KeyTrial:
        """Return what came of asking with a connection's key.

        Raises:
            InvalidRequestError: `address_not_allowed`.

        """
        ...
