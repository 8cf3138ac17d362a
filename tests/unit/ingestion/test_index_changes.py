"""From an event to the index: any order, any repetition, any crash."""

from dataclasses import replace
from datetime import timedelta
from itertools import count

import pytest

from archivolt.domain.ingestion import IndexState
from archivolt.domain.limits import MAX_DOCUMENT_BYTES
from archivolt.domain.paths import VaultPath
from archivolt.domain.search import SearchMode
from tests.fakes.faults import Death
from tests.index_world import IndexWorld

NOTE = "Été 2026/à+b (1).md"


@pytest.fixture
def world() -> IndexWorld:
    return IndexWorld()


def test_a_new_document_is_found_by_its_words_at_once_and_by_meaning_after_embedding(
    world: IndexWorld,
) -> None:
    assert not world.deliver(world.write(NOTE, "Les lamas traversent le pont.")).failed
    assert world.state(NOTE) is IndexState.PENDING
    assert world.found("lamas", mode=SearchMode.LEXICAL) == [NOTE]
    assert world.found("lamas", mode=SearchMode.DENSE) == []
    world.embed()
    assert world.state(NOTE) is IndexState.INDEXED
    assert world.found("les lamas traversent", mode=SearchMode.DENSE) == [NOTE]


def test_a_deleted_document_is_never_found_again(world: IndexWorld) -> None:
    world.settle(world.write(NOTE, "llamas"))
    assert not world.deliver(world.delete(NOTE)).failed
    assert world.found("llamas") == []
    world.embed()
    assert world.points(NOTE) == 0
    assert not list(world.text_index.generations(world.vault))


def test_a_newer_version_replaces_the_older_one_everywhere(world: IndexWorld) -> None:
    world.settle(world.write(NOTE, "llamas"))
    world.settle(world.write(NOTE, "alpacas"))
    assert world.found("llamas", mode=SearchMode.LEXICAL) == []
    assert world.found("alpacas") == [NOTE]
    assert world.points(NOTE) == 1


def test_a_repeated_event_changes_nothing(world: IndexWorld) -> None:
    change = world.write(NOTE, "llamas")
    world.settle(change)
    before = world.entry(NOTE)
    world.settle(change, change)
    assert world.entry(NOTE) == before
    assert len(world.extractor.extracted) == 1
    assert len(world.embedder.embedded) == 1


@pytest.mark.parametrize("together", [True, False])
def test_created_and_deleted_in_the_wrong_order_end_deleted(
    world: IndexWorld, together: bool
) -> None:
    created = world.write(NOTE, "llamas")
    deleted = world.delete(NOTE)
    if together:
        world.settle(deleted, created)
    else:
        world.settle(deleted)
        world.settle(created)
    assert world.state(NOTE) is IndexState.DELETED
    assert world.found("llamas") == []


def test_deleted_and_created_again_in_the_wrong_order_end_indexed(world: IndexWorld) -> None:
    world.settle(world.write(NOTE, "llamas"))
    deleted = world.delete(NOTE)
    created = world.write(NOTE, "alpacas")
    world.settle(created)
    world.settle(deleted)
    assert world.state(NOTE) is IndexState.INDEXED
    assert world.found("alpacas") == [NOTE]


def test_two_versions_in_the_wrong_order_end_with_the_newer_one(world: IndexWorld) -> None:
    first = world.write(NOTE, "llamas")
    second = world.write(NOTE, "alpacas")
    world.settle(second)
    world.settle(first)
    assert world.found("alpacas") == [NOTE]
    assert world.found("llamas", mode=SearchMode.LEXICAL) == []
    assert len(world.extractor.extracted) == 1


def test_the_permanent_deletion_of_an_old_version_deletes_nothing(world: IndexWorld) -> None:
    world.settle(world.write(NOTE, "llamas"))
    world.settle(world.deletion(NOTE))
    assert world.state(NOTE) is IndexState.INDEXED
    assert world.found("llamas") == [NOTE]
    assert len(world.extractor.extracted) == 1


def test_the_deletion_of_a_delete_marker_brings_the_document_back(world: IndexWorld) -> None:
    world.settle(world.write(NOTE, "llamas"))
    world.settle(world.delete(NOTE))
    world.write(NOTE, "llamas")
    world.settle(world.deletion(NOTE))
    assert world.state(NOTE) is IndexState.INDEXED
    assert world.found("llamas") == [NOTE]


def test_an_event_for_what_is_gone_already_leaves_a_tombstone(world: IndexWorld) -> None:
    created = world.write(NOTE, "llamas")
    world.delete(NOTE)
    world.settle(created)
    assert world.state(NOTE) is IndexState.DELETED


def test_a_renamed_document_is_found_once_under_its_new_name_and_not_embedded_again(
    world: IndexWorld,
) -> None:
    world.settle(world.write("old.md", "llamas"))
    world.settle(world.delete("old.md"), world.write("new.md", "llamas"))
    assert world.found("llamas") == ["new.md"]
    assert world.points("old.md") == 0
    assert world.points("new.md") == 1
    assert len(world.embedder.embedded) == 1


def test_identical_bytes_uploaded_again_after_a_deletion_are_indexed_once(
    world: IndexWorld,
) -> None:
    text = "\n\n".join(f"# Part {number}\n\nllama {number} " + "x " * 300 for number in range(3))
    world.settle(world.write(NOTE, text))
    passages = world.entry(NOTE).passages
    world.settle(world.delete(NOTE))
    world.settle(world.write(NOTE, text))
    assert world.state(NOTE) is IndexState.INDEXED
    assert world.points(NOTE) == passages > 1
    assert len(world.embedder.embedded) == passages


def test_the_same_content_at_two_paths_is_shown_once_and_embedded_once(
    world: IndexWorld,
) -> None:
    world.settle(world.write("a.md", "llamas"), world.write("b.md", "llamas"))
    assert world.points("a.md") == world.points("b.md") == 1
    assert len(world.embedder.embedded) == 1
    assert len(world.found("llamas")) == 1
    world.settle(world.delete("a.md"))
    assert world.found("llamas") == ["b.md"]


def test_the_same_content_in_two_vaults_is_found_in_both(world: IndexWorld) -> None:
    other = world.new_vault("archive")
    world.settle(world.write("a.md", "llamas"), world.write("a.md", "llamas", vault=other))
    hits = world.search("llamas").hits
    assert sorted(hit.vault for hit in hits) == ["archive", "notes"]


def test_unchanged_bytes_are_no_work(world: IndexWorld) -> None:
    world.settle(world.write(NOTE, "llamas"))
    generation = world.entry(NOTE).generation
    again = world.write(NOTE, "llamas")
    world.settle(again)
    entry = world.entry(NOTE)
    assert entry.generation == generation
    assert (entry.sequencer, entry.version) == (again.sequencer, again.version)
    assert len(world.extractor.extracted) == 1
    assert len(world.embedder.embedded) == 1


def test_of_the_same_bytes_written_again_the_index_says_what_a_rebuilt_one_would(
    world: IndexWorld,
) -> None:
    world.settle(world.write(NOTE, "llamas"), world.write("scan.png", "x"))
    world.clock.advance(days=3)
    written = [world.write(path, text) for path, text in ((NOTE, "llamas"), ("scan.png", "x"))]
    # Whoever cannot note it has the message come again.
    world.line.take_down("touch")
    assert all(world.deliver(each).failed for each in written)
    world.line.calm()
    world.settle(*written)
    paths = [VaultPath(NOTE), VaultPath("scan.png")]
    notes = world.notes.notes(world.vault, paths)
    # A write behind the product's back says nothing of when the document began to be.
    files = [world.files.head(world.vault, path) for path in paths]
    assert [(notes[path].created, notes[path].modified) for path in paths] == [
        (file.created, file.modified) for file in files
    ]
    assert files[0].created == files[0].modified
    assert world.found("llamas") == [NOTE]
    assert len(world.embedder.embedded) == 1


def test_only_the_newest_change_of_a_document_counts_in_a_batch(world: IndexWorld) -> None:
    world.settle(world.write(NOTE, "one"), world.write(NOTE, "two"), world.write(NOTE, "three"))
    assert len(world.extractor.extracted) == 1
    assert world.found("three") == [NOTE]


def test_an_edit_during_indexing_wins(world: IndexWorld) -> None:
    first = world.write(NOTE, "llamas")
    world.extractor.meanwhile = lambda: world.settle(world.write(NOTE, "alpacas"))
    world.settle(first)
    assert world.found("alpacas") == [NOTE]
    assert world.found("llamas", mode=SearchMode.LEXICAL) == []
    assert world.points(NOTE) == 1
    assert world.state(NOTE) is IndexState.INDEXED


def test_a_deletion_during_indexing_wins(world: IndexWorld) -> None:
    first = world.write(NOTE, "llamas")
    world.extractor.meanwhile = lambda: world.settle(world.delete(NOTE))
    world.settle(first)
    assert world.found("llamas") == []
    assert world.state(NOTE) is IndexState.DELETED
    assert not list(world.text_index.generations(world.vault))


def test_a_deletion_and_a_return_during_indexing_end_indexed(world: IndexWorld) -> None:
    first = world.write(NOTE, "llamas")

    def meanwhile() -> None:
        world.settle(world.delete(NOTE))
        world.settle(world.write(NOTE, "llamas again"))

    world.extractor.meanwhile = meanwhile
    world.settle(first)
    assert world.found("again") == [NOTE]
    assert world.points(NOTE) == 1


@pytest.mark.parametrize(
    ("name", "content", "state", "reason"),
    [
        ("a.png", "pixels", IndexState.UNSUPPORTED, "unsupported_format"),
        ("a.md", "BROKEN", IndexState.FAILED, "document_broken"),
        ("a.md", "CRASH", IndexState.FAILED, "document_broken"),
        ("a.md", "   \n", IndexState.NO_TEXT, "document_without_text"),
    ],
)
def test_a_document_without_passages_says_why_and_is_not_tried_again(
    world: IndexWorld, name: str, content: str, state: IndexState, reason: str
) -> None:
    change = world.write(name, content)
    world.settle(change)
    assert (world.state(name), world.entry(name).reason) == (state, reason)
    world.settle(change)
    world.settle(world.write(name, content))
    assert len(world.extractor.extracted) == 1


def test_a_version_that_fails_takes_the_older_one_out_of_the_index(world: IndexWorld) -> None:
    world.settle(world.write(NOTE, "llamas"))
    world.settle(world.write(NOTE, "BROKEN"))
    assert world.found("llamas") == []
    assert world.points(NOTE) == 0


def test_a_failed_document_is_tried_again_when_it_changes(world: IndexWorld) -> None:
    world.settle(world.write(NOTE, "BROKEN"))
    world.settle(world.write(NOTE, "llamas"))
    assert world.state(NOTE) is IndexState.INDEXED
    assert world.entry(NOTE).reason == ""


def test_one_failing_document_leaves_the_others_of_its_batch_alone(world: IndexWorld) -> None:
    outcome = world.deliver(
        world.write("a.md", "llamas"), world.write("b.md", "DOWN"), world.write("c.md", "CRASH")
    )
    assert list(outcome.failed) == ["m1"]
    assert world.found("llamas") == ["a.md"]


def test_a_message_about_two_documents_comes_again_when_one_of_them_failed(
    world: IndexWorld,
) -> None:
    good, bad = world.write("a.md", "llamas"), world.write("b.md", "DOWN")
    outcome = world.index_changes.run(
        {"both": [good, bad], "good": [good]}, time_left=lambda: timedelta(hours=1)
    )
    assert list(outcome.failed) == ["both"]


def test_a_document_that_is_too_big_is_not_downloaded(world: IndexWorld) -> None:
    huge = world.write("huge.md", b"x" * (MAX_DOCUMENT_BYTES + 1))
    world.line.take_down("read")
    world.settle(huge)
    assert world.state("huge.md") is IndexState.TOO_BIG
    assert world.entry("huge.md").reason == "document_too_large"


@pytest.mark.parametrize("path", [".git/config", "notes/.trash/a.md", ".DS_Store"])
def test_hidden_files_are_never_indexed(world: IndexWorld, path: str) -> None:
    world.settle(world.write(path, "llamas"))
    assert world.catalogue.get(world.vault, VaultPath(path)) is None


@pytest.mark.parametrize("path", ["..md", "[[.md", "%.md", "clang++.md", "a.b/c.md"])
def test_odd_names_are_indexed(world: IndexWorld, path: str) -> None:
    world.settle(world.write(path, "llamas"))
    assert world.found("llamas") == [path]


def test_a_first_load_yields_to_a_fresh_change(world: IndexWorld) -> None:
    world.deliver(world.write("old.md", "llamas", bulk=True), world.write("fresh.md", "alpacas"))
    assert [(job.path, job.bulk) for job in world.queue.take()] == [
        ("fresh.md", False),
        ("old.md", True),
    ]


def test_what_there_is_no_time_for_comes_again(world: IndexWorld) -> None:
    changes = [world.write(f"{number}.md", "llamas") for number in range(3)]
    left = iter([timedelta(minutes=2), timedelta(seconds=1), timedelta(seconds=1)])
    outcome = world.index_changes.run(
        {change.path: [change] for change in changes}, time_left=lambda: next(left)
    )
    assert list(outcome.failed) == ["1.md", "2.md"]
    assert world.found("llamas") == ["0.md"]


@pytest.mark.parametrize("method", ["get", "head", "read", "apply", "advance", "send"])
def test_an_outage_gives_the_messages_back_and_their_return_repairs_all(
    world: IndexWorld, method: str
) -> None:
    world.settle(world.write("changed.md", "llamas"), world.write("gone.md", "llamas"))
    changes = [
        world.write("new.md", "alpacas"),
        world.write("changed.md", "alpacas instead"),
        world.delete("gone.md"),
    ]
    world.line.take_down(method)
    assert world.deliver(*changes).failed
    world.line.calm()
    world.settle(*changes)
    assert sorted(world.found("alpacas", mode=SearchMode.DENSE)) == ["changed.md", "new.md"]
    assert world.found("llamas", mode=SearchMode.LEXICAL) == []
    assert world.points("gone.md") == 0


def _shown_once(world: IndexWorld) -> None:
    """Whatever has happened so far: no document is shown in two versions, no deleted one at all."""
    for mode in SearchMode:
        for query in ("llamas", "alpacas"):
            paths = world.found(query, mode=mode)
            assert len(paths) == len(set(paths))
    excerpts = [hit.excerpt for hit in world.search("llamas alpacas").hits]
    versions = [e for e in excerpts if e in {"llamas", "alpacas instead"}]
    assert len(versions) <= 1


def test_a_crash_at_any_moment_of_indexing_is_repaired_by_redelivery() -> None:
    moments = 0
    while True:
        world = IndexWorld()
        world.settle(
            world.write("changed.md", "llamas"),
            world.write("gone.md", "llamas here too"),
            world.write("broken.md", "llamas as well"),
        )
        changes = [
            world.write("new.md", "alpacas"),
            world.write("changed.md", "alpacas instead"),
            world.delete("gone.md"),
            world.write("broken.md", "BROKEN"),
        ]
        world.line.strike_after(moments)
        try:
            world.deliver(*changes)
        except Death:
            world.line.calm()
        else:
            break
        _shown_once(world)
        world.embed()
        _shown_once(world)
        world.settle(*changes)
        _is_right(world)
        moments += 1
    assert moments > 30  # every call of every step was struck, before and after


def test_a_crash_at_any_moment_of_embedding_is_repaired_by_redelivery() -> None:
    moments = 0
    while True:
        world = IndexWorld()
        world.settle(world.write("changed.md", "llamas"), world.write("gone.md", "llamas too"))
        changes = [
            world.write("new.md", "alpacas"),
            world.write("changed.md", "alpacas instead"),
            world.delete("gone.md"),
        ]
        assert not world.deliver(*changes).failed
        jobs = list(world.queue.jobs)
        world.line.strike_after(moments)
        try:
            world.embed()
        except Death:
            world.line.calm()
        else:
            break
        _shown_once(world)
        world.queue.jobs = jobs
        world.embed()
        _is_right(world)
        moments += 1
    assert moments > 20


def _is_right(world: IndexWorld) -> None:
    for mode in SearchMode:
        assert sorted(world.found("alpacas", mode=mode)) == ["changed.md", "new.md"]
    assert world.found("llamas", mode=SearchMode.LEXICAL) == []
    assert world.points("changed.md") == world.points("new.md") == 1
    assert world.points("gone.md") == world.points("broken.md") == 0
    assert world.state("changed.md") is world.state("new.md") is IndexState.INDEXED


def test_two_workers_that_overtake_each_other_leave_one_right_index(world: IndexWorld) -> None:
    """The second reads, and is overtaken before it writes; then the third does the same to it."""
    first = world.write(NOTE, "llamas")

    def second() -> None:
        change = world.write(NOTE, "alpacas")
        world.extractor.meanwhile = lambda: world.settle(world.write(NOTE, "vicuñas"))
        world.settle(change)

    world.extractor.meanwhile = second
    world.settle(first)
    assert world.found("vicuñas") == [NOTE]
    assert world.found("alpacas", mode=SearchMode.LEXICAL) == []
    assert world.points(NOTE) == 1


@pytest.mark.parametrize("moment", range(8))
def test_two_workers_at_a_document_that_nobody_changed_leave_it_as_it_is(
    world: IndexWorld, moment: int
) -> None:
    world.settle(world.write(NOTE, "llamas"))
    before = world.entry(NOTE)
    of_an_old_version = world.deletion(NOTE)
    world.clock.advance(seconds=1)
    moments = count()

    def other() -> None:
        if next(moments) == moment:
            assert not world.deliver(of_an_old_version).failed

    world.line.watch(other)
    assert not world.deliver(of_an_old_version).failed
    assert next(moments) > moment
    assert world.entry(NOTE) == replace(before, sequencer=of_an_old_version.sequencer)
    assert not world.queue.jobs
