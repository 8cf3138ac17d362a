"""What was deleted is in no search once the deletion has returned, however late its event comes."""

from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from archivolt.domain.confirmation import Confirmed
from archivolt.domain.errors import ConflictError, UnavailableError
from archivolt.domain.ingestion import IndexState, ObjectChange
from archivolt.domain.paths import VaultPath
from archivolt.domain.search import SearchMode
from archivolt.domain.vault import VaultAccess, VaultRole
from archivolt.vaults.deletions import DeletionService
from archivolt.vaults.search import TextSearch
from archivolt.vaults.withdrawals import Withdrawals
from tests.builders import ALICE, a_vault
from tests.fakes.faults import Death
from tests.fakes.operations import InMemoryOperations
from tests.index_world import IndexWorld

A = VaultPath("d/a.md")
B = VaultPath("d/b.md")


class IndexedVault(IndexWorld):
    """A vault with its index, in which people delete by the product."""

    def __init__(self) -> None:
        super().__init__()
        vault = replace(a_vault("notes"), ref=self.vault)
        self.access = VaultAccess(vault=vault, user=ALICE, role=VaultRole.OWNER)
        self.operations = InMemoryOperations()
        files, catalogue = self.line.across(self.files), self.line.across(self.catalogue)
        self.deletions = DeletionService(files, self.operations, catalogue, self.clock)
        self.withdrawals = Withdrawals(files, catalogue, self.clock)

    def confirmed(self, path: VaultPath, *, resumed: bool = False) -> Confirmed:
        """Confirm the deletion of a file as it is."""
        pins = {str(path): self.files.head(self.vault, path).etag}
        return Confirmed(operation=f"delete {path}", pins=pins, resumed=resumed)

    def deleted(self, path: VaultPath) -> ObjectChange:
        """Delete a file by the product; return the event that is still to come."""
        self.clock.advance(seconds=1)
        self.deletions.delete(self.access, path, self.confirmed(path))
        return self.deletion(path)

    def deletion_of_directory(self) -> Confirmed:
        """Confirm the deletion of d as it is."""
        preview = self.deletions.preview_delete_directory(
            self.access, VaultPath("d"), recursive=True
        )
        return Confirmed(operation="delete d", pins=preview.pins)

    def shown(self, q: str) -> set[str]:
        """Return the paths that any search shows."""
        found = {path for mode in SearchMode for path in self.found(q, mode=mode)}
        words = TextSearch(self.text_index, self.catalogue).search([self.access], q)
        return found | {str(hit.path) for hit in words.hits}

    def holds_nothing(self) -> bool:
        """Tell whether the index holds neither words nor vectors."""
        words = list(self.text_index.generations(self.vault))
        return not words and not self.vectors.held(self.vault.tenant, ALICE)


@pytest.fixture
def vault() -> IndexedVault:
    return IndexedVault()


def test_no_search_shows_a_deleted_file_before_its_event_came(vault: IndexedVault) -> None:
    vault.settle(vault.write(A, "llamas"), vault.write(B, "llamas and alpacas"))

    event = vault.deleted(A)

    assert vault.shown("llamas") == {B}
    vault.settle(event)
    assert vault.shown("llamas") == {B}
    assert vault.points(A) == 0


def test_a_file_whose_creation_is_still_to_be_told_stays_deleted(vault: IndexedVault) -> None:
    creation = vault.write(A, "llamas")
    deletion = vault.deleted(A)

    vault.settle(creation)
    assert vault.shown("llamas") == set()
    vault.settle(deletion, creation)
    assert vault.holds_nothing()


def test_a_file_made_anew_is_found_again_whichever_event_comes_first(vault: IndexedVault) -> None:
    vault.settle(vault.write(A, "llamas"))
    deletion = vault.deleted(A)
    creation = vault.write(A, "alpacas")

    vault.settle(creation)
    vault.settle(deletion)

    assert vault.shown("alpacas") == {A}
    assert vault.state(A) is IndexState.INDEXED


def test_what_the_index_holds_of_it_goes_with_an_event_without_sequencer(
    vault: IndexedVault,
) -> None:
    vault.settle(vault.write(A, "llamas"))
    event = vault.deleted(A)

    vault.settle(replace(event, sequencer=None))

    assert vault.holds_nothing()


def test_what_the_index_holds_of_it_goes_with_the_reconciliation_where_the_event_is_lost(
    vault: IndexedVault,
) -> None:
    vault.settle(vault.write(A, "llamas"))
    vault.deleted(A)

    vault.reconciled()

    assert vault.holds_nothing()


def test_a_deletion_that_the_catalogue_was_not_told_of_is_not_acknowledged(
    vault: IndexedVault,
) -> None:
    vault.settle(vault.write(A, "llamas"))
    confirmed = vault.confirmed(A)
    vault.line.take_down("advance")

    with pytest.raises(UnavailableError):
        vault.deletions.delete(vault.access, A, confirmed)
    vault.line.calm()
    vault.deletions.delete(vault.access, A, replace(confirmed, resumed=True))

    assert vault.shown("llamas") == set()


def test_a_file_that_could_not_be_deleted_stays_found(vault: IndexedVault) -> None:
    vault.settle(vault.write(A, "llamas"))
    confirmed = vault.confirmed(A)
    vault.settle(vault.write(A, "llamas and alpacas"))

    with pytest.raises(ConflictError):
        vault.deletions.delete(vault.access, A, confirmed)

    assert vault.shown("alpacas") == {A}


def test_what_is_there_again_is_not_withdrawn(vault: IndexedVault) -> None:
    vault.settle(vault.write(A, "llamas"))

    vault.withdrawals.withdraw(vault.vault, A)

    assert vault.shown("llamas") == {A}


def test_a_worker_that_read_the_file_before_it_went_cannot_bring_it_back(
    vault: IndexedVault,
) -> None:
    """The worker is about to write the catalogue when the deletion comes and returns."""
    creation = vault.write(A, "llamas")
    advance, calls = vault.catalogue.advance, list[object]()

    def late(*args: object, **kwargs: object) -> bool:
        calls.append(args)
        if len(calls) == 1:
            vault.deletions.delete(vault.access, A, vault.confirmed(A))
        return advance(*args, **kwargs)  # type: ignore[arg-type]

    vault.catalogue.advance = late  # type: ignore[method-assign]
    vault.settle(creation)

    assert vault.shown("llamas") == set()


def test_no_search_shows_the_files_of_a_deleted_directory(vault: IndexedVault) -> None:
    outside = vault.write("e.md", "llamas outside")
    vault.settle(vault.write(A, "llamas"), vault.write(B, "llamas and alpacas"), outside)

    vault.deletions.delete_directory(
        vault.access, VaultPath("d"), vault.deletion_of_directory(), recursive=True
    )

    assert vault.shown("llamas") == {"e.md"}


@settings(max_examples=60, deadline=None)
@given(st.lists(st.integers(0, 25), max_size=4))
def test_a_deletion_of_a_directory_that_died_shows_nothing_once_it_has_returned(
    moments: list[int],
) -> None:
    vault = IndexedVault()
    vault.settle(vault.write(A, "llamas"), vault.write(B, "llamas and alpacas"))
    confirmed = vault.deletion_of_directory()
    for moment in moments:
        vault.line.strike_after(moment)
        try:
            vault.deletions.delete_directory(
                vault.access, VaultPath("d"), confirmed, recursive=True
            )
        except Death:
            confirmed = replace(confirmed, resumed=True)
        vault.line.calm()

    vault.deletions.delete_directory(vault.access, VaultPath("d"), confirmed, recursive=True)

    assert vault.shown("llamas") == set()
