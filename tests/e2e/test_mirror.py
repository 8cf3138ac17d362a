"""A folder of this machine and its vault, on the running stack."""

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.e2e.stack import Stack, wait_until


class Notes:
    """The mirrored folder of the shared stack, in a directory of one test's own."""

    def __init__(self, stack: Stack, name: str) -> None:
        self._stack = stack
        self.directory = name
        self.root = stack.vaults["sample"] / name
        self.root.mkdir()

    def write(self, name: str, word: str) -> Path:
        place = self.root / name
        place.write_text(f"# A note\n\nThis note is about {word}.\n", encoding="utf-8")
        return place

    def found(self, word: str) -> list[str]:
        """Return the paths a word is found at, in this directory."""
        hits = self._stack.search(word, mode="lexical", vault="sample", path=self.directory)
        return sorted({hit["path"] for hit in hits})

    def wait(self, word: str, *names: str) -> None:
        wanted = sorted(f"{self.directory}/{name}" for name in names)
        wait_until(lambda: self.found(word) == wanted)


@pytest.fixture
def notes(stack: Stack, request: pytest.FixtureRequest) -> Iterator[Notes]:
    name = str(request.node.name).removeprefix("test_")[:40]
    made = Notes(stack, name)
    yield made
    shutil.rmtree(made.root)


def test_a_dropped_file_is_found(notes: Notes) -> None:
    notes.write("dropped.md", "quokkas")
    notes.wait("quokkas", "dropped.md")


def test_an_edited_file_is_found_by_its_new_words_alone(notes: Notes) -> None:
    notes.write("edited.md", "numbats")
    notes.wait("numbats", "edited.md")
    notes.write("edited.md", "wombats")
    notes.wait("wombats", "edited.md")
    assert notes.found("numbats") == []


def test_a_renamed_file_is_found_once_under_its_new_name(notes: Notes) -> None:
    place = notes.write("before.md", "bilbies")
    notes.wait("bilbies", "before.md")
    place.rename(notes.root / "après.md")
    notes.wait("bilbies", "après.md")


def test_a_deleted_file_is_found_no_more(notes: Notes) -> None:
    place = notes.write("gone.md", "kowaris")
    notes.wait("kowaris", "gone.md")
    place.unlink()
    notes.wait("kowaris")


def test_a_moved_directory_takes_its_files_along(notes: Notes) -> None:
    inner = notes.root / "inner"
    inner.mkdir()
    (inner / "a.md").write_text("# A\n\nAbout mulgaras.\n")
    notes.wait("mulgaras", "inner/a.md")
    inner.rename(notes.root / "outer")
    notes.wait("mulgaras", "outer/a.md")


def test_a_file_born_in_the_vault_survives_the_mirror(stack: Stack, notes: Notes) -> None:
    born = f"{notes.directory}/born.md"
    with stack.client() as client:
        content = {"path": born, "content": "# Born here\n\nAbout potoroos.\n"}
        assert client.post("/api/v1/file/sample", json=content).status_code == 201
    notes.write("beside.md", "bettongs")
    notes.wait("bettongs", "beside.md")
    (notes.root / "beside.md").unlink()
    notes.wait("bettongs")
    assert notes.found("potoroos") == [born]


def test_a_file_of_the_vault_is_not_overwritten_by_one_of_the_folder(
    stack: Stack, notes: Notes
) -> None:
    path = f"{notes.directory}/same.md"
    with stack.client() as client:
        content = {"path": path, "content": "theirs"}
        assert client.post("/api/v1/file/sample", json=content).status_code == 201
        notes.write("same.md", "dunnarts")
        wait_until(lambda: f"{path}: the vault has a version of its own" in stack.output)
        answer = client.get("/api/v1/file/sample/raw", params={"path": path})
    assert answer.text == "theirs"
