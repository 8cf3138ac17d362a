"""Of a changing document a search finds one generation at any moment; in the end, one is left."""

from archivolt.domain.paths import VaultPath
from archivolt.domain.search import SearchMode
from tests.fakes.faults import Death
from tests.index_contents import contents
from tests.index_world import IndexWorld


def test_at_every_moment_of_an_edit_the_document_is_found_just_once() -> None:
    moments = 0
    while True:
        world = IndexWorld()
        world.settle(world.write("a.md", "llamas of old"), world.write("b.md", "vicuñas"))
        edit = world.write("a.md", "llamas anew")
        world.line.strike_after(moments)
        try:
            world.deliver(edit)
        except Death:
            world.line.calm()
            assert world.found("llamas", mode=SearchMode.LEXICAL) == ["a.md"]
        else:
            break
        moments += 1
    assert moments > 8
    assert list(world.text_index.generations(world.vault)) == [
        (path, world.entry(path).generation) for path in ("a.md", "b.md")
    ]


def test_older_passages_that_a_crash_left_are_taken_out_by_a_reconciliation() -> None:
    world = IndexWorld()
    world.settle(world.write("a.md", "llamas of old"))
    world.line.take_down("remove_older")
    world.settle(world.write("a.md", "llamas anew"))
    assert len(list(world.text_index.generations(world.vault))) == 2
    assert world.found("llamas") == ["a.md"]
    world.line.calm()
    assert world.reconciled().outdated == 1
    assert len(list(world.text_index.generations(world.vault))) == 1
    assert world.reconciled().outdated == 0


def test_an_index_that_followed_equals_one_made_anew() -> None:
    world = IndexWorld()
    world.settle(
        world.write("a.md", "# Llamas\n\n[[b]] #wool"),
        world.write("b.md", "alpacas"),
        world.write("gone.md", "guanacos"),
        world.write("photo.md", "BROKEN"),
    )
    world.settle(world.write("a.md", "# Llamas\n\n[[c|d]] #wool/fine\r\nsecond"))
    world.settle(world.delete("gone.md"), world.write("b.md", " "))
    anew = IndexWorld()
    anew.files, anew.clock = world.files, world.clock
    assert anew.reconciled().changed == 3
    followed = contents(world.text_index, world.notes, world.vault)
    assert followed == contents(anew.text_index, anew.notes, anew.vault)
    assert set(followed) == {"a.md", "b.md", "photo.md"}
    note = world.notes.notes(world.vault, [VaultPath("a.md")])[VaultPath("a.md")]
    assert note.tags == ("wool/fine",)
    assert world.notes.text(world.vault, VaultPath("a.md")) == (
        "# Llamas\n\n[[c|d]] #wool/fine\nsecond"
    )
