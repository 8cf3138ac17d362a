"""What S3 announces, seen to: strays are synchronised for, changes of documents are indexed."""

from collections.abc import Mapping, Sequence

from archivolt.domain.identity import TenantId
from archivolt.domain.ingestion import BatchOutcome, ObjectChange, StrayChange
from archivolt.ingestion.index_change import IndexChanges, TimeLeft
from archivolt.ingestion.stray_changes import StrayChanges

Announced = Sequence[ObjectChange | StrayChange]


class IndexAnnounced:
    """Works off messages of S3."""

    def __init__(self, strays: StrayChanges, changes: IndexChanges) -> None:
        self._strays = strays
        self._changes = changes

    def run(self, messages: Mapping[str, Announced], /, *, time_left: TimeLeft) -> BatchOutcome:
        """Bring the index to what the messages announce and name those that have to come again."""
        known, unsettled = self._strays.settle(messages)
        outcome = self._changes.run(known, time_left=time_left)
        return BatchOutcome(failed=[*outcome.failed, *unsettled])


def by_tenant(announced: Announced) -> list[tuple[TenantId, Announced]]:
    """Return the parts of one message, by tenant."""
    parts: dict[TenantId, list[ObjectChange | StrayChange]] = {}
    for each in announced:
        tenant = each.tenant if isinstance(each, StrayChange) else each.vault.tenant
        parts.setdefault(tenant, []).append(each)
    return list(parts.items())
