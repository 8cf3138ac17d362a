"""Erasures and their queue, without any service."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime, timedelta

from archivolt.domain.erasure import Erasure, ErasureScope, ErasureState, pseudonym
from archivolt.domain.identity import TenantId


class InMemoryErasures:
    """`ErasureRecords` in a dictionary."""

    def __init__(self) -> None:
        self.kept: dict[str, Erasure] = {}
        self._held: dict[str, datetime] = {}

    def add(self, erasure: Erasure) -> None:
        self.kept[erasure.id] = erasure

    def get(self, erasure_id: str) -> Erasure | None:
        return self.kept.get(erasure_id)

    def of_tenant(
        self, tenant: TenantId, *, limit: int, after: str = "", conversations: bool = False
    ) -> tuple[Sequence[Erasure], str | None]:
        ours = {
            f"{each.asked_at.isoformat(timespec='microseconds')}#{each.id}": each
            for each in self.kept.values()
            if each.subject.tenant == tenant
            and (each.subject.scope is ErasureScope.CONVERSATION) is conversations
        }
        keys = sorted((key for key in ours if not after or key < after), reverse=True)
        shown = keys[:limit]
        return [ours[key] for key in shown], shown[-1] if len(keys) > limit else None

    def under_way(self, tenant: TenantId) -> Sequence[Erasure]:
        found = [self.kept[erasure_id] for erasure_id in self.unfinished()]
        return [each for each in found if each.subject.tenant == tenant]

    def unfinished(self) -> Sequence[str]:
        return [each.id for each in self.kept.values() if each.state is not ErasureState.DONE]

    def take(self, erasure_id: str, *, now: datetime, until: datetime) -> Erasure | None:
        found = self.kept.get(erasure_id)
        if found is None or found.state is ErasureState.DONE:
            return None
        if self._held.get(erasure_id, now) > now:
            return None
        self._held[erasure_id] = until
        return found

    def save(self, erasure: Erasure, *, until: datetime) -> None:
        before = self.kept[erasure.id]
        self.kept[erasure.id] = replace(erasure, deleted=before.deleted, found=before.found)
        self._held[erasure.id] = until

    def begin_run(self, erasure: Erasure, *, until: datetime) -> Erasure:
        before = self.kept[erasure.id]
        self.kept[erasure.id] = replace(erasure, deleted=before.deleted, found={})
        self._held[erasure.id] = until
        return self.kept[erasure.id]

    def finish(self, erasure: Erasure) -> None:
        self.save(erasure, until=erasure.asked_at)
        subject = replace(erasure.subject, vault_names=())
        if subject.user is not None:
            subject = replace(subject, name=pseudonym(subject.tenant, subject.user))
        self.kept[erasure.id] = replace(self.kept[erasure.id], subject=subject)


class InMemoryErasureQueue:
    """An `ErasureQueue`; what is sent waits in `sent`."""

    def __init__(self) -> None:
        self.sent: list[tuple[str, timedelta]] = []

    def send(self, erasure_id: str, *, delay: timedelta = timedelta()) -> None:
        self.sent.append((erasure_id, delay))
