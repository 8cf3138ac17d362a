"""Every store that an erasure walks through, in its order.

Vectors come before the vaults that say whose they are; vaults before their documents, whose
removal is announced, so that the index knows nothing of them any more.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from archivolt.adapters.dynamodb.erasures import DynamoErasures
from archivolt.adapters.dynamodb.table import DynamoTable
from archivolt.adapters.erasure.exported_audit import ExportedAuditEraser
from archivolt.adapters.erasure.inventory import FOLDERS, Folder
from archivolt.adapters.erasure.objects import ObjectsEraser, folders_of
from archivolt.adapters.erasure.places import (
    audit_places,
    catalogue_places,
    confirmation_places,
    conversation_places,
    scanned,
)
from archivolt.adapters.erasure.reservations import ledger_places
from archivolt.adapters.erasure.tables import Place, TableEraser
from archivolt.adapters.erasure.timers import TimersEraser
from archivolt.adapters.erasure.vectors import VectorsEraser
from archivolt.adapters.qdrant.rest import QdrantRest
from archivolt.adapters.s3.objects import Bucket
from archivolt.adapters.scheduler.timer import SchedulerClient
from archivolt.domain.audit_limits import AUDIT_KEPT_DAYS
from archivolt.domain.erasure import Erasure, Subject
from archivolt.ports.clock import Clock
from archivolt.ports.erasure import Eraser


@dataclass(frozen=True, slots=True, kw_only=True)
class ErasedPlaces:
    """The stores: `tables` by the names of the inventory, `vectors` when they are needed.

    `timers` are what fires schedules, and their group; None where there is none. `audit_days` is
    how far back the audit log goes.
    """

    tables: Mapping[str, DynamoTable]
    bucket: Bucket
    vectors: Callable[[], QdrantRest]
    timers: tuple[SchedulerClient, str] | None = None
    audit_days: int = AUDIT_KEPT_DAYS


def erasers_of(places: ErasedPlaces, records: DynamoErasures, clock: Clock) -> Sequence[Eraser]:
    """Return what removes from each store."""

    def of_table(name: str, look: Callable[[Subject], Sequence[Place]]) -> Eraser:
        return TableEraser(name, places.tables[name], look, records)

    def of_folder(folder: Folder) -> Eraser:
        prefixes = folders_of(folder.prefix, of_vaults=folder.of_vaults)
        return ObjectsEraser(folder.store, places.bucket, prefixes, records)

    return (
        VectorsEraser(places.vectors(), records),
        of_table("control", scanned("control")),
        of_table("conversations", conversation_places),
        of_table("confirmations", confirmation_places),
        *map(of_folder, FOLDERS),
        of_table("catalogue", catalogue_places),
        of_table("ledger", ledger_places),
        ExportedAuditEraser(places.bucket, records),
        of_table("audit", audit_places(clock, days=places.audit_days)),
        # The last: an erasure that is under way knows the others by their numbers.
        *([TimersEraser(*places.timers, records)] if places.timers else []),
    )


def withdrawal(places: ErasedPlaces, records: DynamoErasures) -> Callable[[Erasure], None]:
    """Return what takes a vault out of everybody's reach, and counts that."""

    def of_vault(subject: Subject) -> Sequence[Place]:
        return [
            Place(belongs=lambda _: True, pk=f"VAULT#{subject.tenant}#{vault}", reads=("vault_id",))
            for vault in subject.vaults
        ]

    eraser = TableEraser("control", places.tables["control"], of_vault, records)

    def withdraw(erasure: Erasure) -> None:
        cursor: str | None = ""
        while cursor is not None:
            cursor = eraser.page(erasure, cursor)

    return withdraw
