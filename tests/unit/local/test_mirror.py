"""A folder and its vault: what is written, what is left alone."""

import os
import unicodedata
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest

from archivolt.domain.errors import NotFoundError
from archivolt.domain.paths import VaultPath
from archivolt_local.mirror.changes import Change, Remove, Write, differences, differences_at
from archivolt_local.mirror.folder import MirroredFolder
from archivolt_local.mirror.manifest import Manifest
from archivolt_local.mirror.writer import Outcome, VaultWriter, described
from tests.builders import vault_ref
from tests.fakes.files import InMemoryFiles


class Mirror:
    """A folder, a vault, and what carries one into the other."""

    def __init__(self, root: Path) -> None:
        self.root = root / "folder"
        self.root.mkdir()
        self.vault = vault_ref()
        self.files = InMemoryFiles()
        self.manifest = Manifest.of_vault(root / "records", self.vault.id)
        self.folder = MirroredFolder(self.root)
        self.writer = VaultWriter(self.vault, self.files, self.manifest)

    def write(self, path: str, text: str = "text") -> Path:
        place = self.root / path
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(text)
        return place

    def sync(self, *, bulk: bool = False) -> dict[str, Outcome]:
        changes = differences(self.folder.scan(), self.manifest.all(), bulk=bulk)
        return {described(change): self.writer.apply(change) for change in changes}

    def text(self, path: str) -> str:
        return self.files.read(self.vault, VaultPath(path)).data.decode()

    def paths(self) -> list[str]:
        listing = self.files.list(self.vault, VaultPath(""), recursive=True, limit=1000)
        return [info.path for info in listing.files]


@pytest.fixture
def mirror(tmp_path: Path) -> Iterator[Mirror]:
    made = Mirror(tmp_path)
    yield made
    made.manifest.close()


def test_every_file_of_the_folder_comes_into_the_vault(mirror: Mirror) -> None:
    mirror.write("a.md", "one")
    mirror.write("deep/er/b.md", "two")
    assert set(mirror.sync().values()) == {Outcome.DONE}
    assert mirror.paths() == ["a.md", "deep/er/b.md"]
    assert mirror.text("deep/er/b.md") == "two"


def test_a_second_look_changes_nothing(mirror: Mirror) -> None:
    mirror.write("a.md")
    mirror.sync()
    assert mirror.sync() == {}


def test_a_file_that_was_only_touched_is_not_written_again(mirror: Mirror) -> None:
    place = mirror.write("a.md")
    mirror.sync()
    before = mirror.files.head(mirror.vault, VaultPath("a.md"))
    os.utime(place, ns=(1, 1))
    assert mirror.sync() == {"a.md": Outcome.NOTHING_TO_DO}
    assert mirror.files.head(mirror.vault, VaultPath("a.md")) == before


def test_an_edit_replaces_what_the_mirror_wrote(mirror: Mirror) -> None:
    mirror.write("a.md", "old")
    mirror.sync()
    mirror.write("a.md", "newer")
    assert mirror.sync() == {"a.md": Outcome.DONE}
    assert mirror.text("a.md") == "newer"


def test_a_deleted_file_leaves_the_vault(mirror: Mirror) -> None:
    mirror.write("a.md").unlink()
    place = mirror.write("b.md")
    mirror.sync()
    place.unlink()
    assert mirror.sync() == {"b.md": Outcome.DONE}
    assert mirror.paths() == []


def test_a_renamed_file_is_under_its_new_name_before_the_old_one_goes(mirror: Mirror) -> None:
    place = mirror.write("old.md")
    mirror.sync()
    place.rename(mirror.root / "new.md")
    changes = differences(mirror.folder.scan(), mirror.manifest.all(), bulk=False)
    assert [(type(change), described(change)) for change in changes] == [
        (Write, "new.md"),
        (Remove, "old.md"),
    ]


def test_a_file_born_in_the_vault_survives(mirror: Mirror) -> None:
    mirror.files.create(mirror.vault, VaultPath("born-here.md"), b"theirs")
    mirror.write("a.md").unlink()
    mirror.sync()
    assert mirror.text("born-here.md") == "theirs"


def test_a_file_of_the_vault_with_the_same_name_is_not_overwritten(mirror: Mirror) -> None:
    mirror.files.create(mirror.vault, VaultPath("a.md"), b"theirs")
    mirror.write("a.md", "ours")
    assert mirror.sync() == {"a.md": Outcome.NOT_OURS}
    mirror.write("a.md", "ours again")
    assert mirror.sync() == {"a.md": Outcome.NOT_OURS}
    (mirror.root / "a.md").unlink()
    mirror.sync()
    assert mirror.text("a.md") == "theirs"


def test_a_file_edited_in_the_vault_is_neither_overwritten_nor_deleted(mirror: Mirror) -> None:
    place = mirror.write("a.md", "ours")
    mirror.sync()
    etag = mirror.files.head(mirror.vault, VaultPath("a.md")).etag
    mirror.files.replace(mirror.vault, VaultPath("a.md"), b"theirs", expected=etag)
    mirror.write("a.md", "ours, edited")
    assert mirror.sync() == {"a.md": Outcome.NOT_OURS}
    place.unlink()
    mirror.sync()
    assert mirror.text("a.md") == "theirs"


def test_a_file_deleted_in_the_vault_stays_deleted_until_it_changes(mirror: Mirror) -> None:
    mirror.write("a.md", "one")
    mirror.sync()
    etag = mirror.files.head(mirror.vault, VaultPath("a.md")).etag
    mirror.files.delete(mirror.vault, VaultPath("a.md"), expected=etag)
    mirror.write("a.md", "two")
    assert mirror.sync() == {"a.md": Outcome.NOT_OURS}
    assert mirror.sync() == {}
    with pytest.raises(NotFoundError):
        mirror.text("a.md")
    mirror.write("a.md", "three")
    assert mirror.sync() == {"a.md": Outcome.DONE}
    assert mirror.text("a.md") == "three"


def test_a_write_whose_record_was_lost_is_taken_as_ours(mirror: Mirror) -> None:
    mirror.write("a.md", "same")
    mirror.sync()
    mirror.manifest.forget(VaultPath("a.md"))
    assert mirror.sync() == {"a.md": Outcome.NOTHING_TO_DO}
    (mirror.root / "a.md").unlink()
    assert mirror.sync() == {"a.md": Outcome.DONE}


def test_a_file_that_changes_while_it_is_read_is_not_written(mirror: Mirror) -> None:
    place = mirror.write("a.md", "first")
    (change,) = differences(mirror.folder.scan(), {}, bulk=False)
    place.write_text("first and more")
    assert mirror.writer.apply(change) is Outcome.UNSTABLE
    assert mirror.paths() == []


def test_the_record_survives_the_process(mirror: Mirror, tmp_path: Path) -> None:
    mirror.write("a.md")
    mirror.sync()
    mirror.manifest.close()
    again = Manifest.of_vault(tmp_path / "records", mirror.vault.id)
    assert set(again.all()) == {"a.md"}
    again.close()


def test_dotfiles_and_links_out_of_the_folder_stay_out(mirror: Mirror, tmp_path: Path) -> None:
    secret = tmp_path / "secret.md"
    secret.write_text("outside")
    mirror.write(".hidden/a.md")
    mirror.write(".env")
    mirror.write("inside.md")
    (mirror.root / "out.md").symlink_to(secret)
    (mirror.root / "in.md").symlink_to(mirror.root / "inside.md")
    (mirror.root / "loop").symlink_to(mirror.root, target_is_directory=True)
    scan = mirror.folder.scan()
    assert set(scan.files) == {"inside.md", "in.md"}
    assert scan.left_out == {"out.md": "a link out of the folder"}


def test_a_file_reached_through_a_linked_directory_is_not_looked_at(
    mirror: Mirror, tmp_path: Path
) -> None:
    outside = tmp_path / "elsewhere"
    outside.mkdir()
    (outside / "a.md").write_text("outside")
    (mirror.root / "linked").symlink_to(outside, target_is_directory=True)
    scan = mirror.folder.look_at(iter([mirror.root / "linked" / "a.md", mirror.root / "linked"]))
    assert scan.files == {}


def test_names_are_composed_and_two_forms_of_one_name_are_told(mirror: Mirror) -> None:
    decomposed = unicodedata.normalize("NFD", "été.md")
    composed = unicodedata.normalize("NFC", "été.md")
    mirror.write(decomposed, "one")
    if not (mirror.root / composed).exists():
        mirror.write(composed, "two")
    scan = mirror.folder.scan()
    assert list(scan.files) == [composed]
    assert list(scan.left_out) == [composed]


def test_a_name_no_vault_takes_is_told_and_left_out(mirror: Mirror) -> None:
    mirror.write("trailing space .md ")
    mirror.write("back\\slash.md")
    mirror.write("fine.md")
    scan = mirror.folder.scan()
    assert set(scan.files) == {"fine.md"}
    assert set(scan.left_out) == {"trailing space .md ", "back\\slash.md"}


def test_a_directory_that_goes_takes_its_files_with_it(mirror: Mirror) -> None:
    mirror.write("sub/a.md")
    mirror.write("sub/deep/b.md")
    mirror.write("subway.md")
    mirror.sync()
    changes = differences_at(["sub"], mirror.folder.look_at(iter([])), mirror.manifest.all())
    assert [described(change) for change in changes] == ["sub/a.md", "sub/deep/b.md"]


def test_a_directory_and_its_own_file_looked_at_together_leave_nothing_out(mirror: Mirror) -> None:
    place = mirror.write("new/a.md")
    scan = mirror.folder.look_at(iter([place, place.parent, place]))
    assert (list(scan.files), scan.left_out) == ([VaultPath("new/a.md")], {})


def test_a_look_at_one_place_says_nothing_about_others(mirror: Mirror) -> None:
    mirror.write("a.md")
    mirror.write("b.md")
    mirror.sync()
    place = mirror.write("a.md", "changed")
    changes: list[Change] = differences_at(
        ["a.md"], mirror.folder.look_at(iter([place])), mirror.manifest.all()
    )
    assert [(type(change), described(change)) for change in changes] == [(Write, "a.md")]


def test_a_document_keeps_the_birth_its_file_told_first(mirror: Mirror) -> None:
    place = mirror.write("a.md")
    born = datetime(2020, 2, 29, 12, tzinfo=UTC)
    os.utime(place, (born.timestamp(), born.timestamp()))
    mirror.sync()
    mirror.write("a.md", "another")
    mirror.sync()
    info = mirror.files.head(mirror.vault, VaultPath("a.md"))
    assert (info.created, mirror.text("a.md")) == (born, "another")


def test_a_first_load_is_marked_as_bulk(mirror: Mirror) -> None:
    mirror.write("a.md")
    (change,) = differences(mirror.folder.scan(), {}, bulk=True)
    assert isinstance(change, Write)
    assert change.bulk
