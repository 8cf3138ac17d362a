"""What events missed is found, both ways; a second run finds nothing to do."""

from collections.abc import Mapping, Sequence
from datetime import timedelta
from typing import Any

import pytest

from archivolt.domain.errors import UnavailableError
from archivolt.domain.ingestion import CatalogueEntry, Generation, IndexState, Passage
from archivolt.domain.paths import VaultPath
from archivolt.domain.search import SearchMode
from archivolt.domain.vault import FileInfo, Listing, VaultRef
from archivolt.ingestion import reconcile
from archivolt.ingestion.reconcile import Reconciliation
from archivolt.ports.retrieval import DocumentUpdate, IndexedPassage
from tests.fakes.catalogue import InMemoryCatalogue
from tests.fakes.faults import Death
from tests.fakes.text_index import InMemoryTextIndex
from tests.fakes.vectors import WordHashEmbedder
from tests.index_world import IndexWorld
from tests.sync_world import running_out_after


@pytest.fixture
def world() -> IndexWorld:
    return IndexWorld()


def nothing_to_do(compared: int, *, forgotten: int = 0) -> Reconciliation:
    return Reconciliation(vaults=1, compared=compared, forgotten=forgotten)


def test_a_document_whose_event_was_lost_is_indexed(world: IndexWorld) -> None:
    world.write("a.md", "llamas")
    assert world.reconciled() == Reconciliation(vaults=1, compared=1, changed=1)
    assert world.found("llamas") == ["a.md"]
    assert world.reconciled() == nothing_to_do(1)


def test_a_version_whose_event_was_lost_is_indexed(world: IndexWorld) -> None:
    world.settle(world.write("a.md", "llamas"))
    world.write("a.md", "alpacas")
    assert world.reconciled().changed == 1
    assert world.found("alpacas") == ["a.md"]
    assert world.found("llamas", mode=SearchMode.LEXICAL) == []
    assert world.reconciled() == nothing_to_do(1, forgotten=1)
    assert world.reconciled() == nothing_to_do(1)


def test_a_document_whose_deletion_was_lost_is_removed(world: IndexWorld) -> None:
    world.settle(world.write("a.md", "llamas"), world.write("b.md", "alpacas"))
    world.delete("a.md")
    assert world.reconciled().gone == 1
    assert world.found("llamas") == []
    assert world.points("a.md") == 0
    assert world.points("b.md") == 1
    assert world.reconciled() == nothing_to_do(1, forgotten=1)


def test_the_event_that_arrives_after_all_changes_nothing(world: IndexWorld) -> None:
    created = world.write("a.md", "llamas")
    world.reconciled()
    generation = world.entry("a.md").generation
    world.settle(created)
    assert world.entry("a.md").generation == generation
    deleted = world.delete("a.md")
    world.reconciled()
    world.settle(deleted)
    assert world.state("a.md") is IndexState.DELETED


def test_a_listing_that_fails_deletes_nothing(world: IndexWorld) -> None:
    world.settle(world.write("a.md", "llamas"), world.write("b.md", "alpacas"))
    world.delete("a.md")
    world.line.take_down("list")
    assert world.reconciled().failed_vaults == 1
    assert world.state("a.md") is IndexState.INDEXED


def test_a_listing_that_fails_on_its_second_page_deletes_nothing(
    world: IndexWorld, monkeypatch: pytest.MonkeyPatch
) -> None:
    changes = [world.write(f"{number}.md", f"llama {number}") for number in range(4)]
    world.settle(*changes)
    world.delete("0.md")
    whole = world.files.list

    def failing(*args: object, after: str | None = None, **kwargs: object) -> Listing:
        if after is not None:
            raise UnavailableError("unavailable")
        return whole(world.vault, VaultPath(""), recursive=True, limit=2)

    monkeypatch.setattr(world.files, "list", failing)
    assert world.reconciled().failed_vaults == 1
    assert world.state("0.md") is IndexState.INDEXED


def test_a_wrong_listing_deletes_nothing_that_is_there(
    world: IndexWorld, monkeypatch: pytest.MonkeyPatch
) -> None:
    world.settle(world.write("a.md", "llamas"))

    def empty(*_: object, **__: object) -> Listing:
        return Listing(files=[], directories=[])

    monkeypatch.setattr(world.files, "list", empty)
    world.reconciled()
    assert world.state("a.md") is IndexState.INDEXED
    assert world.found("llamas") == ["a.md"]


def test_pending_documents_get_their_jobs_again(world: IndexWorld) -> None:
    world.deliver(world.write("a.md", "llamas"))
    world.queue.take()
    assert world.reconciled().requeued == 1
    assert world.state("a.md") is IndexState.INDEXED
    assert world.reconciled() == nothing_to_do(1)


def test_another_model_gets_every_document_embedded_again(world: IndexWorld) -> None:
    world.settle(world.write("a.md", "llamas"))
    world.embedder = WordHashEmbedder(model="other/2")
    assert world.reconciled().requeued == 1
    assert world.entry("a.md").embedder == "other/2"
    assert world.reconciled() == nothing_to_do(1)


def test_a_lost_catalogue_is_made_anew(world: IndexWorld) -> None:
    world.settle(world.write("a.md", "llamas"), world.write("b.md", "alpacas"))
    world.delete("b.md")
    world.catalogue = InMemoryCatalogue(world.clock)
    found = world.reconciled()
    assert (found.changed, found.orphans) == (1, 1)
    assert world.found("llamas") == ["a.md"]
    assert world.found("alpacas", mode=SearchMode.LEXICAL) == []
    assert world.points("a.md") == 1
    assert world.points("b.md") == 0
    assert world.reconciled() == nothing_to_do(1)


def test_a_lost_text_index_is_made_anew_without_embedding(world: IndexWorld) -> None:
    world.settle(world.write("a.md", "llamas"))
    world.text_index = InMemoryTextIndex()
    assert world.reconciled().changed == 1
    assert world.found("llamas", mode=SearchMode.LEXICAL) == ["a.md"]
    assert len(world.embedder.embedded) == 1
    assert world.reconciled() == nothing_to_do(1)


def stray(path: str) -> DocumentUpdate:
    """Return passages of a document that the catalogue does not know."""
    passage = Passage(number=0, text="llamas")
    return DocumentUpdate(
        path=VaultPath(path),
        generation=Generation("0000000000000001-a"),
        passages=[IndexedPassage(passage=passage, terms={"llama": 1})],
    )


def test_what_an_overtaken_worker_left_in_the_text_index_is_removed(world: IndexWorld) -> None:
    world.text_index.apply(world.vault, [stray("stray.md")])
    assert world.found("llamas") == []
    assert world.reconciled().orphans == 1
    assert not list(world.text_index.generations(world.vault))


def test_where_much_is_left_of_what_is_gone_time_that_runs_out_stops_the_removal(
    world: IndexWorld, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(reconcile, "_AT_ONCE", 3)
    world.text_index.apply(world.vault, [stray(f"{number}.md") for number in range(7)])

    found, stopped = world.reconcile.compare([world.vault], time_left=running_out_after(2))

    assert (found.orphans, found.complete, stopped) == (6, False, world.vault)
    assert world.reconciled().orphans == 1


def test_what_is_made_while_what_is_gone_is_removed_is_spared(world: IndexWorld) -> None:
    world.text_index.apply(world.vault, [stray("a.md")])
    get_many, asked = world.catalogue.get_many, [(world.vault, VaultPath("a.md"))]
    made: list[object] = []

    def slow(
        keys: Sequence[tuple[VaultRef, VaultPath]],
    ) -> Mapping[tuple[VaultRef, VaultPath], CatalogueEntry]:
        known = get_many(keys)
        if list(keys) == asked and not made:
            made.append(world.write("a.md", "alpacas"))
            assert not world.deliver(world.write("a.md", "alpacas graze")).failed
            world.clock.advance(seconds=1)
        return known

    world.catalogue.get_many = slow  # type: ignore[method-assign]
    world.reconciled()

    assert made
    assert world.found("alpacas", mode=SearchMode.LEXICAL) == ["a.md"]
    assert world.points("a.md") == 1


def test_what_is_kept_in_a_former_form_is_removed_once_the_index_is_whole(
    world: IndexWorld,
) -> None:
    whole: list[bool] = []

    class WithFormer(InMemoryTextIndex):
        def remove_former(self, vault: VaultRef) -> None:
            whole.append(sorted(path for path, _ in self.generations(vault)) == ["a.md", "b.md"])

    world.text_index = WithFormer(world.notes)
    world.write("a.md", "llamas")
    world.write("b.md", "alpacas")
    world.reconciled()
    assert whole == [True]


def test_kept_vectors_of_contents_that_are_gone_are_forgotten(world: IndexWorld) -> None:
    world.settle(world.write("a.md", "llamas"), world.write("b.md", "llamas"))
    world.settle(world.delete("a.md"))
    assert world.reconciled() == nothing_to_do(1)
    world.settle(world.delete("b.md"))
    assert world.reconciled().forgotten == 1
    assert not list(world.cache.contents(world.vault))


def test_a_failing_document_counts_and_leaves_the_others_alone(world: IndexWorld) -> None:
    world.write("a.md", "DOWN")
    world.write("b.md", "llamas")
    found = world.reconciled()
    assert (found.changed, found.failed) == (2, 1)
    assert world.found("llamas") == ["b.md"]


def test_a_failing_vault_leaves_the_others_alone(world: IndexWorld) -> None:
    other = world.new_vault("archive")
    world.write("a.md", "llamas", vault=other)
    whole = world.files.list

    def failing(vault: object, *args: object, **kwargs: object) -> Listing:
        if vault == world.vault:
            raise RuntimeError
        return whole(other, VaultPath(""), recursive=True, limit=1000)

    world.files.list = failing  # type: ignore[method-assign]
    assert world.reconciled().failed_vaults == 1
    assert world.found("llamas") == ["a.md"]


def test_where_time_runs_out_every_vault_has_its_day(world: IndexWorld) -> None:
    vaults = [world.vault, *(world.new_vault(name) for name in ("archive", "letters", "plans"))]
    for vault in vaults:
        world.write(f"{vault.id}.md", "llamas", vault=vault)
    begun: list[VaultRef] = []
    whole = world.files.list

    def listing(vault: VaultRef, path: VaultPath, **options: Any) -> Listing:  # noqa: ANN401  as given
        begun.append(vault)
        return whole(vault, path, **options)

    world.files.list = listing  # type: ignore[method-assign]
    for _ in range(30):  # days on each of which there is time for one vault
        begun.clear()
        world.every_vault.run(
            time_left=lambda: timedelta(0) if len(begun) > 1 else timedelta(hours=1)
        )
        world.clock.advance(days=1)
    assert sorted(world.found("llamas")) == sorted(f"{vault.id}.md" for vault in vaults)


def test_hidden_files_are_passed_over(world: IndexWorld) -> None:
    world.write(".trash/a.md", "llamas")
    assert world.reconciled() == nothing_to_do(0)


def test_many_documents_are_compared_in_slices(
    world: IndexWorld, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(reconcile, "_AT_ONCE", 3)
    monkeypatch.setattr(reconcile, "MAX_LIST_LIMIT", 2)
    for number in range(8):
        world.write(f"{number}.md", f"llama {number}")
    world.settle(world.write("gone.md", "x"), world.write("A.md", "y"), world.write("z/é.md", "z"))
    world.delete("gone.md")
    found = world.reconciled()
    assert (found.compared, found.changed, found.gone) == (11, 8, 1)
    assert world.reconciled() == nothing_to_do(10, forgotten=1)


def test_when_time_runs_out_the_next_run_goes_on(world: IndexWorld) -> None:
    world.write("a.md", "llamas")
    found = world.every_vault.run(time_left=lambda: timedelta(seconds=1))
    assert not found.complete
    assert world.reconciled().complete
    assert world.found("llamas") == ["a.md"]


def test_a_crash_at_any_moment_is_repaired_by_the_next_run() -> None:
    moments = 0
    while True:
        world = IndexWorld()
        world.settle(
            world.write("changed.md", "llamas"),
            world.write("gone.md", "llamas too"),
            world.write("same.md", "vicuñas"),
            world.write("broken.md", "llamas as well"),
        )
        world.write("new.md", "alpacas")
        world.write("changed.md", "alpacas instead")
        world.write("broken.md", "BROKEN")
        world.delete("gone.md")
        world.line.strike_after(moments)
        try:
            world.reconciled()
        except Death:
            world.line.calm()
        else:
            break
        world.reconciled()
        world.reconciled()
        assert sorted(world.found("alpacas", mode=SearchMode.DENSE)) == ["changed.md", "new.md"]
        assert world.found("llamas", mode=SearchMode.LEXICAL) == []
        assert world.found("vicuñas") == ["same.md"]
        assert world.points("gone.md") == world.points("broken.md") == 0
        assert world.points("changed.md") == 1
        held = [path for path, _ in world.text_index.generations(world.vault)]
        assert sorted(held) == ["broken.md", "changed.md", "new.md", "same.md"]
        moments += 1
    assert moments > 40


def test_file_and_entry_are_paired_in_the_order_of_object_keys(world: IndexWorld) -> None:
    for path in ("a/b.md", "a.md", "a0.md", "é.md", "\U0001f600.md", "Z.md"):
        world.settle(world.write(path, f"text of {path}"))
    assert world.reconciled() == nothing_to_do(6)


def test_a_listing_tells_nothing_but_paths_sizes_and_etags(world: IndexWorld) -> None:
    world.settle(world.write("a.md", "llamas", bulk=True))
    [info] = world.files.list(world.vault, VaultPath(""), recursive=True, limit=10).files
    assert isinstance(info, FileInfo)
    assert world.reconciled() == nothing_to_do(1)
