"""Changes of files on every store: what they promise does not hang on the one in memory."""

import threading

import pytest

from archivolt.domain.confirmation import Confirmed
from archivolt.domain.errors import ConflictError
from archivolt.domain.paths import VaultPath
from archivolt.domain.vault import VaultAccess, VaultRole
from archivolt.ports.files import FileStore
from archivolt.vaults.backups import BackupService
from archivolt.vaults.deletions import DeletionService
from archivolt.vaults.mutations import MutationService
from archivolt.vaults.undeletion import UndeletionService
from tests.builders import ALICE, a_vault
from tests.fakes.catalogue import InMemoryCatalogue
from tests.fakes.clock import FrozenClock
from tests.fakes.operations import InMemoryOperations

ACCESS = VaultAccess(vault=a_vault(vault_id="v1"), user=ALICE, role=VaultRole.OWNER)
VAULT = ACCESS.vault.ref
NOTE = VaultPath("été/à+b (1).md")


def pinned(files: FileStore, path: VaultPath, operation: str) -> Confirmed:
    return Confirmed(operation=operation, pins={path: files.head(VAULT, path).etag})


def test_a_note_lives_from_its_creation_to_its_return(files: FileStore) -> None:
    mutations, backups = MutationService(files), BackupService(files)
    deletions = DeletionService(files, InMemoryOperations(), InMemoryCatalogue(), FrozenClock())
    create = Confirmed(operation="create", pins={NOTE: ""})
    first = mutations.create(ACCESS, NOTE, "one\n", create)
    began = files.head(VAULT, NOTE).created
    edit = pinned(files, NOTE, "edit")
    mutations.edit(ACCESS, NOTE, "two\n", edit)
    append = pinned(files, NOTE, "append")
    mutations.append(ACCESS, NOTE, "three\n", append)

    for _ in range(2):  # each again, as after a crash
        mutations.create(ACCESS, NOTE, "one\n", create)
        mutations.edit(ACCESS, NOTE, "two\n", edit)
        mutations.append(ACCESS, NOTE, "three\n", append)
    assert files.read(VAULT, NOTE).data == b"two\nthree\n"
    assert len(backups.versions(ACCESS, NOTE)) == 3

    delete = pinned(files, NOTE, "delete")
    for _ in range(2):
        deletions.delete(ACCESS, NOTE, delete)
    restore = Confirmed(operation="restore", pins={NOTE: ""})
    for _ in range(2):
        backups.restore(ACCESS, NOTE, first.version, restore)

    restored = files.head(VAULT, NOTE)
    assert files.read(VAULT, NOTE).data == b"one\n"
    assert restored.created == began
    assert [v.deletion for v in backups.versions(ACCESS, NOTE)] == [
        False,
        True,
        False,
        False,
        False,
    ]


def test_a_stale_change_is_a_conflict_with_a_difference(files: FileStore) -> None:
    mutations = MutationService(files)
    files.create(VAULT, NOTE, b"one\n")
    confirmed = pinned(files, NOTE, "edit")
    files.replace(VAULT, NOTE, b"two\n", expected=files.head(VAULT, NOTE).etag)

    with pytest.raises(ConflictError, match="conflict") as caught:
        mutations.edit(ACCESS, NOTE, "mine\n", confirmed)

    assert caught.value.details["etag"] == files.head(VAULT, NOTE).etag
    assert "-two\n+mine\n" in str(caught.value.details["diff"])


def test_a_directory_goes_and_comes_back(files: FileStore) -> None:
    operations = InMemoryOperations()
    deletions = DeletionService(files, operations, InMemoryCatalogue(), FrozenClock())
    undeletions = UndeletionService(files, operations, FrozenClock())
    directory = VaultPath("d")
    paths = [VaultPath(f"d/{name}") for name in ("a.md", "b/c.md", "b/[[.md", "été/🌞.md")]
    for path in paths:
        files.create(VAULT, path, path.encode())
    MutationService(files).create_directory(ACCESS, VaultPath("d/empty"))
    files.create(VAULT, VaultPath("dx.md"), b"outside")

    preview = deletions.preview_delete_directory(ACCESS, directory, recursive=True)
    confirmed = Confirmed(operation="delete", pins=preview.pins)
    for _ in range(2):
        outcome = deletions.delete_directory(ACCESS, directory, confirmed, recursive=True)
        assert (outcome.deleted, outcome.kept) == (4, 0)
    assert not files.list(VAULT, directory, recursive=False, limit=1).exists
    for _ in range(2):
        undeleted = undeletions.undelete_directory(
            ACCESS, directory, Confirmed(operation="undelete")
        )
        assert (undeleted.restored, list(undeleted.skipped)) == (4, [])

    listed = files.list(VAULT, VaultPath(""), recursive=True, limit=100).files
    assert sorted(file.path for file in listed) == sorted([*paths, "dx.md"])
    assert all(files.read(VAULT, path).data == path.encode() for path in paths)


def test_of_two_edits_at_once_one_is_a_conflict(files: FileStore) -> None:
    mutations = MutationService(files)
    files.create(VAULT, NOTE, b"start\n")
    both = [pinned(files, NOTE, f"edit-{number}") for number in range(2)]
    outcomes: list[str] = []

    def edit(confirmed: Confirmed) -> None:
        try:
            mutations.edit(ACCESS, NOTE, f"{confirmed.operation}\n", confirmed)
            outcomes.append("done")
        except ConflictError as error:
            outcomes.append(error.code)

    threads = [threading.Thread(target=edit, args=(confirmed,)) for confirmed in both]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert sorted(outcomes) == ["conflict", "done"]
    assert len(files.versions(VAULT, NOTE)) == 2
