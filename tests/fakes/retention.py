"""Conversations by age, without any service."""

from datetime import datetime
from typing import TYPE_CHECKING

from archivolt.domain.identity import TenantId
from archivolt.ports.retention import AgePage, ConversationAge

if TYPE_CHECKING:
    from collections.abc import Callable


class InMemoryAges:
    """`ConversationAges` in a dictionary; `before_purge` is told of each conversation to go."""

    def __init__(self, *, page: int = 2) -> None:
        self.kept: dict[tuple[TenantId, str], datetime] = {}
        self.before_purge: Callable[[str], None] = lambda _: None
        self._page = page

    def add(self, tenant: TenantId, conversation_id: str, last_use: datetime) -> None:
        self.kept[tenant, conversation_id] = last_use

    def page(self, *, after: str | None = None) -> AgePage:
        keys = sorted(key for key in self.kept if after is None or "/".join(key) > after)
        shown = keys[: self._page]
        return AgePage(
            conversations=[
                ConversationAge(tenant=key[0], id=key[1], last_use=self.kept[key]) for key in shown
            ],
            next_after="/".join(shown[-1]) if len(keys) > self._page else None,
        )

    def purge(self, one: ConversationAge, *, since: datetime) -> bool:
        self.before_purge(one.id)
        last_use = self.kept.get((one.tenant, one.id))
        if last_use is None or last_use >= since:
            return False
        del self.kept[one.tenant, one.id]
        return True


class InMemoryPlace:
    """A `SweepPlace` in a variable."""

    def __init__(self) -> None:
        self.place: str | None = None

    def load(self) -> str | None:
        return self.place

    def save(self, place: str | None) -> None:
        self.place = place
