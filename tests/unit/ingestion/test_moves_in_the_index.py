"""What the product moves is found once at any moment, and nothing is embedded for it."""

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from itertools import count

import pytest

from archivolt.adapters.re2.patterns import Re2Patterns
from archivolt.domain.confirmation import Confirmed
from archivolt.domain.errors import ConflictError
from archivolt.domain.ingestion import (
    CatalogueEntry,
    ChangeKind,
    Generation,
    IndexState,
    ObjectChange,
)
from archivolt.domain.language import Language
from archivolt.domain.paths import VaultPath
from archivolt.domain.search import SearchMode
from archivolt.domain.vault import VaultRef
from archivolt.ports.notes import RecentBy
from archivolt.ports.retrieval import DocumentUpdate
from archivolt.retrieval.meaning import DenseIndex
from archivolt.vaults.advanced_search import AdvancedQuery, AdvancedSearch
from archivolt.vaults.move_marks import MoveMarks
from archivolt.vaults.recent import RecentService
from archivolt.vaults.replaced_text import Replacing
from archivolt.vaults.replacing import ReplacingService
from tests.builders import ALICE
from tests.fakes.catalogue import InMemoryCatalogue
from tests.fakes.clock import START
from tests.fakes.faults import Death
from tests.fakes.notes import InMemoryNotes
from tests.fakes.text_index import InMemoryTextIndex
from tests.fakes.vectors import InMemoryVectors, WordHashEmbedder
from tests.index_contents import contents
from tests.index_world import IndexWorld, plenty
from tests.product_world import ProductWorld

OLD, NEW = "a.md", "b/c.md"


@pytest.fixture
def world() -> ProductWorld:
    world = ProductWorld()
    world.put(OLD, "llamas graze")
    world.put("other.md", "vicuñas")
    world.settle_all()
    return world


def where(world: ProductWorld, q: str = "llamas graze") -> set[str]:
    """Return the path under which a document is found, the same by every kind of search."""
    for mode in SearchMode:
        found = world.found(q, mode=mode)
        assert len(found) == 1, (mode, found)
    words = world.text_search.search([world.access()], q)
    places = {world.found(q, mode=mode)[0] for mode in SearchMode}
    assert [hit.path for hit in words.hits] == world.found(q, mode=SearchMode.LEXICAL)
    return places


@pytest.mark.parametrize("copy_is_first", [True, False])
@pytest.mark.parametrize("early", [True, False])
def test_a_moved_file_is_found_once_at_any_moment(
    world: ProductWorld, *, early: bool, copy_is_first: bool
) -> None:
    seen: list[set[str]] = []

    def look() -> None:
        seen.append(where(world))
        if early and world.texts().keys() >= {OLD, NEW}:
            # The index hears of the copy while the move is still at work.
            world.settle_all()

    world.line.watch(look)
    world.move(OLD, NEW)
    assert where(world) == {NEW}
    events = world.events()
    for event in events if copy_is_first else events[::-1]:
        assert not world.deliver(event).failed
    world.embed()
    assert where(world) == {NEW}
    assert len(seen) > 20
    assert world.embedder.embedded == ["llamas graze", "vicuñas"]
    is_tidy(world)


def is_tidy(world: ProductWorld) -> None:
    """Check that index and vectors hold the vault's documents, each once, and nothing else."""
    held = sorted(path for path, _ in world.text_index.generations(world.vault))
    assert held == sorted(world.texts())
    points = world.vectors.held(world.vault.tenant, ALICE)
    assert sorted(point[1] for point in points) == held


def test_links_follow_and_the_notes_are_found_once_at_any_moment(world: ProductWorld) -> None:
    world.put("d/x.md", "alpacas follow [[a]] and [[y]]")
    world.put("d/y.md", "guanacos see [x](x.md)")
    world.settle_all()

    def look() -> None:
        for word in ("alpacas", "guanacos"):
            assert len(world.found(word, mode=SearchMode.HYBRID)) == 1
            assert len(world.found(word, mode=SearchMode.LEXICAL)) == 1

    world.line.watch(look)
    before = len(world.embedder.embedded)
    world.move("d", "e/f", directory=True)
    world.move("a.md", "z.md")
    for event in world.events()[::-1]:
        assert not world.deliver(event).failed
    world.embed()
    assert world.found("alpacas") == ["e/f/x.md"]
    is_tidy(world)
    assert len(world.embedder.embedded) == before + 1


@pytest.mark.parametrize("early", [True, False])
def test_a_large_document_that_moves_is_not_read_again(*, early: bool) -> None:
    world, new = ProductWorld(), "b/a.md"
    text = "\n\n".join(f"# Part {n} #wool\n\nllamas {n} [[b]] {'x ' * 300}" for n in range(60))
    world.put(OLD, text)
    world.settle_all()
    read = len(world.extractor.extracted)
    if early:
        world.line.watch(lambda: world.settle_all() if new in world.texts() else None)
    world.move(OLD, new)
    world.line.watch(None)
    world.settle_all()
    assert len(world.extractor.extracted) == read
    anew = IndexWorld()
    anew.files, anew.clock = world.files, world.clock
    anew.reconciled()
    ours = contents(world.text_index, world.notes, world.vault)
    assert ours == contents(anew.text_index, anew.notes, anew.vault)
    assert world.entry(new).tags == anew.entry(new).tags == ("wool",)
    world.edit(new, text + "more")
    world.settle_all()
    assert len(world.extractor.extracted) > read


def test_what_takes_the_old_place_of_a_large_document_meanwhile_is_not_read_for_it() -> None:
    class Overtaken(InMemoryNotes):
        overtake = False

        def text(self, vault: VaultRef, path: VaultPath) -> str | None:
            if path == OLD and self.overtake:
                note = self.notes(vault, [path])[path]
                self.put(replace(note, generation=Generation("9")), "somebody else's text")
            return super().text(vault, path)

    world, notes = ProductWorld(), Overtaken()
    world.notes, world.text_index = notes, InMemoryTextIndex(notes)
    world.put(OLD, "llamas graze " * 5_000)
    world.settle_all()
    world.move(OLD, NEW)
    notes.overtake = True
    world.settle_all()
    notes.overtake = False
    assert (notes.text(world.vault, VaultPath(NEW)) or "").startswith("llamas graze")


@pytest.mark.parametrize("third", [OLD, "d.md"])
def test_a_file_that_passes_where_another_had_stood_leaves_it_found(
    world: ProductWorld, third: str
) -> None:
    world.put("passed.md", "alpacas hum")
    world.settle_all()
    world.move("passed.md", NEW)
    world.move(OLD, "passed.md")
    world.move("passed.md", third)
    assert where(world) == {third}
    assert where(world, "alpacas hum") == {NEW}
    for event in world.events()[::-1]:
        assert not world.deliver(event).failed
        world.embed()
        assert where(world) == {third}
        assert where(world, "alpacas hum") == {NEW}
    is_tidy(world)


def test_what_is_made_anew_in_an_old_place_and_moves_away_leaves_what_had_moved_found(
    world: ProductWorld,
) -> None:
    world.move(OLD, NEW)
    world.create(OLD, "alpacas hum")
    world.move(OLD, "d.md")
    assert where(world) == {NEW}
    world.settle_all()
    assert where(world) == {NEW}
    assert where(world, "alpacas hum") == {"d.md"}
    is_tidy(world)


def test_a_directory_of_a_thousand_files_moves_without_an_embedding() -> None:
    world = ProductWorld()
    for number in range(1_000):
        world.put(f"d/{number}.md", f"note {number}")
    world.settle_all()
    assert len(world.embedder.embedded) == 1_000
    world.move("d", "e", directory=True)
    world.settle_all()
    assert len(world.embedder.embedded) == 1_000
    assert {path for path, _ in world.text_index.generations(world.vault)} == set(world.texts())
    assert all(world.state(path) is IndexState.INDEXED for path in list(world.texts())[::100])


def test_one_document_that_changes_all_the_time_holds_up_none_that_moved_with_it() -> None:
    class Busy(InMemoryCatalogue):
        busy = VaultPath("")

        def get_many(
            self, keys: Sequence[tuple[VaultRef, VaultPath]]
        ) -> Mapping[tuple[VaultRef, VaultPath], CatalogueEntry]:
            found = super().get_many(keys)
            for (vault, path), entry in found.items():
                if path == self.busy:
                    embedder = f"{entry.embedder}+"
                    assert self.mark_embedded(vault, path, entry.generation, embedder=embedder)
            return found

    world = ProductWorld()
    world.catalogue = catalogue = Busy(world.clock)
    for number in range(5):
        world.put(f"d/{number}.md", f"note {number}")
    world.settle_all()
    world.move("d", "e", directory=True)
    events = world.events()
    assert not world.deliver(*(each for each in events if each.kind is ChangeKind.CREATED)).failed
    catalogue.busy = VaultPath("e/3.md")
    gone = [each for each in events if each.kind is ChangeKind.DELETED]
    outcome = world.deliver(*gone)
    assert [gone[int(failed[1:])].path for failed in outcome.failed] == ["d/3.md"]
    catalogue.busy = VaultPath("")
    world.settle(*gone)
    is_tidy(world)


def test_a_file_that_moves_on_before_it_is_indexed_is_found_where_it_is(
    world: ProductWorld,
) -> None:
    for source, target in ((OLD, "1.md"), ("1.md", "2.md"), ("2.md", OLD), (OLD, NEW)):
        world.move(source, target)
        assert where(world) == {target}
    world.settle_all()
    assert where(world) == {NEW}
    assert world.reconciled().changed == 0
    is_tidy(world)
    assert len(world.embedder.embedded) == 2


@pytest.mark.parametrize("backwards", [True, False])
@pytest.mark.parametrize("known_before", [(), ("1.md",), ("1.md", "2.md")])
def test_what_moves_on_before_it_is_indexed_leaves_nothing_where_it_was(
    world: ProductWorld, *, known_before: tuple[str, ...], backwards: bool
) -> None:
    for path in known_before:
        world.put(path, f"formerly in {path}")
    world.settle_all()
    for path in known_before:
        world.remove(path)
        world.settle_all()
    for source, target in ((OLD, "1.md"), ("1.md", "2.md"), ("2.md", NEW)):
        world.move(source, target)
    for event in world.events()[:: -1 if backwards else 1]:
        assert not world.deliver(event).failed
    world.embed()
    assert where(world) == {NEW}
    is_tidy(world)


@pytest.mark.parametrize("backwards", [True, False])
@pytest.mark.parametrize("together", [True, False])
def test_a_second_move_whose_events_come_together_leaves_nothing_in_the_middle(
    world: ProductWorld, *, together: bool, backwards: bool
) -> None:
    world.move(OLD, "1.md")
    world.settle_all()
    world.move("1.md", NEW)
    events = world.events()[:: -1 if backwards else 1]
    for batch in [events] if together else [[event] for event in events]:
        assert not world.deliver(*batch).failed
    world.embed()
    assert where(world) == {NEW}
    is_tidy(world)


def test_what_is_deleted_after_its_move_is_found_nowhere(world: ProductWorld) -> None:
    world.move(OLD, NEW)
    world.remove(NEW)
    for mode in SearchMode:
        assert world.found("llamas graze", mode=mode) == []
    world.settle_all()
    world.reconciled()
    is_tidy(world)


def test_what_is_deleted_behind_the_products_back_is_gone_with_its_event(
    world: ProductWorld,
) -> None:
    world.move(OLD, NEW)
    assert world.drop(NEW)
    *_, gone = world.events()
    world.deliver(gone)
    assert world.found("llamas graze") == []
    world.reconciled()
    is_tidy(world)


def test_a_moved_file_that_vanished_and_of_which_no_event_came_is_gone_with_reconciliation(
    world: ProductWorld,
) -> None:
    world.move(OLD, NEW)
    assert world.drop(NEW)
    world.events()
    world.reconciled()
    assert world.found("llamas graze") == []
    is_tidy(world)


def test_a_new_file_in_the_old_place_is_a_document_of_its_own(world: ProductWorld) -> None:
    world.move(OLD, NEW)
    world.create(OLD, "alpacas rest")
    moved, *later = world.events()
    for event in later:
        world.deliver(event)
        assert where(world) == {NEW}
    world.embed()
    assert where(world) == {NEW}
    world.settle(moved)
    assert where(world) == {NEW}
    assert where(world, "alpacas rest") == {OLD}
    is_tidy(world)


def test_a_file_that_has_to_stay_is_found_where_it_stays(world: ProductWorld) -> None:
    def take_the_new_place() -> None:
        if world.entry(OLD).moved_to and NEW not in world.texts():
            world.put(NEW, "alpacas rest")

    world.line.watch(take_the_new_place)
    with pytest.raises(ConflictError):
        world.move(OLD, NEW)
    world.line.watch(None)
    assert where(world) == {OLD}
    world.settle_all()
    assert where(world) == {OLD}
    assert where(world, "alpacas rest") == {NEW}
    assert world.entry(OLD).moved_to == ""


def broken_moves() -> Iterator[ProductWorld]:
    """Yield worlds in which a move died, in each a moment later than in the one before."""
    for moments in count():
        world = ProductWorld()
        world.put(OLD, "llamas graze")
        world.settle_all()
        world.line.strike_after(moments)
        try:
            world.move(OLD, NEW)
        except Death:
            world.line.calm()
        else:
            return
        yield world


def test_after_a_death_at_any_moment_of_a_move_the_file_is_found_once() -> None:
    moments = 0
    while True:
        world = ProductWorld()
        world.put(OLD, "llamas graze")
        world.put("other.md", "vicuñas see [[a]]")
        world.settle_all()
        world.line.strike_after(moments)
        try:
            world.move(OLD, NEW)
        except Death:
            world.line.calm()
            where(world)
            world.settle_all()
            where(world)
            world.clock.advance(hours=1)
            world.sweep()
            where(world)
            world.settle_all()
        else:
            break
        where(world)
        assert len([path for path in world.texts() if path in {OLD, NEW}]) == 1
        is_tidy(world)
        assert world.catalogue.get(world.vault, VaultPath("other.md")) is not None
        moments += 1
    assert moments > 30


@pytest.mark.parametrize("settled", [True, False])
def test_what_was_moved_to_where_a_file_had_been_deleted_is_in_no_search_once_it_is_deleted_too(
    world: ProductWorld, *, settled: bool
) -> None:
    world.put(NEW, "alpacas rest")
    world.settle_all()
    world.remove(NEW)
    if settled:
        world.settle_all()
    world.move(OLD, NEW)
    assert where(world) == {NEW}

    world.remove(NEW)

    for mode in SearchMode:
        assert world.found("llamas graze", mode=mode) == []
    world.settle_all()
    is_tidy(world)


@pytest.mark.parametrize("indexed", [True, False])
def test_a_file_that_went_on_stays_found_when_one_that_took_its_place_is_deleted(
    world: ProductWorld, *, indexed: bool
) -> None:
    world.move(OLD, NEW)
    world.create(OLD, "alpacas rest")
    moved, *later = world.events()
    if indexed:
        world.settle(*later)
    world.remove(OLD)

    assert where(world) == {NEW}
    world.settle(moved, *later, *world.events())
    assert where(world) == {NEW}
    is_tidy(world)


def test_a_deletion_of_a_directory_that_died_takes_what_was_moved_there_out_of_every_search() -> (
    None
):
    moments = 0
    while True:
        world = ProductWorld()
        world.put(OLD, "llamas graze")
        world.put(NEW, "alpacas rest")
        world.settle_all()
        world.remove(NEW)
        world.move(OLD, NEW)
        world.clock.advance(seconds=1)
        directory = VaultPath("b")
        preview = world.deletions.preview_delete_directory(
            world.access(), directory, recursive=True
        )
        confirmed = Confirmed(operation="gone", pins=preview.pins)
        world.line.strike_after(moments)
        try:
            world.deletions.delete_directory(world.access(), directory, confirmed, recursive=True)
        except Death:
            world.line.calm()
            again = replace(confirmed, resumed=True)
            world.deletions.delete_directory(world.access(), directory, again, recursive=True)
        else:
            break
        assert world.found("llamas graze", mode=SearchMode.LEXICAL) == []
        moments += 1
    assert moments > 5


@pytest.mark.parametrize("known", [True, False])
def test_what_died_unacknowledged_where_another_file_is_moved_to_is_not_found_for_it(
    world: ProductWorld, *, known: bool
) -> None:
    if known:
        world.put(NEW, "guanacos")
        world.settle_all()
        world.remove(NEW)
        world.settle_all()
    world.move(OLD, NEW)
    # The file is gone, and the process dies before the catalogue is told.
    moments = 0
    while NEW in world.texts():
        world.line.strike_after(moments)
        with suppress(Death):
            world.remove(NEW)
        moments += 1
    world.line.calm()

    def look() -> None:
        where(world, "vicuñas")

    world.line.watch(look)
    world.move("other.md", NEW)
    world.line.watch(None)
    assert where(world, "vicuñas") == {NEW}
    assert world.found("llamas graze", mode=SearchMode.LEXICAL) == []
    world.settle_all()
    assert where(world, "vicuñas") == {NEW}
    is_tidy(world)


def test_a_file_that_a_broken_move_never_brought_is_not_found_where_another_was_made() -> None:
    marked = 0
    for world in broken_moves():
        if NEW in world.texts():
            continue
        marked += world.entry(OLD).moved_to == NEW
        world.create(NEW, "alpacas rest")
        world.events()
        world.drop(OLD)
        world.settle_all()
        for mode in SearchMode:
            assert world.found("llamas graze", mode=mode) == []
    assert marked > 1


def test_a_worker_that_read_a_file_before_a_move_was_taken_up_does_not_bring_it_back() -> None:
    class Overtaken(InMemoryTextIndex):
        def __init__(self, notes: InMemoryNotes, by: Callable[[], None]) -> None:
            super().__init__(notes)
            self._by = by

        def apply(
            self, vault: VaultRef, updates: Sequence[DocumentUpdate]
        ) -> Collection[VaultPath]:
            self._by()
            return super().apply(vault, updates)

    moments, resumed = 0, 0
    while True:
        world = ProductWorld()
        world.put(OLD, "vicuñas")
        world.settle_all()
        world.remove(OLD)
        world.settle_all()
        # The catalogue has a tombstone of the file before this one.
        world.put(OLD, "llamas graze")
        made = world.events()
        world.line.strike_after(moments)
        try:
            world.move(OLD, NEW)
        except Death:
            world.line.calm()
        else:
            break
        moments += 1
        if OLD not in world.texts():
            continue
        resumed += 1
        world.clock.advance(hours=1)
        world.text_index = Overtaken(world.notes, world.sweep)
        world.deliver(*made)
        assert set(world.found("llamas graze", mode=SearchMode.LEXICAL)) <= world.texts().keys()
    assert resumed > 5


@pytest.mark.parametrize("hidden", [".trash/a.md", "d/.archive/a.md"])
def test_what_is_moved_to_a_hidden_place_is_in_no_search(world: ProductWorld, hidden: str) -> None:
    world.move(OLD, hidden)

    for mode in SearchMode:
        assert world.found("llamas graze", mode=mode) == []
    world.settle_all()
    for mode in SearchMode:
        assert world.found("llamas graze", mode=mode) == []
    assert [path for path, _ in world.text_index.generations(world.vault)] == ["other.md"]
    assert world.points(OLD) == 0


def test_what_comes_out_of_a_hidden_place_is_found(world: ProductWorld) -> None:
    world.move(OLD, ".trash/a.md")
    world.settle_all()
    world.move(".trash/a.md", NEW)
    world.settle_all()
    assert where(world) == {NEW}
    is_tidy(world)


@pytest.mark.parametrize("copy_is_first", [True, False])
def test_no_vectors_are_left_of_what_has_no_passages_in_its_new_place(
    world: ProductWorld, *, copy_is_first: bool
) -> None:
    world.move(OLD, "a.png")
    events = world.events()
    for event in events if copy_is_first else events[::-1]:
        assert not world.deliver(event).failed
    world.embed()

    assert world.state("a.png") is IndexState.UNSUPPORTED
    assert world.points(OLD) == 0
    assert world.found("llamas graze", mode=SearchMode.LEXICAL) == []


def test_a_worker_that_dies_at_any_moment_leaves_no_vector_where_a_document_was() -> None:
    moments = 0
    while True:
        world = ProductWorld()
        world.put(OLD, "llamas graze")
        world.settle_all()
        world.move(OLD, NEW)
        assert not world.deliver(*world.events()).failed
        world.line.strike_after(moments)
        try:
            world.embed()
        except Death:
            world.line.calm()
        else:
            break
        world.embed()
        is_tidy(world)
        moments += 1
    assert moments > 10


def test_an_edit_of_what_a_move_that_broke_off_had_copied_is_found_before_the_move_goes_on() -> (
    None
):
    edited = 0
    for world in broken_moves():
        if not world.texts().keys() >= {OLD, NEW}:
            continue
        world.settle_all()
        world.edit(OLD, "alpacas rest")
        world.settle_all()
        assert world.found("alpacas rest", mode=SearchMode.LEXICAL) == [OLD]
        world.clock.advance(hours=1)
        world.sweep()
        world.settle_all()
        assert len(world.found("alpacas rest", mode=SearchMode.LEXICAL)) == 1
        is_tidy(world)
        edited += 1
    assert edited > 2


def test_what_moves_on_before_it_is_indexed_is_found_by_the_meaning_it_had(
    world: ProductWorld,
) -> None:
    ways = [[], [NEW], [NEW, OLD], [NEW, "d.md", OLD]]
    for indexed_between in (False, True):
        for way in ways:
            place = OLD
            for to in [*way, "last.md"]:
                world.move(place, to)
                place = to
                if indexed_between:
                    assert not world.deliver(*world.events()).failed
                assert where(world) == {to}
            assert not world.deliver(*world.events()).failed
            assert where(world) == {"last.md"}
            world.embed()
            assert where(world) == {"last.md"}
            is_tidy(world)
            world.move("last.md", OLD)
            world.settle_all()
    assert world.embedder.embedded == ["llamas graze", "vicuñas"]


def test_a_file_that_moves_on_is_found_although_the_index_hears_that_it_left(
    world: ProductWorld,
) -> None:
    world.move(OLD, NEW)
    told: list[ObjectChange] = []

    def look() -> None:
        told.extend(world.events())
        gone = [event for event in told if event.kind is ChangeKind.DELETED]
        assert not world.deliver(*gone).failed
        assert len(where(world)) == 1

    world.line.watch(look)
    world.move(NEW, "c.md")
    world.line.watch(None)
    assert where(world) == {"c.md"}
    world.settle(*told, *world.events())
    assert where(world) == {"c.md"}
    is_tidy(world)


def test_a_move_that_is_given_up_leaves_no_mark_where_the_index_knows_nothing(
    world: ProductWorld,
) -> None:
    world.move(OLD, NEW)
    marks = MoveMarks(world.files, world.catalogue, world.clock, world.vault, since=START)
    marks.begin(VaultPath(NEW), VaultPath("c.md"))
    assert world.entry(NEW).moved_to == "c.md"
    assert where(world) == {NEW}
    marks.keep(VaultPath(NEW))
    assert world.entry(NEW).moved_to == ""
    assert where(world) == {NEW}
    world.settle_all()
    assert where(world) == {NEW}
    is_tidy(world)


def test_files_that_change_places_while_a_worker_looks_where_they_are_stay_found() -> None:
    moment = 0
    while True:
        world = ProductWorld()
        world.put(OLD, "llamas graze")
        world.put("other.md", "alpacas hum")
        world.settle_all()
        world.move(OLD, "third.md")
        events, moments = world.events(), count()

        def others_move() -> None:
            if next(moments) == moment:  # noqa: B023  called before it changes
                world.move("other.md", OLD)  # noqa: B023  as above
                world.move("third.md", "other.md")  # noqa: B023  as above

        world.line.watch(others_move)
        assert not world.deliver(*events).failed
        world.line.watch(None)
        if next(moments) <= moment:
            break
        assert where(world) == {"other.md"}, moment
        assert where(world, "alpacas hum") == {OLD}, moment
        world.settle_all()
        is_tidy(world)
        moment += 1
    assert moment > 20


def test_what_is_edited_between_two_moves_where_another_had_stood_stays_found(
    world: ProductWorld,
) -> None:
    world.move("other.md", "d.md")
    world.move(OLD, "other.md")
    world.edit("other.md", "llamas graze at dawn")
    assert where(world) == {"other.md"}
    world.move("other.md", NEW)
    assert where(world) == {NEW}
    assert where(world, "vicuñas") == {"d.md"}
    world.settle_all()
    assert where(world) == {NEW}
    is_tidy(world)


@pytest.mark.parametrize("resumes", [True, False])
def test_what_is_edited_in_its_old_place_after_a_move_died_there_is_shown_in_one_version(
    *, resumes: bool
) -> None:
    moment, amid = 0, 0
    while True:
        world = ProductWorld()
        world.put(OLD, "llamas graze")
        world.settle_all()
        world.line.strike_after(moment)
        with suppress(Death):
            world.move(OLD, NEW)
        world.line.calm()
        moment += 1
        if OLD not in world.texts():
            break
        world.edit(OLD, "llamas graze at dawn")
        events = world.events()
        for event in events if resumes else events[::-1]:
            assert not world.deliver(event).failed
            assert len(world.found("llamas graze", mode=SearchMode.LEXICAL)) == 1, moment
        world.embed()
        if NEW in world.texts():
            amid += 1
            assert where(world, "llamas graze at dawn") == {OLD}
        if resumes:
            world.clock.advance(hours=1)
            world.sweep()
            assert len(world.found("llamas graze", mode=SearchMode.LEXICAL)) == 1, moment
            world.settle_all()
            place = {path for path, text in world.texts().items() if "dawn" in text}
            assert where(world, "llamas graze at dawn") == place
            is_tidy(world)
    assert amid > 2


@pytest.mark.parametrize("backwards", [True, False])
@pytest.mark.parametrize("known", [True, False])
def test_an_edit_of_a_copy_is_found_beside_one_in_the_place_that_a_dead_move_had_copied(
    *, known: bool, backwards: bool
) -> None:
    edited = 0
    for world in broken_moves():
        if not world.texts().keys() >= {OLD, NEW}:
            continue
        if known:
            world.settle_all()
        world.edit(OLD, "llamas graze at dawn")
        world.edit(NEW, "alpacas hum")
        for event in world.events()[:: -1 if backwards else 1]:
            assert not world.deliver(event).failed
        world.embed()
        assert where(world, "alpacas hum") == {NEW}
        assert where(world, "llamas graze at dawn") == {OLD}
        world.clock.advance(hours=1)
        world.sweep()
        world.settle_all()
        assert where(world, "alpacas hum") == {NEW}
        is_tidy(world)
        edited += 1
    assert edited > 2


def test_whether_a_copy_gives_way_is_the_same_whatever_else_a_search_finds() -> None:
    given_way = 0
    for world in broken_moves():
        if not world.texts().keys() >= {OLD, NEW}:
            continue
        world.settle_all()
        world.edit(OLD, "alpacas rest")
        world.settle_all()
        for mode in (SearchMode.LEXICAL, SearchMode.HYBRID):
            assert world.found("llamas graze", mode=mode) == []
            assert world.found("alpacas rest", mode=mode) == [OLD]
        given_way += 1
    assert given_way > 2


def test_what_left_has_no_vectors_for_an_equal_file_that_is_put_in_its_place_later(
    world: ProductWorld,
) -> None:
    world.move(OLD, NEW)
    world.settle_all()
    assert world.points(OLD) == 0
    world.create(OLD, "llamas graze")
    assert not world.deliver(*world.events()).failed
    entry = world.entry(OLD)
    assert (entry.state, entry.embedder, entry.alike_since) == (IndexState.PENDING, "", "")
    world.embed()
    is_tidy(world)


def test_what_left_a_place_that_has_another_file_is_found_through_a_change_of_model(
    world: ProductWorld,
) -> None:
    world.move(OLD, NEW)
    world.create(OLD, "alpacas hum")
    # The index does not hear of the copy.
    lost, *others = world.events()
    assert (lost.path, lost.kind) == (NEW, ChangeKind.CREATED)
    world.settle(*others)
    before = world.vectors
    world.former = DenseIndex(embedder=world.embedder, vectors=before)
    world.vectors, world.embedder = InMemoryVectors(former=before), WordHashEmbedder(model="m/2")
    assert where(world) == {NEW}
    assert where(world, "alpacas hum") == {OLD}
    for _ in range(2):
        world.reconciled()
        assert where(world) == {NEW}
        assert where(world, "alpacas hum") == {OLD}
    is_tidy(world)
    assert before.held(world.vault.tenant, ALICE) == []


def test_what_left_a_place_that_has_another_file_is_found_until_its_vectors_come(
    world: ProductWorld,
) -> None:
    world.move(OLD, NEW)
    world.create(OLD, "alpacas hum")
    for event in world.events():
        assert not world.deliver(event).failed
        assert where(world) == {NEW}
    while jobs := world.queue.take():
        first, *others = jobs[::-1]
        assert not world.embed_passages.run({"1": first}, time_left=plenty).failed
        world.queue.send(others[::-1])
        assert where(world) == {NEW}
    assert where(world, "alpacas hum") == {OLD}
    is_tidy(world)


def test_a_moved_file_is_found_by_its_lines_among_the_newest_and_to_replace_in_at_any_moment(
    world: ProductWorld,
) -> None:
    access, clock, patterns = [world.access()], world.clock, Re2Patterns()
    advanced = AdvancedSearch(world.notes, world.catalogue, world.files, patterns, clock)
    recent = RecentService(world.notes, world.catalogue, world.files, clock)
    replacing = ReplacingService(world.files, world.notes, world.catalogue, patterns, clock)

    def look() -> None:
        held = world.files.head(world.vault, VaultPath(NEW))
        (hit,) = advanced.search(access, AdvancedQuery(q="llamas graze")).hits
        assert (hit.path, hit.etag) == (NEW, held.etag)
        away = AdvancedQuery(q="llamas graze", exclude_paths=["b/"])
        assert advanced.search(access, away).hits == []
        newest = recent.recent(access, by=RecentBy.MODIFIED, language=Language.EN).files
        assert sorted(file.path for file in newest) == [NEW, "other.md"]
        found = replacing.dry_run(access[0], Replacing(find="llamas", replace="alpacas"))
        assert [file.path for file in found.files] == [NEW]
        kept = Replacing(find="llamas", replace="alpacas", exclude_paths=["b/"])
        assert replacing.dry_run(access[0], kept).files == []

    world.move(OLD, NEW)
    look()
    for event in reversed(world.events()):
        assert not world.deliver(event).failed
        look()
    world.embed()
    look()


def test_no_vectors_are_left_where_a_file_was_that_went_on_to_be_deleted_with_no_event_of_it(
    world: ProductWorld,
) -> None:
    world.move(OLD, NEW)
    copied, *_ = [event for event in world.events() if event.path == NEW]
    assert not world.deliver(copied).failed
    world.remove(NEW)
    world.events()
    world.embed()
    world.clock.advance(hours=1)
    world.reconciled()
    world.embed()

    paths = {path for _, path, _, _ in world.vectors.held(world.vault.tenant, ALICE)}
    assert paths == {"other.md"}
