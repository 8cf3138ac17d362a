"""Where the items of a subject are in each table, by the inventory."""

from collections.abc import Callable, Mapping, Sequence
from datetime import date, datetime, timedelta
from typing import Final

from boto3.dynamodb.conditions import Attr

from archivolt.adapters.dynamodb.table import StoredItem
from archivolt.adapters.dynamodb.values import Value
from archivolt.adapters.dynamodb.writes import Key, Update, Write
from archivolt.adapters.erasure.inventory import Kind, kinds_of, told
from archivolt.adapters.erasure.tables import Place
from archivolt.domain.erasure import ErasureScope, Subject
from archivolt.domain.retention_limits import ERASED_NAME_SECONDS
from archivolt.ports.clock import Clock

_OF_USERS: Final[Mapping[str, Value]] = {"user": "", "token_id": ""}
_OF_VAULTS: Final[Mapping[str, Value]] = {"vault": "", "path": "", "details": {}}


def belongs_to(subject: Subject, table: str) -> Callable[[StoredItem], bool]:
    """Return what tells whether an item of a table is the subject's."""
    kinds = kinds_of(table)

    def belongs(item: StoredItem) -> bool:
        kind = kinds.get(item["pk"].partition("#")[0])
        return kind is not None and _is_of(subject, kind, item)

    return belongs


def _is_of(subject: Subject, kind: Kind, item: StoredItem) -> bool:
    if not any(told(item, place) == subject.tenant for place in kind.tenant.split()):
        return False
    if subject.scope is ErasureScope.TENANT:
        return item["sk"] != kind.stays
    if kind.user and subject.user is not None and told(item, kind.user) == subject.user:
        return True
    return bool(kind.vault) and told(item, kind.vault) in subject.vaults


def scanned(table: str) -> Callable[[Subject], Sequence[Place]]:
    """Return what looks through a whole table: those whose items no one key leads to."""
    kinds = kinds_of(table).values()
    asked = {
        place.removeprefix("@")
        for kind in kinds
        for place in (*kind.tenant.split(), kind.user, kind.vault)
        if place.startswith("@")
    }
    # A deletion holds to the vault that an item is of.
    reads = tuple(sorted(asked))
    alone = frozenset(kind.name for kind in kinds if kind.whole)

    def places(subject: Subject) -> Sequence[Place]:
        belongs = belongs_to(subject, table)
        parted = [
            Place(belongs=_among(belongs, alone, whole=whole), reads=reads, whole=whole)
            for whole in (True, False)
        ]
        return parted if alone else parted[1:]

    return places


def _among(
    belongs: Callable[[StoredItem], bool], whole_kinds: frozenset[str], *, whole: bool
) -> Callable[[StoredItem], bool]:
    def among(item: StoredItem) -> bool:
        return (item["pk"].partition("#")[0] in whole_kinds) is whole and belongs(item)

    return among


def conversation_places(subject: Subject) -> Sequence[Place]:
    """Return where a user's conversations are, or look for a tenant's."""
    if subject.user is not None:
        return [
            Place(
                belongs=lambda _: True,
                pk=f"{owner}#{subject.tenant}#{subject.user}",
                index="by_last_use",
                index_key="owner_pk",
                whole=True,
            )
            for owner in ("OWNER", "RUN_OWNER")
        ]
    if subject.scope is ErasureScope.TENANT:
        return scanned("conversations")(subject)
    return []


def confirmation_places(subject: Subject) -> Sequence[Place]:
    """Return where to look for the proposals of a user or a tenant."""
    return [] if subject.scope is ErasureScope.VAULT else scanned("confirmations")(subject)


def catalogue_places(subject: Subject) -> Sequence[Place]:
    """Return the partitions of each vault, or look for a tenant's."""
    if subject.scope is ErasureScope.TENANT:
        return scanned("catalogue")(subject)
    keys = ("VAULT#{}", "VAULT#{}#VECTORS", "DOCUMENTS#{}", "RUNS#{}")
    return [
        Place(belongs=lambda _: True, pk=key.format(f"{subject.tenant}#{vault}"))
        for vault in subject.vaults
        for key in keys
    ]


def audit_places(clock: Clock, *, days: int) -> Callable[[Subject], Sequence[Place]]:
    """Return what leads to the days of a tenant: a tenant's go, of others' names are taken out.

    An entry that was made outside these days is over age, and goes by itself.
    """

    def places(subject: Subject) -> Sequence[Place]:
        last = clock.now().date() + timedelta(days=1)
        dates = [last - timedelta(days=back) for back in range(days + 3)]
        if subject.scope is ErasureScope.TENANT:
            others = [f"HEADS#{subject.tenant}", f"SEALS#{subject.tenant}"]
            partitions = [*(_day(subject, day) for day in dates), *others]
            mark = Place(belongs=lambda item: item["sk"] == subject.tenant, pk="TENANTS")
            return [*(Place(belongs=lambda _: True, pk=pk) for pk in partitions), mark]
        return [
            Place(
                belongs=names_of(subject),
                pk=_day(subject, day),
                reads=("user", "vault", "details", "at"),
                removal=_taken_out(subject),
            )
            for day in dates
        ]

    return places


def _day(subject: Subject, day: date) -> str:
    return f"TENANT#{subject.tenant}#{day.isoformat()}"


def names_of(subject: Subject) -> Callable[[StoredItem], bool]:
    """Return what tells whether an entry names a user, or a vault that goes."""

    def names(item: StoredItem) -> bool:
        users = {item.get("user"), item.get("details", {}).get("user")}
        of_user = subject.user is not None and subject.user in users
        return of_user or (item.get("vault") in subject.vault_names and _is_former(subject, item))

    return names


def _is_former(subject: Subject, entry: StoredItem) -> bool:
    """Tell whether a call began before another vault may have taken a name."""
    if subject.named_until is None:
        return True
    last = subject.named_until + timedelta(seconds=ERASED_NAME_SECONDS)
    return datetime.fromisoformat(entry["at"]) <= last


def _taken_out(subject: Subject) -> Callable[[StoredItem], Write]:
    """Return what takes the names out of an entry; a digest stands for them (domain.audit)."""

    def taken_out(item: StoredItem) -> Write:
        return Update(
            key=Key(item["pk"], item["sk"]),
            set=taken_out_of(subject, item),
            remove=salts_of(subject, item),
            condition=Attr("user").eq(item["user"]) & Attr("vault").eq(item["vault"]),
        )

    return taken_out


def taken_out_of(subject: Subject, entry: StoredItem) -> Mapping[str, Value]:
    """Return what an entry that names the subject says instead."""
    return {**_OF_VAULTS, **_OF_USERS} if _is_theirs(subject, entry) else _OF_VAULTS


def salts_of(subject: Subject, entry: StoredItem) -> Sequence[str]:
    """Return the salts that go with what is taken out."""
    return ["what_salt", "who_salt"] if _is_theirs(subject, entry) else ["what_salt"]


def _is_theirs(subject: Subject, entry: StoredItem) -> bool:
    return subject.user is not None and entry["user"] == subject.user
