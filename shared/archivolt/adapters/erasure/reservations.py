"""Where the usage of a subject is in the ledger, and how what was set aside for them ends.

A reservation holds against the tenant's month: what is only removed would hold against it for ever,
and what is left would be charged to a user who is gone, under their id.
"""

from collections.abc import Sequence

from boto3.dynamodb.conditions import Attr

from archivolt.adapters.dynamodb.ledger_items import (
    held_key,
    month_key,
    pk_of,
    reservation_in,
    usage_changes,
)
from archivolt.adapters.dynamodb.table import StoredItem
from archivolt.adapters.dynamodb.writes import Delete, Update, Write
from archivolt.adapters.erasure.places import scanned
from archivolt.adapters.erasure.tables import Place
from archivolt.domain.erasure import ErasureScope, Subject
from archivolt.domain.identity import TenantId

_HELD = "HELD#"
_OF_RESERVATIONS = (
    *("id", "user", "conversation", "provider", "model", "in", "out", "micros", "made_at"),
    *("expires_at", "sent"),
)


def ledger_places(subject: Subject) -> Sequence[Place]:
    """Return where to look for the usage of a user or a tenant; reservations come first."""
    if subject.scope is ErasureScope.VAULT:
        return []
    found = scanned("ledger")(subject)
    return found if subject.user is None else [_reservations(subject), *found]


def _reservations(subject: Subject) -> Place:
    tenant = subject.tenant

    def belongs(item: StoredItem) -> bool:
        return item["sk"].startswith(_HELD) and item["user"] == subject.user

    def removal(item: StoredItem) -> Write:
        held = reservation_in(item, tenant)
        return Delete(key=held_key(held), condition=Attr("sent").eq(held.sent))

    return Place(
        belongs=belongs,
        pk=pk_of(tenant),
        reads=_OF_RESERVATIONS,
        removal=removal,
        besides=lambda item: [_ended(item, tenant)],
    )


def _ended(item: StoredItem, tenant: TenantId) -> Write:
    """Return what ending a reservation does to its month, as nobody ended it in time.

    A call that left is charged in full, one that did not is given back.
    """
    held = reservation_in(item, tenant)
    change = {"committed": -held.micros}
    if held.sent:
        change = {**usage_changes(held, held.worst, held.micros), "spent": held.micros}
    return Update(key=month_key(tenant, held.month), add=change)
