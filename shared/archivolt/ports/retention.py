"""Conversations and agent runs by their age, for the daily purge of all tenants (S20)."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol

from archivolt.domain.identity import TenantId


@dataclass(frozen=True, slots=True, kw_only=True)
class ConversationAge:
    """A conversation, or an agent's run, and when it was last used."""

    tenant: TenantId
    id: str
    last_use: datetime
    is_run: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class AgePage:
    """Some conversations of any tenants, in no order; `next_after` is None with the last."""

    conversations: Sequence[ConversationAge]
    next_after: str | None = None


class ConversationAges(Protocol):
    """Knows how old every conversation is, and purges. Implementations pass `tests/contract`."""

    def page(self, *, after: str | None = None) -> AgePage:
        """Return the next conversations of a walk through all; what was just written may lack.

        Raises:
            UnavailableError: They cannot be read.

        """
        ...

    def purge(self, one: ConversationAge, *, since: datetime) -> bool:
        """Remove one with all that is in it, unless it was used since then.

        False if it was, or is gone. A turn that begins meanwhile finds it busy, then gone. What
        broke off can be done again.

        Raises:
            UnavailableError: It cannot be removed now.

        """
        ...


class SweepPlace(Protocol):
    """Where the daily purge stopped, for the next one to go on from."""

    def load(self) -> str | None:
        """Return the place, None for the beginning."""
        ...

    def save(self, place: str | None) -> None:
        """Keep the place; None when the end was reached."""
        ...
