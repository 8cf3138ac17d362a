"""What is asked of the index, and what is read because the index may not know it yet."""

from datetime import timedelta

import pytest

from archivolt.domain.errors import UnavailableError
from archivolt.domain.note_links import link_key
from archivolt.domain.paths import VaultPath
from archivolt.vaults.present_notes import PresentNotes
from tests.fakes.faults import FaultLine
from tests.world import World

A, B = VaultPath("a.md"), VaultPath("b.md")


class Library:
    """A vault in which `a.md` leads to `b.md`; its files cannot be read until they may."""

    def __init__(self) -> None:
        self.world = World()
        self.ref = self.world.vault("notes")
        self.world.write(self.ref, A, "[[b]]")
        self.world.write(self.ref, B, "nothing")
        self.line = FaultLine()
        self.line.take_down("read")

    def who_links_to_b(self) -> list[VaultPath]:
        files = self.line.across(self.world.store)
        present = PresentNotes(files, self.world.notes, self.world.clock, self.ref)
        return [path for path, _ in present.links_to([link_key(B)])]


def test_a_note_that_the_index_knows_is_not_read_again() -> None:
    library = Library()
    library.world.clock.advance(seconds=5)
    assert library.who_links_to_b() == [A]


def test_a_note_that_the_index_does_not_know_yet_is_read() -> None:
    library = Library()
    library.world.store.create(library.ref, VaultPath("late.md"), b"see [[b]]")
    library.world.clock.advance(seconds=5)
    with pytest.raises(UnavailableError):
        library.who_links_to_b()
    library.line.calm()
    assert library.who_links_to_b() == [A, "late.md"]


def test_a_version_that_the_index_does_not_know_yet_is_read() -> None:
    library = Library()
    library.world.clock.advance(minutes=1)
    etag = library.world.store.head(library.ref, A).etag
    library.world.store.replace(library.ref, A, b"no link", expected=etag)
    library.world.clock.advance(seconds=5)
    library.line.calm()
    assert library.who_links_to_b() == []


def test_a_note_of_this_very_second_is_read_whatever_the_index_says() -> None:
    library = Library()
    with pytest.raises(UnavailableError):
        library.who_links_to_b()


def test_after_a_quarter_of_an_hour_the_index_is_believed() -> None:
    library = Library()
    library.world.store.create(library.ref, VaultPath("late.md"), b"see [[b]]")
    library.world.clock.advance(seconds=timedelta(minutes=16).total_seconds())
    assert library.who_links_to_b() == [A]
