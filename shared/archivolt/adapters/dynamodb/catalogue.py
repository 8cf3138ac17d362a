"""The state of every document, one item each, in the catalogue table.

    VAULT#{tenant}#{vault_id}    FILE#{path}    the entry

Entries that are not `indexed` are in the sparse index `attention` too, in the order of what a
reader of search results should know first. Tombstones expire; until the table forgets them, the
clock says which have.
"""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import fields
from datetime import datetime, timedelta
from typing import Any, Final

from boto3.dynamodb.conditions import Attr, ConditionBase
from boto3.dynamodb.conditions import Key as KeyCondition

from archivolt.adapters.dynamodb.document_counts import DocumentCounts
from archivolt.adapters.dynamodb.table import ConditionFailedError, DynamoTable, Page, StoredItem
from archivolt.adapters.dynamodb.values import Value
from archivolt.adapters.dynamodb.writes import ABSENT, Key, Put, Update
from archivolt.domain.identity import TenantId
from archivolt.domain.ingestion import CatalogueEntry, Generation, IndexState
from archivolt.domain.limits import MAX_ATTENTION_COUNT, TOMBSTONE_DAYS
from archivolt.domain.paths import VaultPath
from archivolt.domain.vault import VaultId, VaultRef
from archivolt.ports.clock import Clock

_FILE: Final = "FILE#"
_ATTENTION: Final = "attention"
_RANKED: Final = tuple(
    state for state in IndexState if state not in {IndexState.INDEXED, IndexState.DELETED}
)
_FINAL: Final = KeyCondition(_ATTENTION).gte(f"{_RANKED.index(IndexState.PENDING) + 1}#")
_SPELLED_OTHERWISE: Final = frozenset({"vault", "state", "updated_at", "sequencer", "tags"})
_OF_MOVES: Final = ("moved_to", "moved_over", "served")
# Most documents have none of these: they are left out where they are empty.
_RARE: Final = frozenset({*_OF_MOVES, "moved_from", "alike_since"})
_PLAIN: Final = tuple(
    field.name for field in fields(CatalogueEntry) if field.name not in _SPELLED_OTHERWISE
)


class DynamoCatalogue:
    """A `Catalogue` in the catalogue table."""

    def __init__(self, table: DynamoTable, clock: Clock) -> None:
        self._table = table
        self._clock = clock
        self._counts = DocumentCounts(table)

    def get(self, vault: VaultRef, path: VaultPath) -> CatalogueEntry | None:
        """Return the entry (a tombstone too), or None."""
        item = self._table.get(_key(vault, path))
        return None if item is None or self._is_expired(item) else _entry(item)

    def get_many(
        self, keys: Sequence[tuple[VaultRef, VaultPath]]
    ) -> Mapping[tuple[VaultRef, VaultPath], CatalogueEntry]:
        """Return the entries that exist."""
        items = self._table.get_many([_key(*key) for key in keys])
        entries = [_entry(item) for item in items.values() if not self._is_expired(item)]
        return {(entry.vault, entry.path): entry for entry in entries}

    def advance(self, entry: CatalogueEntry, *, previous: CatalogueEntry | None) -> bool:
        """Store `entry` if the stored one still is `previous`."""
        known = previous.sequencer if previous else None
        if known and entry.sequencer and entry.sequencer <= known:
            return False
        item = _item(entry)
        if not entry.sequencer and known:
            item["sequencer"] = known
        put = Put(item=item, condition=self._still(previous))
        by = int(_is_there(entry)) - int(_is_there(previous))
        try:
            if by:
                count = self._counts.change(entry.vault, entry.path, by=by)
                self._table.transact([put, count])
            else:
                self._table.write(put)
        except ConditionFailedError:
            return False
        return True

    def mark_embedded(
        self, vault: VaultRef, path: VaultPath, generation: Generation, *, embedder: str
    ) -> bool:
        """Record that the vectors of `generation` are in place."""
        embeddable = [IndexState.PENDING.value, IndexState.INDEXED.value]
        update = Update(
            key=_key(vault, path),
            set={"state": IndexState.INDEXED.value, "embedder": embedder},
            remove=("attention_pk", _ATTENTION),
            condition=Attr("generation").eq(generation) & Attr("state").is_in(embeddable),
        )
        try:
            self._table.update(update)
        except ConditionFailedError:
            return False
        return True

    def mark_moving(self, entry: CatalogueEntry) -> bool:
        """Record where a document is moving to, and nothing else; False if it is not current."""
        current = Attr("generation").eq(entry.generation)
        there = Attr("state").ne(IndexState.DELETED.value)
        marks = {name: getattr(entry, name) for name in _OF_MOVES}
        update = Update(
            key=_key(entry.vault, entry.path),
            set={name: value for name, value in marks.items() if value},
            remove=tuple(name for name, value in marks.items() if not value),
            condition=current & there,
        )
        try:
            self._table.update(update)
        except ConditionFailedError:
            return False
        return True

    def entries(self, vault: VaultRef, *, recount: bool = False) -> Iterator[CatalogueEntry]:
        """Yield every entry of a vault in path order, tombstones excepted."""
        counting = self._counts.recount(vault) if recount else None
        for item in self._table.items(_pk(vault), prefix=_FILE):
            if item["state"] != IndexState.DELETED:
                entry = _entry(item)
                if counting:
                    counting.note(entry.path)
                yield entry
        if counting:
            counting.correct()

    def counts(self, vault: VaultRef) -> Mapping[IndexState, int]:
        """Return how many documents are in each state: those that are indexed are the rest."""
        counts: Counter[IndexState] = Counter()
        last_key = None
        while True:
            page = self._waiting(vault, after=last_key)
            counts.update(map(_state_in, page.items))
            last_key = page.last_key
            if last_key is None:
                break
        indexed = self.documents([vault])[vault] - counts.total()
        return counts + Counter({IndexState.INDEXED: indexed})

    def documents(self, vaults: Sequence[VaultRef]) -> Mapping[VaultRef, int]:
        """Return how many documents each vault has, without reading their entries."""
        return self._counts.totals(vaults)

    def attention(self, vault: VaultRef) -> Mapping[IndexState, int]:
        """Return the counts of every state but `indexed`, by one query, or two if they are many."""
        page = self._waiting(vault, limit=MAX_ATTENTION_COUNT)
        counts = Counter(map(_state_in, page.items))
        if page.last_key is not None:
            # While a vault is first loaded, pending ones would hide the others.
            final = self._waiting(vault, _FINAL, limit=MAX_ATTENTION_COUNT)
            pending = Counter({IndexState.PENDING: counts[IndexState.PENDING]})
            counts = +pending + Counter(map(_state_in, final.items))
        return counts

    def unindexed(
        self, vault: VaultRef, *, state: IndexState | None = None, offset: int = 0, limit: int
    ) -> Sequence[CatalogueEntry]:
        """Return documents that are not indexed, in the order of states, and then of paths."""
        of_state = f"{_RANKED.index(state)}#" if state else ""
        within = KeyCondition(_ATTENTION).begins_with(of_state) if of_state else _FINAL
        page = self._waiting(vault, within, limit=min(offset + limit, MAX_ATTENTION_COUNT))
        paths = [VaultPath(item[_ATTENTION].partition("#")[2]) for item in page.items[offset:]]
        entries = self.get_many([(vault, path) for path in paths])
        found = [entries[vault, path] for path in paths if (vault, path) in entries]
        wanted = {state} if state else set(_RANKED) - {IndexState.PENDING}
        return [entry for entry in found if entry.state in wanted]

    def _waiting(
        self,
        vault: VaultRef,
        within: ConditionBase | None = None,
        *,
        limit: int | None = None,
        after: Mapping[str, str] | None = None,
    ) -> Page:
        ours = KeyCondition("attention_pk").eq(_pk(vault))
        return self._table.page(
            ours & within if within else ours,
            index=_ATTENTION,
            limit=limit,
            after=after,
            attributes=[_ATTENTION],
        )

    def _still(self, previous: CatalogueEntry | None) -> ConditionBase:
        if previous is None:
            return ABSENT | Attr("ttl").lte(int(self._clock.now().timestamp()))
        sequencer = Attr("sequencer")
        same = sequencer.eq(previous.sequencer) if previous.sequencer else sequencer.not_exists()
        moved_to = Attr("moved_to")
        there = moved_to.eq(previous.moved_to) if previous.moved_to else moved_to.not_exists()
        return Attr("generation").eq(previous.generation) & same & there

    def _is_expired(self, item: StoredItem) -> bool:
        expires_at = item.get("ttl")
        return expires_at is not None and expires_at <= int(self._clock.now().timestamp())


def _state_in(item: StoredItem) -> IndexState:
    return _RANKED[int(item[_ATTENTION].partition("#")[0])]


def _is_there(entry: CatalogueEntry | None) -> bool:
    return entry is not None and entry.state is not IndexState.DELETED


def _pk(vault: VaultRef) -> str:
    return f"VAULT#{vault.tenant}#{vault.id}"


def _key(vault: VaultRef, path: VaultPath) -> Key:
    return Key(_pk(vault), f"{_FILE}{path}")


def _item(entry: CatalogueEntry) -> dict[str, Value]:
    item: dict[str, Value] = {
        **_key(entry.vault, entry.path)._asdict(),
        "tenant": entry.vault.tenant,
        "vault_id": entry.vault.id,
        "state": entry.state.value,
        "updated_at": entry.updated_at.isoformat(),
        **{name: getattr(entry, name) for name in _PLAIN},
    }
    for name in _RARE:
        if not item[name]:
            del item[name]
    if entry.tags:
        item["tags"] = entry.tags
    if entry.sequencer:
        item["sequencer"] = entry.sequencer
    if entry.state is IndexState.DELETED:
        expires_at = entry.updated_at + timedelta(days=TOMBSTONE_DAYS)
        item["ttl"] = int(expires_at.timestamp())
    elif entry.state in _RANKED:
        item["attention_pk"] = _pk(entry.vault)
        item[_ATTENTION] = f"{_RANKED.index(entry.state)}#{entry.path}"
    return item


def _entry(item: StoredItem) -> CatalogueEntry:
    plain: dict[str, Any] = {name: item[name] for name in _PLAIN if name in item}
    return CatalogueEntry(
        vault=VaultRef(tenant=TenantId(item["tenant"]), id=VaultId(item["vault_id"])),
        state=IndexState(item["state"]),
        updated_at=datetime.fromisoformat(item["updated_at"]),
        sequencer=item.get("sequencer"),
        tags=tuple(item.get("tags", ())),
        **plain,
    )
