"""Of a changing document a search finds one generation at any moment; in the end, one is left."""

from collections.abc import Callable
from dataclasses import replace
from typing import ParamSpec, TypeVar

import pytest

from archivolt.domain.paths import VaultPath
from archivolt.domain.search import SearchMode
from archivolt.ports.ingestion import Extraction
from tests.fakes.extraction import ScriptedExtractor
from tests.fakes.faults import Death
from tests.index_contents import contents
from tests.index_world import IndexWorld
from tests.product_world import ProductWorld

P = ParamSpec("P")
R = TypeVar("R")


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


def test_of_what_was_read_in_part_and_is_read_again_no_former_text_is_shown() -> None:
    class Recognising(ScriptedExtractor):
        def extract(self, data: bytes, *, name: str) -> Extraction:
            read = super().extract(data, name=name)
            some = ("llamas of old", "llamas anew", "llamas anew, all")[len(self.extracted) - 1]
            unread = 0 if some.endswith("all") else 1
            return replace(read, markdown=some, unread_pages=unread)

    world = IndexWorld()
    world.extractor = Recognising()
    scan = replace(world.write("a.md", "a scan"), sequencer=None, anew=True)
    world.deliver(scan)
    world.embed()
    for expected in ("llamas anew", "llamas anew, all"):
        world.deliver(scan)
        assert world.entry("a.md").passages == 1
        for mode in (SearchMode.LEXICAL, SearchMode.HYBRID):
            assert [hit.excerpt for hit in world.search("llamas", mode=mode).hits] == [expected]
        world.embed()


def followed(call: Callable[P, R], act: Callable[[], None]) -> Callable[P, R]:
    """Return the call with an act after it."""

    def call_and_act(*args: P.args, **kwargs: P.kwargs) -> R:
        result = call(*args, **kwargs)
        act()
        return result

    return call_and_act


@pytest.mark.parametrize("move", [True, False])
def test_what_changes_while_a_search_looks_is_found_by_it(
    monkeypatch: pytest.MonkeyPatch, *, move: bool
) -> None:
    world = ProductWorld()
    world.put("a.md", "llamas of old")
    world.settle_all()
    looks = 0

    def go_on() -> None:
        """Let the index move on between the list and the look into the catalogue."""
        nonlocal looks
        looks += 1
        if looks % 2 == 0:
            return
        if not move:
            world.put("a.md", f"llamas anew {looks}")
        elif "b.md" in world.texts():
            world.move("b.md", "a.md")
        else:
            world.move("a.md", "b.md")
        world.settle_all()

    monkeypatch.setattr(world.text_index, "search", followed(world.text_index.search, go_on))
    for mode in (SearchMode.LEXICAL, SearchMode.HYBRID):
        assert len(world.found("llamas", mode=mode)) == 1
    assert len(world.text_search.search([world.access()], "llamas").hits) == 1
    assert looks == 6


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
