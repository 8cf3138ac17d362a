"""Deleting and undeleting: only what was confirmed goes, and all of it can come back."""

from dataclasses import replace

import pytest

from archivolt.domain.confirmation import Confirmed
from archivolt.domain.errors import (
    ConflictError,
    ForbiddenError,
    NotFoundError,
    TooLargeError,
    UnavailableError,
)
from archivolt.domain.paths import VaultPath
from archivolt.vaults import many_files
from archivolt.vaults.deletions import DeletionService
from archivolt.vaults.undeletion import UndeletionService
from tests.builders import BOB
from tests.fakes.files import InMemoryFiles
from tests.unit.vaults.desk import Desk

A = VaultPath("a.md")
D = VaultPath("d")
SECRET = "hunter2!" + "xyz"
TREE = ["d/a.md", "d/b/c.md", "d/b/d/e.md", "d/image.png"]


class Yard(Desk):
    """A desk with what deletes and undeletes."""

    def __init__(self) -> None:
        super().__init__()
        operations = self.faults.across(self.operations)
        self.deletions = DeletionService(
            self.store, operations, self.faults.across(self.world.catalogue), self.world.clock
        )
        self.undeletions = UndeletionService(self.store, operations, self.world.clock)

    def tree(self) -> None:
        """Fill the directory d; e.md and dx are outside of it."""
        for path in [*TREE, "e.md", "dx/a.md"]:
            self.put(path, f"text of {path}")

    def confirm(self, *, recursive: bool = True) -> Confirmed:
        """Confirm that d is deleted."""
        preview = self.deletions.preview_delete_directory(self.access(), D, recursive=recursive)
        return self.confirmed(pins=preview.pins)

    def there(self) -> list[str]:
        """Return the paths of all files."""
        page = self.files.list(self.ref, VaultPath(""), recursive=True, limit=1_000)
        return [file.path for file in page.files]


@pytest.fixture
def yard() -> Yard:
    return Yard()


def test_a_resumed_deletion_leaves_alone_what_was_brought_back_since(yard: Yard) -> None:
    yard.put("a.md", "one\n")
    confirmed = yard.confirmed("a.md")
    yard.deletions.delete(yard.access(), A, confirmed)
    yard.put("a.md", "one\n")

    yard.deletions.delete(yard.access(), A, replace(confirmed, resumed=True))

    assert yard.contents("a.md") == ["one\n", None, "one\n"]


def test_a_deleted_file_stays_in_its_versions(yard: Yard) -> None:
    yard.put("a.md", f"one\npassword: {SECRET}\n")
    preview = yard.deletions.preview_delete(yard.access(), A)

    yard.deletions.delete(yard.access(), A, yard.confirmed(pins=preview.pins))

    assert "-one" in preview.diff
    assert SECRET not in preview.diff
    assert yard.contents("a.md") == [f"one\npassword: {SECRET}\n", None]


def test_a_file_that_changed_is_not_deleted(yard: Yard) -> None:
    yard.put("a.md", "one\n")
    confirmed = yard.confirmed("a.md")
    yard.put("a.md", "two\n")

    with pytest.raises(ConflictError) as caught:
        yard.deletions.delete(yard.access(), A, confirmed)
    with pytest.raises(ConflictError) as proposed:
        yard.deletions.preview_delete(yard.access(), A, etag=confirmed.pins["a.md"])

    for error in (caught.value, proposed.value):
        assert error.details["etag"] == yard.etag("a.md")
        assert "-one\n+two\n" in str(error.details["diff"])
    assert yard.text("a.md") == "two\n"


def test_a_file_that_is_not_there_is_not_found(yard: Yard) -> None:
    with pytest.raises(NotFoundError, match="file_not_found"):
        yard.deletions.preview_delete(yard.access(), A)
    with pytest.raises(NotFoundError, match="file_not_found"):
        yard.deletions.delete(yard.access(), A, yard.confirmed(pins={A: "e"}))


def test_a_deletion_that_died_is_finished_once(yard: Yard) -> None:
    yard.put("a.md", "one\n")

    died = yard.survive(
        lambda confirmed: yard.deletions.delete(yard.access(), A, confirmed),
        yard.confirmed("a.md"),
    )

    assert died >= 2
    assert yard.contents("a.md") == ["one\n", None]


def test_a_file_made_after_a_deletion_that_died_is_not_deleted(yard: Yard) -> None:
    yard.put("a.md", "one\n")
    confirmed = yard.confirmed("a.md")
    yard.deletions.delete(yard.access(), A, confirmed)
    yard.put("a.md", "new\n")

    yard.deletions.delete(yard.access(), A, confirmed)

    assert yard.contents("a.md") == ["one\n", None, "new\n"]


def test_a_directory_goes_with_all_that_is_in_it_and_nothing_else(yard: Yard) -> None:
    yard.tree()
    yard.files.make_directory(yard.ref, VaultPath("d/empty/deep"))
    preview = yard.deletions.preview_delete_directory(yard.access(), D, recursive=True)

    outcome = yard.deletions.delete_directory(
        yard.access(), D, yard.confirmed(pins=preview.pins), recursive=True
    )

    assert [affected.path for affected in preview.affected] == sorted(TREE)
    assert (outcome.deleted, outcome.kept) == (4, 0)
    assert yard.there() == ["dx/a.md", "e.md"]
    assert not yard.files.list(yard.ref, D, recursive=False, limit=1).exists
    assert all(yard.contents(path) == [f"text of {path}", None] for path in TREE)


def test_what_changed_or_came_since_the_confirmation_is_kept_and_told(yard: Yard) -> None:
    yard.tree()
    confirmed = yard.confirm()
    yard.put("d/a.md", "changed")
    yard.put("d/b/new.md", "new")

    outcome = yard.deletions.delete_directory(yard.access(), D, confirmed, recursive=True)

    assert (outcome.deleted, outcome.kept) == (3, 2)
    assert outcome.kept_files == ["d/a.md", "d/b/new.md"]
    assert (yard.text("d/a.md"), yard.text("d/b/new.md")) == ("changed", "new")


def test_a_directory_with_something_in_it_needs_the_word(yard: Yard) -> None:
    yard.tree()
    yard.files.make_directory(yard.ref, VaultPath("x/empty"))

    for path in (D, VaultPath("x")):
        with pytest.raises(ConflictError, match="directory_not_empty"):
            yard.deletions.preview_delete_directory(yard.access(), path, recursive=False)
        with pytest.raises(ConflictError, match="directory_not_empty"):
            yard.deletions.delete_directory(yard.access(), path, yard.confirmed(), recursive=False)
    yard.deletions.delete_directory(
        yard.access(), VaultPath("x/empty"), yard.confirmed(), recursive=False
    )
    assert not yard.files.list(yard.ref, VaultPath("x/empty"), recursive=False, limit=1).exists
    with pytest.raises(NotFoundError, match="directory_not_found"):
        yard.deletions.preview_delete_directory(yard.access(), VaultPath("no"), recursive=True)


def test_a_deletion_of_a_directory_that_died_is_finished(yard: Yard) -> None:
    yard.tree()
    confirmed = yard.confirm()

    died = yard.survive(
        lambda again: yard.deletions.delete_directory(yard.access(), D, again, recursive=True),
        confirmed,
    )

    assert died > 8
    assert yard.there() == ["dx/a.md", "e.md"]
    assert all(yard.contents(path) == [f"text of {path}", None] for path in TREE)
    again = yard.deletions.delete_directory(yard.access(), D, confirmed, recursive=True)
    assert (again.deleted, again.kept) == (4, 0)


class SlowFiles(InMemoryFiles):
    """Files of which each deletion and copy takes a second."""

    def delete(self, *args: object, **kwargs: object) -> None:  # type: ignore[override]
        super().delete(*args, **kwargs)  # type: ignore[arg-type]
        self._clock.advance(seconds=1)  # type: ignore[attr-defined]


def test_a_large_directory_goes_in_several_calls_and_tells_how_far_it_is(yard: Yard) -> None:
    files = SlowFiles(yard.world.clock)
    deletions = DeletionService(files, yard.operations, yard.world.catalogue, yard.world.clock)
    for number in range(150):
        files.create(yard.ref, VaultPath(f"d/{number}.md"), b"x")
    preview = deletions.preview_delete_directory(yard.access(), D, recursive=True)
    confirmed = yard.confirmed(pins=preview.pins)

    told: list[object] = []
    for _ in range(2):
        with pytest.raises(UnavailableError, match="operation_unfinished") as caught:
            deletions.delete_directory(yard.access(), D, confirmed, recursive=True)
        told.append((caught.value.details["done"], caught.value.details["total"]))
        (operation,) = yard.operations.operations(yard.ref)
        assert operation.done == caught.value.details["done"]
    outcome = deletions.delete_directory(yard.access(), D, confirmed, recursive=True)

    assert told == [(64, 150), (128, 150)]
    assert outcome.deleted == 150
    assert preview.affected_total == 150
    assert len(preview.affected) == 50
    assert yard.operations.unfinished() == []


def test_more_files_than_one_change_takes_are_refused(
    yard: Yard, monkeypatch: pytest.MonkeyPatch
) -> None:
    yard.tree()
    monkeypatch.setattr(many_files, "MAX_TREE_FILES", 3)

    with pytest.raises(TooLargeError, match="too_many_files"):
        yard.deletions.preview_delete_directory(yard.access(), D, recursive=True)


def test_a_deleted_directory_comes_back_as_it_was(yard: Yard) -> None:
    yard.tree()
    yard.deletions.delete_directory(yard.access(), D, yard.confirm(), recursive=True)

    undeleted = yard.undeletions.undelete_directory(yard.access(), D, yard.confirmed())

    assert (undeleted.restored, list(undeleted.skipped)) == (4, [])
    assert yard.there() == sorted([*TREE, "dx/a.md", "e.md"])
    assert all(yard.text(path) == f"text of {path}" for path in TREE)


def test_what_was_deleted_long_before_stays_deleted_where_a_time_is_given(yard: Yard) -> None:
    yard.tree()
    path = VaultPath("d/a.md")
    yard.deletions.delete(yard.access(), path, yard.confirmed(path))
    yard.world.clock.advance(hours=1)
    since = yard.world.clock.now()
    yard.deletions.delete_directory(yard.access(), D, yard.confirm(), recursive=True)

    yard.undeletions.undelete_directory(yard.access(), D, yard.confirmed(), since=since)

    assert yard.text("d/a.md") is None
    assert yard.text("d/b/c.md") == "text of d/b/c.md"


def test_what_took_the_place_of_a_deleted_file_stays(yard: Yard) -> None:
    yard.tree()
    yard.deletions.delete_directory(yard.access(), D, yard.confirm(), recursive=True)
    yard.put("d/a.md", "new")
    yard.put("d/b/c.md/x.md", "now a directory")
    yard.put("d/b/d", "now a file")

    undeleted = yard.undeletions.undelete_directory(yard.access(), D, yard.confirmed())

    assert yard.text("d/a.md") == "new"
    assert yard.text("d/image.png") == "text of d/image.png"
    assert [(a.path, a.reason) for a in undeleted.skipped] == [
        ("d/b/c.md", "name_taken"),
        ("d/b/d/e.md", "name_taken"),
    ]


def test_an_undeletion_that_died_is_finished(yard: Yard) -> None:
    yard.tree()
    yard.deletions.delete_directory(yard.access(), D, yard.confirm(), recursive=True)

    died = yard.survive(
        lambda again: yard.undeletions.undelete_directory(yard.access(), D, again),
        yard.confirmed(),
    )

    assert died > 8
    assert all(yard.contents(path) == [f"text of {path}", None, f"text of {path}"] for path in TREE)
    assert yard.operations.unfinished() == []


def test_nothing_comes_back_where_nothing_was_deleted(yard: Yard) -> None:
    with pytest.raises(NotFoundError, match="directory_not_found"):
        yard.undeletions.undelete_directory(yard.access(), D, yard.confirmed())


def test_a_reader_deletes_and_undeletes_nothing(yard: Yard) -> None:
    yard.tree()
    access, confirmed = yard.access(BOB), yard.confirmed("e.md")

    for call in (
        lambda: yard.deletions.preview_delete(access, VaultPath("e.md")),
        lambda: yard.deletions.delete(access, VaultPath("e.md"), confirmed),
        lambda: yard.deletions.preview_delete_directory(access, D, recursive=True),
        lambda: yard.deletions.delete_directory(access, D, confirmed, recursive=True),
        lambda: yard.undeletions.undelete_directory(access, D, confirmed),
    ):
        with pytest.raises(ForbiddenError, match="vault_read_only"):
            call()


def test_a_finished_undeletion_brings_nothing_back_again(yard: Yard) -> None:
    yard.tree()
    yard.deletions.delete_directory(yard.access(), D, yard.confirm(), recursive=True)
    confirmed = yard.confirmed()
    yard.undeletions.undelete_directory(yard.access(), D, confirmed)
    yard.files.delete(yard.ref, VaultPath("d/a.md"), expected=yard.etag("d/a.md"))

    again = yard.undeletions.undelete_directory(yard.access(), D, confirmed)

    assert again.restored == len(TREE) - 1
    assert yard.text("d/a.md") is None


def test_an_operation_of_another_kind_is_not_gone_on_with(yard: Yard) -> None:
    yard.tree()
    deletion = yard.confirm()
    yard.deletions.delete_directory(yard.access(), D, deletion, recursive=True)

    with pytest.raises(NotFoundError, match="operation_not_found"):
        yard.undeletions.undelete_directory(yard.access(), D, deletion)
    assert yard.text("d/a.md") is None
