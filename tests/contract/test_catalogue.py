"""What every catalogue promises: one winner a change, and an order late events cannot break."""

from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from threading import Barrier

import pytest

from archivolt.adapters.dynamodb import catalogue as adapter
from archivolt.adapters.dynamodb.catalogue import DynamoCatalogue
from archivolt.adapters.dynamodb.writes import Key
from archivolt.domain.ingestion import (
    CatalogueEntry,
    Generation,
    IndexState,
    Sequencer,
    sequencer,
)
from archivolt.domain.limits import TOMBSTONE_DAYS
from archivolt.domain.moves import departed, moving
from archivolt.domain.paths import ROOT, VaultPath
from archivolt.ports.catalogue import Catalogue
from tests.builders import vault_ref
from tests.contract.conftest import FAKE, MOTO, NewTable, on_tables
from tests.fakes import catalogue as fake
from tests.fakes.catalogue import InMemoryCatalogue
from tests.fakes.clock import START, FrozenClock

VAULT = vault_ref()
NOTE = VaultPath("Été 2026/à+b (1).md")


@pytest.fixture
def clock() -> FrozenClock:
    return FrozenClock()


@pytest.fixture
def catalogue(store: str, clock: FrozenClock, request: pytest.FixtureRequest) -> Catalogue:
    if store == FAKE:
        return InMemoryCatalogue(clock)
    new_table: NewTable = request.getfixturevalue("new_table")
    return DynamoCatalogue(new_table("CatalogueTable"), clock)


def an_entry(
    path: str = NOTE,
    *,
    state: IndexState = IndexState.PENDING,
    sequence: str | None = "10",
    generation: str = "1-a",
) -> CatalogueEntry:
    return CatalogueEntry(
        vault=VAULT,
        path=VaultPath(path),
        state=state,
        updated_at=START,
        sequencer=sequencer(sequence) if sequence else None,
        generation=Generation(generation),
        sha256="ab" * 32,
        etag="e",
        version="v",
        size=12,
        passages=3,
        title="Été",
        recipe="r",
        tags=("projet/été",),
    )


def test_an_entry_comes_back_as_it_was_stored(catalogue: Catalogue) -> None:
    assert catalogue.advance(an_entry(), previous=None)
    assert catalogue.get(VAULT, NOTE) == an_entry()


def test_whose_vectors_stand_for_an_entry_is_kept_until_something_else_is_said(
    catalogue: Catalogue,
) -> None:
    alike = replace(an_entry(), alike_since=Generation("0-a"))
    assert catalogue.advance(alike, previous=None)
    assert catalogue.get(VAULT, NOTE) == alike
    newer = an_entry(sequence="20", generation="2-b")
    assert catalogue.advance(newer, previous=alike)
    assert catalogue.get(VAULT, NOTE) == newer


def test_an_unknown_document_has_no_entry(catalogue: Catalogue) -> None:
    assert catalogue.get(VAULT, NOTE) is None


def test_a_document_that_appeared_meanwhile_is_not_overwritten(catalogue: Catalogue) -> None:
    catalogue.advance(an_entry(), previous=None)
    assert not catalogue.advance(an_entry(sequence="20", generation="2-b"), previous=None)
    assert catalogue.get(VAULT, NOTE) == an_entry()


def test_an_entry_that_changed_meanwhile_is_not_overwritten(catalogue: Catalogue) -> None:
    first, second = an_entry(), an_entry(sequence="20", generation="2-b")
    catalogue.advance(first, previous=None)
    assert catalogue.advance(second, previous=first)
    assert not catalogue.advance(an_entry(sequence="30", generation="3-c"), previous=first)
    assert catalogue.get(VAULT, NOTE) == second


@pytest.mark.parametrize("late", ["10", "0F"])
def test_an_older_or_equal_change_is_refused(catalogue: Catalogue, late: str) -> None:
    stored = an_entry()
    catalogue.advance(stored, previous=None)
    assert not catalogue.advance(an_entry(sequence=late, generation="2-b"), previous=stored)
    assert catalogue.get(VAULT, NOTE) == stored


def test_where_a_document_moves_to_is_marked_beside_what_others_write(catalogue: Catalogue) -> None:
    stored = an_entry()
    catalogue.advance(stored, previous=None)
    catalogue.mark_embedded(VAULT, NOTE, stored.generation, embedder="m/1")
    marked = moving(stored, VaultPath("b.md"), over=Generation("none"))
    assert catalogue.mark_moving(marked)
    found = catalogue.get(VAULT, NOTE)
    assert found == replace(marked, state=IndexState.INDEXED, embedder="m/1")
    assert not catalogue.advance(an_entry(sequence="20", generation="2-b"), previous=stored)
    assert catalogue.mark_moving(moving(stored, ROOT, over=Generation("")))
    found = catalogue.get(VAULT, NOTE)
    assert found == replace(stored, state=IndexState.INDEXED, embedder="m/1")
    assert catalogue.advance(an_entry(sequence="20", generation="2-b"), previous=stored)


def test_a_document_that_changed_or_went_is_not_marked(catalogue: Catalogue) -> None:
    marked = moving(an_entry(), VaultPath("b.md"), over=Generation("none"))
    assert not catalogue.mark_moving(marked)
    newer = an_entry(sequence="20", generation="2-b")
    catalogue.advance(newer, previous=None)
    assert not catalogue.mark_moving(marked)
    gone = an_entry(sequence="30", generation="3-c", state=IndexState.DELETED)
    catalogue.advance(gone, previous=newer)
    assert not catalogue.mark_moving(moving(gone, VaultPath("b.md"), over=Generation("none")))


def test_a_tombstone_tells_where_its_document_went(catalogue: Catalogue) -> None:
    stored = an_entry()
    catalogue.advance(stored, previous=None)
    over = Generation("none")
    gone = departed(VAULT, NOTE, stored, to=VaultPath("b.md"), over=over, now=START)
    assert catalogue.advance(gone, previous=stored)
    found = catalogue.get(VAULT, NOTE)
    assert found is not None
    assert found == replace(gone, sequencer=stored.sequencer)
    assert (found.moved_to, found.served) == ("b.md", stored.generation)
    assert list(catalogue.entries(VAULT)) == []


def test_a_change_without_a_sequencer_keeps_the_stored_one(catalogue: Catalogue) -> None:
    stored = an_entry()
    catalogue.advance(stored, previous=None)
    assert catalogue.advance(an_entry(sequence=None, generation="2-b"), previous=stored)
    found = catalogue.get(VAULT, NOTE)
    assert found == an_entry(generation="2-b")


def test_a_change_without_a_sequencer_yields_to_one_that_came_meanwhile(
    catalogue: Catalogue,
) -> None:
    stored, newer = an_entry(), an_entry(sequence="20", generation="1-a")
    catalogue.advance(stored, previous=None)
    catalogue.advance(newer, previous=stored)
    assert not catalogue.advance(an_entry(sequence=None, generation="2-b"), previous=stored)


def test_the_first_change_with_a_sequencer_follows_one_without(catalogue: Catalogue) -> None:
    found_by_reconciliation = an_entry(sequence=None)
    catalogue.advance(found_by_reconciliation, previous=None)
    assert catalogue.advance(an_entry(generation="2-b"), previous=found_by_reconciliation)


def test_a_tombstone_stops_a_late_event(catalogue: Catalogue) -> None:
    gone = an_entry(state=IndexState.DELETED, sequence="20")
    catalogue.advance(gone, previous=None)
    assert not catalogue.advance(an_entry(sequence="10", generation="2-b"), previous=gone)
    assert not catalogue.advance(an_entry(sequence="10", generation="2-b"), previous=None)


def test_an_expired_tombstone_is_as_if_it_had_never_been(
    catalogue: Catalogue, clock: FrozenClock
) -> None:
    catalogue.advance(an_entry(state=IndexState.DELETED, sequence="20"), previous=None)
    clock.advance(days=TOMBSTONE_DAYS)
    assert catalogue.get(VAULT, NOTE) is None
    assert not catalogue.get_many([(VAULT, NOTE)])
    assert catalogue.advance(an_entry(sequence="10"), previous=None)


def test_a_tombstone_is_kept_until_it_expires(catalogue: Catalogue, clock: FrozenClock) -> None:
    catalogue.advance(an_entry(state=IndexState.DELETED), previous=None)
    clock.advance(days=TOMBSTONE_DAYS, seconds=-1)
    assert catalogue.get(VAULT, NOTE) is not None


def test_many_entries_are_read_at_once_and_absent_ones_left_out(
    catalogue: Catalogue, store: str
) -> None:
    # moto copies every table for each transaction.
    paths = [VaultPath(f"n/{number:03}.md") for number in range(13 if store == MOTO else 130)]
    for path in paths:
        catalogue.advance(an_entry(path), previous=None)
    absent = (VAULT, VaultPath("absent.md"))
    found = catalogue.get_many([*((VAULT, path) for path in paths), absent, absent])
    assert set(found) == {(VAULT, path) for path in paths}


def test_embedding_the_current_generation_makes_the_document_indexed(
    catalogue: Catalogue,
) -> None:
    catalogue.advance(an_entry(), previous=None)
    assert catalogue.mark_embedded(VAULT, NOTE, Generation("1-a"), embedder="m/1")
    assert catalogue.get(VAULT, NOTE) == replace(
        an_entry(), state=IndexState.INDEXED, embedder="m/1"
    )
    assert not catalogue.attention(VAULT)


@pytest.mark.parametrize(
    ("state", "generation"),
    [(IndexState.PENDING, "2-b"), (IndexState.DELETED, "1-a"), (IndexState.FAILED, "1-a")],
)
def test_embedding_what_is_no_longer_current_changes_nothing(
    catalogue: Catalogue, state: IndexState, generation: str
) -> None:
    stored = an_entry(state=state, generation=generation)
    catalogue.advance(stored, previous=None)
    assert not catalogue.mark_embedded(VAULT, NOTE, Generation("1-a"), embedder="m/1")
    assert catalogue.get(VAULT, NOTE) == stored


def test_embedding_an_unknown_document_creates_nothing(catalogue: Catalogue) -> None:
    assert not catalogue.mark_embedded(VAULT, NOTE, Generation("1-a"), embedder="m/1")
    assert catalogue.get(VAULT, NOTE) is None


def test_entries_come_in_the_order_of_object_keys_without_tombstones(
    catalogue: Catalogue,
) -> None:
    paths = ["a.md", "a/b.md", "a0.md", "B.md", "é.md", "\U0001f600.md", "\uffee.md"]
    for path in paths:
        catalogue.advance(an_entry(path), previous=None)
    catalogue.advance(an_entry("gone.md", state=IndexState.DELETED), previous=None)
    listed = [entry.path for entry in catalogue.entries(VAULT)]
    assert listed == sorted(paths, key=lambda path: path.encode())


def test_vaults_do_not_see_each_other(catalogue: Catalogue) -> None:
    catalogue.advance(an_entry(), previous=None)
    for other in (vault_ref("v2"), vault_ref("v1", tenant="globex")):
        assert catalogue.get(other, NOTE) is None
        assert not list(catalogue.entries(other))
        assert not catalogue.counts(other)
        assert not catalogue.attention(other)


def test_counts_tell_every_state_and_attention_all_but_indexed(catalogue: Catalogue) -> None:
    states = [
        IndexState.PENDING,
        IndexState.PENDING,
        IndexState.NO_TEXT,
        IndexState.INDEXED,
        IndexState.FAILED,
        IndexState.DELETED,
    ]
    for number, state in enumerate(states):
        catalogue.advance(an_entry(f"{number}.md", state=state), previous=None)
    expected = {IndexState.PENDING: 2, IndexState.NO_TEXT: 1, IndexState.FAILED: 1}
    assert dict(catalogue.counts(VAULT)) == expected | {IndexState.INDEXED: 1}
    assert dict(catalogue.attention(VAULT)) == expected


def test_attention_stops_counting_and_pending_ones_hide_no_others(
    catalogue: Catalogue, monkeypatch: pytest.MonkeyPatch
) -> None:
    for module in (adapter, fake):
        monkeypatch.setattr(module, "MAX_ATTENTION_COUNT", 4)
    for number in range(6):
        catalogue.advance(an_entry(f"{number}.md"), previous=None)
    for number in range(3):
        catalogue.advance(an_entry(f"{number}.txt", state=IndexState.NO_TEXT), previous=None)
    for number in range(2):
        catalogue.advance(an_entry(f"{number}.png", state=IndexState.UNSUPPORTED), previous=None)
    assert dict(catalogue.attention(VAULT)) == {
        IndexState.PENDING: 4,
        IndexState.NO_TEXT: 3,
        IndexState.UNSUPPORTED: 1,
    }


def test_what_is_not_indexed_is_told_by_state_and_path(catalogue: Catalogue) -> None:
    for path, state in {
        "b.png": IndexState.OCR_NEEDED,
        "a.png": IndexState.OCR_NEEDED,
        "z.txt": IndexState.NO_TEXT,
        "été/a#b.zip": IndexState.UNSUPPORTED,
        "waits.md": IndexState.PENDING,
        "found.md": IndexState.INDEXED,
        "gone.md": IndexState.DELETED,
    }.items():
        catalogue.advance(replace(an_entry(path, state=state), reason="why"), previous=None)

    def paths(state: IndexState | None = None, *, offset: int = 0, limit: int = 10) -> list[str]:
        found = catalogue.unindexed(VAULT, state=state, offset=offset, limit=limit)
        return [entry.path for entry in found]

    everything = ["z.txt", "a.png", "b.png", "été/a#b.zip"]
    assert paths() == everything
    assert paths(offset=1, limit=2) == everything[1:3]
    assert paths(offset=4) == []
    assert paths(IndexState.OCR_NEEDED) == ["a.png", "b.png"]
    assert paths(IndexState.PENDING) == ["waits.md"]
    assert [entry.reason for entry in catalogue.unindexed(VAULT, limit=1)] == ["why"]
    assert not catalogue.unindexed(vault_ref("v2"), limit=10)


def test_a_long_list_of_what_is_not_indexed_ends(
    catalogue: Catalogue, monkeypatch: pytest.MonkeyPatch
) -> None:
    for module in (adapter, fake):
        monkeypatch.setattr(module, "MAX_ATTENTION_COUNT", 4)
    for number in range(6):
        entry = an_entry(f"{number}.txt", state=IndexState.NO_TEXT)
        catalogue.advance(entry, previous=None)

    assert len(catalogue.unindexed(VAULT, limit=100)) == 4
    assert len(catalogue.unindexed(VAULT, offset=3, limit=100)) == 1
    assert not catalogue.unindexed(VAULT, offset=5, limit=100)


@pytest.mark.dynamodb_local
def test_of_many_writers_one_wins(new_local_table: NewTable) -> None:
    catalogue = DynamoCatalogue(new_local_table("CatalogueTable"), FrozenClock())
    stored = an_entry()
    catalogue.advance(stored, previous=None)
    writers = 8
    together = Barrier(writers)

    def write(number: int) -> bool:
        together.wait()
        entry = an_entry(sequence=f"{20 + number}", generation=f"2-{number}")
        return catalogue.advance(entry, previous=stored)

    with ThreadPoolExecutor(writers) as pool:
        won = list(pool.map(write, range(writers)))
    assert won.count(True) == 1
    kept = catalogue.get(VAULT, NOTE)
    assert kept is not None
    assert kept.generation == f"2-{won.index(True)}"


def test_a_shorter_sequencer_counts_as_padded_with_zeros() -> None:
    assert sequencer("0A") == Sequencer("0A" + "0" * 38)
    assert sequencer("0a1") > sequencer("0A")


def test_documents_are_counted_as_they_come_change_and_go(catalogue: Catalogue) -> None:
    elsewhere = vault_ref("v2")
    assert catalogue.documents([VAULT, elsewhere]) == {VAULT: 0, elsewhere: 0}
    entries = [an_entry(f"{number}.md") for number in range(20)]
    for entry in entries:
        assert catalogue.advance(entry, previous=None)
    edited = an_entry("0.md", sequence="20", generation="2-b", state=IndexState.FAILED)
    assert catalogue.advance(edited, previous=entries[0])
    for entry in entries[1:4]:
        gone = replace(entry, state=IndexState.DELETED, sequencer=sequencer("30"))
        assert catalogue.advance(gone, previous=entry)
        assert not catalogue.advance(gone, previous=entry), "twice"
    assert not catalogue.advance(entries[5], previous=None), "it is there already"

    assert catalogue.documents([VAULT, elsewhere]) == {VAULT: 17, elsewhere: 0}
    assert sum(catalogue.counts(VAULT).values()) == 17


def test_a_document_that_comes_back_is_counted_once(
    catalogue: Catalogue, clock: FrozenClock
) -> None:
    gone = an_entry(state=IndexState.DELETED, sequence="10")
    assert catalogue.advance(gone, previous=None)
    assert catalogue.documents([VAULT])[VAULT] == 0
    back = an_entry(sequence="20", generation="2-b")
    assert catalogue.advance(back, previous=gone)
    gone_again = an_entry(sequence="30", generation="3-c", state=IndexState.DELETED)
    assert catalogue.advance(gone_again, previous=back)
    clock.advance(days=TOMBSTONE_DAYS + 1)
    assert catalogue.advance(an_entry(sequence="40", generation="4-d"), previous=None)

    assert catalogue.documents([VAULT])[VAULT] == 1


def test_a_recount_changes_nothing_that_is_right(catalogue: Catalogue) -> None:
    for number in range(5):
        catalogue.advance(an_entry(f"{number}.md"), previous=None)

    assert len(list(catalogue.entries(VAULT, recount=True))) == 5

    assert catalogue.documents([VAULT])[VAULT] == 5


@on_tables
def test_a_recount_puts_right_what_was_never_counted(
    new_table: NewTable, clock: FrozenClock
) -> None:
    table = new_table("CatalogueTable")
    catalogue = DynamoCatalogue(table, clock)
    for number in range(20):
        catalogue.advance(an_entry(f"{number}.md"), previous=None)
    catalogue.advance(an_entry("gone.md", state=IndexState.DELETED), previous=None)
    numbers = [Key(item["pk"], item["sk"]) for item in table.items("DOCUMENTS#acme#v1")]
    table.delete_many(numbers[:4])
    assert catalogue.documents([VAULT])[VAULT] < 20

    next(catalogue.entries(VAULT, recount=True))
    assert catalogue.documents([VAULT])[VAULT] < 20, "not everything was counted"
    assert len(list(catalogue.entries(VAULT, recount=True))) == 20

    assert catalogue.documents([VAULT])[VAULT] == 20


@pytest.mark.dynamodb_local
def test_counts_are_exact_however_documents_come_and_go_at_once(
    new_local_table: NewTable, clock: FrozenClock
) -> None:
    catalogue = DynamoCatalogue(new_local_table("CatalogueTable"), clock)

    def come_and_go(number: int) -> None:
        # Half of the paths are contended by two workers.
        entry = an_entry(f"{number // 2 if number % 4 < 2 else number}.md")
        came = catalogue.advance(entry, previous=None)
        if came and number % 3 == 0:
            gone = replace(entry, state=IndexState.DELETED, sequencer=sequencer("99"))
            catalogue.advance(gone, previous=entry)
        if number % 16 == 0:
            list(catalogue.entries(VAULT, recount=True))

    with ThreadPoolExecutor(8) as pool:
        list(pool.map(come_and_go, range(64)))

    assert catalogue.documents([VAULT])[VAULT] == len(list(catalogue.entries(VAULT)))
