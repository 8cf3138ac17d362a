"""Every version of a file can be listed, compared and restored."""

import pytest

from archivolt.domain.confirmation import Change
from archivolt.domain.errors import (
    ConflictError,
    ForbiddenError,
    NotFoundError,
    UnsupportedContentError,
)
from archivolt.domain.paths import VaultPath
from archivolt.domain.redaction import redact
from archivolt.vaults.backups import BackupService
from tests.builders import BOB
from tests.unit.vaults.desk import Desk

A = VaultPath("a.md")
SECRET = "hunter2!" + "xyz"


class Archive(Desk):
    """A desk with its backups."""

    def __init__(self) -> None:
        super().__init__()
        self.backups = BackupService(self.store)

    def delete(self, path: str) -> None:
        """Delete a file."""
        self.files.delete(self.ref, VaultPath(path), expected=self.etag(path))

    def versions(self) -> list[str]:
        """Return the versions of a.md, oldest first."""
        return [v.version for v in self.backups.versions(self.access(), A)][::-1]


@pytest.fixture
def archive() -> Archive:
    return Archive()


def test_every_version_is_listed_newest_first(archive: Archive) -> None:
    archive.put("a.md", "one\n")
    archive.world.clock.advance(hours=1)
    archive.put("a.md", "two!\n")
    archive.delete("a.md")

    listed = archive.backups.versions(archive.access(BOB), A)

    assert [(v.size, v.current, v.deletion) for v in listed] == [
        (0, True, True),
        (5, False, False),
        (4, False, False),
    ]
    assert (listed[1].modified - listed[2].modified).total_seconds() == 3_600
    with pytest.raises(NotFoundError, match="file_not_found"):
        archive.backups.versions(archive.access(), VaultPath("no.md"))


def test_a_version_is_compared_with_what_the_file_is_or_with_another(archive: Archive) -> None:
    archive.put("a.md", f"one\npassword: {SECRET}\n")
    archive.put("a.md", f"two\npassword: {SECRET}\n")
    archive.put("a.md", "three\n")
    first, second, _ = archive.versions()

    now = archive.backups.diff(archive.access(), A, first).text
    between = archive.backups.diff(archive.access(), A, first, compare_with=second).text

    assert "-one\n" in now
    assert "+three\n" in now
    assert "-one\n+two\n" in between
    assert SECRET not in now + between


def test_a_diff_names_each_version_by_its_date_whatever_the_file_is_called(
    archive: Archive,
) -> None:
    path = "mots de passe.md"
    archive.put(path, "one\n")
    archive.world.clock.advance(hours=1)
    archive.put(path, "two\n")
    place = VaultPath(path)
    first = archive.backups.versions(archive.access(), place)[-1].version

    diff = archive.backups.diff(archive.access(), place, first).text

    assert redact(diff).text.splitlines()[:2] == [
        f"--- {path}\t2026-09-01 08:30:00 UTC",
        f"+++ {path}\t2026-09-01 09:30:00 UTC",
    ]


def test_a_version_of_a_deleted_file_is_compared_with_nothing(archive: Archive) -> None:
    archive.put("a.md", "one\n")
    first = archive.versions()[0]
    archive.delete("a.md")

    diff = archive.backups.diff(archive.access(), A, first).text

    assert "+++ /dev/null\n" in diff
    assert "-one\n" in diff


def test_versions_that_cannot_be_compared_say_why(archive: Archive) -> None:
    archive.put("a.md", b"\x00\x01")
    archive.put("a.md", "text")
    archive.delete("a.md")
    binary, _, marker = archive.versions()

    with pytest.raises(UnsupportedContentError, match="file_not_text"):
        archive.backups.diff(archive.access(), A, binary)
    for version in ("no-such-version", marker):
        with pytest.raises(NotFoundError, match="version_not_found"):
            archive.backups.diff(archive.access(), A, version)
        with pytest.raises(NotFoundError, match="version_not_found"):
            archive.backups.preview_restore(archive.access(), A, version)
        with pytest.raises(NotFoundError, match="version_not_found"):
            archive.backups.restore(archive.access(), A, version, archive.confirmed())


@pytest.mark.parametrize("old", [b"one\r\n", b"\xff\xfea\x00", b"\x00binary\x01"])
def test_an_old_version_becomes_a_new_one(archive: Archive, old: bytes) -> None:
    archive.put("a.md", old)
    archive.put("a.md", "two\n")
    preview = archive.backups.preview_restore(archive.access(), A, archive.versions()[0])

    info = archive.backups.restore(
        archive.access(), A, archive.versions()[0], archive.confirmed(pins=preview.pins)
    )

    assert preview.affected[0].change is Change.EDIT
    assert ("-two\n" in preview.diff) is (b"\x00b" not in old)
    assert archive.files.read(archive.ref, A).data == old
    assert (info.etag, len(archive.versions())) == (archive.etag("a.md"), 3)


def test_a_deleted_file_comes_back(archive: Archive) -> None:
    archive.put("a.md", "one\n")
    archive.delete("a.md")
    preview = archive.backups.preview_restore(archive.access(), A, archive.versions()[0])

    archive.backups.restore(
        archive.access(), A, archive.versions()[0], archive.confirmed(pins=preview.pins)
    )

    assert (preview.affected[0].change, preview.pins) == (Change.CREATE, {"a.md": ""})
    assert archive.contents("a.md") == ["one\n", None, "one\n"]


def test_what_changed_since_is_not_overwritten(archive: Archive) -> None:
    archive.put("a.md", "one\n")
    archive.put("a.md", "two\n")
    first = archive.versions()[0]
    confirmed = archive.confirmed("a.md")
    stale = archive.etag("a.md")
    archive.put("a.md", "three\n")

    with pytest.raises(ConflictError) as caught:
        archive.backups.restore(archive.access(), A, first, confirmed)
    with pytest.raises(ConflictError):
        archive.backups.preview_restore(archive.access(), A, first, etag=stale)
    assert caught.value.details["etag"] == archive.etag("a.md")
    assert "-two\n+three\n" in str(caught.value.details["diff"])

    archive.delete("a.md")
    with pytest.raises(ConflictError, match="conflict"):
        archive.backups.restore(archive.access(), A, first, confirmed)
    archive.put("a.md", "made anew\n")
    with pytest.raises(ConflictError, match="conflict"):
        archive.backups.restore(archive.access(), A, first, archive.confirmed(pins={A: ""}))
    assert archive.text("a.md") == "made anew\n"


def test_a_name_that_became_a_directory_is_not_restored(archive: Archive) -> None:
    archive.put("a.md", "one\n")
    first = archive.versions()[0]
    archive.delete("a.md")
    archive.put("a.md/b.md", "inside")

    with pytest.raises(ConflictError, match="path_taken"):
        archive.backups.preview_restore(archive.access(), A, first)
    with pytest.raises(ConflictError, match="path_taken"):
        archive.backups.restore(archive.access(), A, first, archive.confirmed(pins={A: ""}))


def test_restoring_what_is_current_writes_nothing(archive: Archive) -> None:
    archive.put("a.md", "one\n")

    archive.backups.restore(archive.access(), A, archive.versions()[0], archive.confirmed("a.md"))

    assert archive.contents("a.md") == ["one\n"]


@pytest.mark.parametrize("deleted", [True, False])
def test_a_restoration_that_died_is_finished_once(archive: Archive, *, deleted: bool) -> None:
    archive.put("a.md", "one\n")
    archive.put("a.md", "two\n")
    first = archive.versions()[0]
    if deleted:
        archive.delete("a.md")
    confirmed = archive.confirmed(pins={A: ""}) if deleted else archive.confirmed("a.md")
    before = archive.contents("a.md")

    died = archive.survive(
        lambda again: archive.backups.restore(archive.access(), A, first, again), confirmed
    )
    archive.put("a.md", "later\n")
    archive.backups.restore(archive.access(), A, first, confirmed)

    assert died > 3
    assert archive.contents("a.md") == [*before, "one\n", "later\n"]


def test_a_reader_restores_nothing(archive: Archive) -> None:
    archive.put("a.md", "one\n")
    first = archive.versions()[0]

    with pytest.raises(ForbiddenError, match="vault_read_only"):
        archive.backups.preview_restore(archive.access(BOB), A, first)
    with pytest.raises(ForbiddenError, match="vault_read_only"):
        archive.backups.restore(archive.access(BOB), A, first, archive.confirmed("a.md"))
