"""The texts of contexts are read once while their files stay what they were (O13)."""

from threading import Event

import pytest

from archivolt.chat.context_texts import ContextTexts
from archivolt.chat.requests import ContextKind, Place, PlaceKind, TurnRequest
from archivolt.chat.scope import ScopeCollector
from archivolt.domain.errors import NotFoundError
from archivolt.domain.identity import Principal
from archivolt.domain.limits import (
    CONTEXT_TEXT_SECONDS,
    MAX_CONTEXT_FILE_CHARS,
    MAX_KEPT_CONTEXT_CHARS,
)
from archivolt.domain.paths import VaultPath
from archivolt.domain.vault import FileInfo, Listing, VaultAccess, VaultRole
from archivolt.vaults.files import TextPart
from archivolt.vaults.kept_texts import KeptTexts
from tests.builders import ALICE, BOB, principal
from tests.chat_world import ChatWorld

PATH = VaultPath("a.md")


def kept_of(world: ChatWorld) -> KeptTexts:
    return KeptTexts(world.catalogue, lambda: world.notes)


class CountedFiles:
    """Files that remember what was read of them."""

    def __init__(self, world: ChatWorld) -> None:
        self._files = world.files
        self.read: list[str] = []

    def info(self, access: VaultAccess, path: VaultPath) -> FileInfo:
        return self._files.info(access, path)

    def list_directory(
        self, access: VaultAccess, directory: VaultPath, *, limit: int, recursive: bool
    ) -> Listing:
        return self._files.list_directory(access, directory, limit=limit, recursive=recursive)

    def read_text(
        self, access: VaultAccess, path: VaultPath, *, offset: int = 0, limit: int | None = None
    ) -> TextPart:
        self.read.append(path)
        return self._files.read_text(access, path, offset=offset, limit=limit)


class Reading:
    """Alice reads notes for a context."""

    def __init__(self) -> None:
        self.world = ChatWorld()
        self.notes = self.world.vault("notes")
        self.first = self.world.write(self.notes, PATH, "one")
        self.files = CountedFiles(self.world)
        self.texts = ContextTexts(self.files, kept_of(self.world), self.world.clock)
        self.access = self.world.vaults.access(principal(ALICE), "notes")

    def text(self, path: str = PATH) -> str:
        return self.texts.read(self.access, VaultPath(path), etag=None).text


def test_a_file_that_stays_is_read_once() -> None:
    reading = Reading()

    assert [reading.text(), reading.text()] == ["one", "one"]
    assert reading.files.read == [PATH]


def test_a_file_that_changes_is_read_again() -> None:
    reading = Reading()
    reading.text()
    changed = reading.world.store.replace(reading.notes, PATH, b"two", expected=reading.first.etag)

    assert reading.text() == "two"
    assert reading.texts.read(reading.access, PATH, etag=changed.etag).text == "two"
    assert reading.files.read == [PATH, PATH]


def test_a_file_that_is_gone_is_not_found_although_its_text_is_kept() -> None:
    reading = Reading()
    reading.text()
    reading.world.store.delete(reading.notes, PATH, expected=reading.first.etag)

    with pytest.raises(NotFoundError):
        reading.text()


def test_a_text_is_kept_for_five_minutes() -> None:
    reading = Reading()
    reading.text()
    reading.world.clock.advance(seconds=CONTEXT_TEXT_SECONDS - 1)
    reading.text()
    reading.world.clock.advance(seconds=1)
    reading.text()

    assert reading.files.read == [PATH, PATH]


def test_what_is_kept_has_a_bound_and_what_was_used_longest_ago_goes_first() -> None:
    reading = Reading()
    count = MAX_KEPT_CONTEXT_CHARS // MAX_CONTEXT_FILE_CHARS
    for number in range(count):
        reading.world.write(reading.notes, f"{number}.md", "x" * MAX_CONTEXT_FILE_CHARS)
    reading.text()
    for number in range(count):
        reading.text()
        reading.text(f"{number}.md")
    read = len(reading.files.read)

    reading.text()
    reading.text("0.md")

    assert reading.files.read[read:] == ["0.md"]


def test_a_context_reads_its_files_once_and_proves_the_right_to_each_time() -> None:
    world = ChatWorld()
    notes = world.vault("notes")
    world.write(notes, "a/one.md", "one")
    world.write(notes, "two.md", "two")
    places = (
        Place(kind=PlaceKind.DIRECTORY, vault="notes", path="a"),
        Place(kind=PlaceKind.FILE, vault="notes", path="two.md"),
    )
    request = TurnRequest(text="", context=ContextKind.DOCUMENTS, places=places)
    files = CountedFiles(world)
    scopes = ScopeCollector(world.vaults, files, kept_of(world), world.clock)

    first = scopes.collect(principal(ALICE), request)

    assert scopes.collect(principal(ALICE), request) == first
    assert sorted(files.read) == ["a/one.md", "two.md"]
    with pytest.raises(NotFoundError):
        scopes.collect(principal(BOB), request)


class Looked:
    """Vaults whose members are looked at once a file is being read, after the first time."""

    def __init__(self, world: ChatWorld) -> None:
        self._vaults = world.vaults
        self.is_read = Event()
        self.is_read.set()

    def access(self, principal: Principal, name: str) -> VaultAccess:
        assert self.is_read.wait(30), "the file is read after the look"
        return self._vaults.access(principal, name)


def test_what_is_asked_about_again_is_read_while_its_vault_is_looked_at() -> None:
    reading = Reading()
    vaults, files = Looked(reading.world), reading.files
    collector = ScopeCollector(vaults, files, kept_of(reading.world), reading.world.clock)
    place = Place(kind=PlaceKind.FILE, vault="notes", path=PATH)
    request = TurnRequest(text="?", context=ContextKind.DOCUMENTS, places=(place,))
    first = collector.collect(principal(ALICE), request)
    vaults.is_read.clear()

    def read(access: VaultAccess, path: VaultPath) -> FileInfo:
        vaults.is_read.set()
        return reading.world.files.info(access, path)

    files.info = read

    assert collector.collect(principal(ALICE), request) == first


def test_who_is_no_member_any_more_is_told_nothing_of_what_they_asked_about() -> None:
    reading = Reading()
    world = reading.world
    collector = ScopeCollector(world.vaults, reading.files, kept_of(world), world.clock)
    place = Place(kind=PlaceKind.FILE, vault="notes", path=PATH)
    request = TurnRequest(text="?", context=ContextKind.DOCUMENTS, places=(place,))
    reading.world.directory.set_member(reading.notes, BOB, VaultRole.OWNER)
    collector.collect(principal(ALICE), request)

    reading.world.directory.remove_member(reading.notes, ALICE)

    with pytest.raises(NotFoundError) as refused:
        collector.collect(principal(ALICE), request)
    assert refused.value.code == "vault_not_found"
    reading.world.directory.set_member(reading.notes, ALICE, VaultRole.READER)
    assert collector.collect(principal(ALICE), request) is not None
