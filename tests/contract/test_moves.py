"""Moves on the real stores: a tree with odd names, two moves at once, edits in between."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from datetime import UTC, datetime

import pytest

from archivolt.adapters.dynamodb.operations import DynamoOperations
from archivolt.adapters.s3.files import S3Files
from archivolt.domain.confirmation import Confirmed
from archivolt.domain.errors import ConflictError, NotFoundError
from archivolt.domain.paths import ROOT, VaultPath
from archivolt.domain.vault import VaultAccess, VaultRole
from archivolt.vaults.move_requests import MoveRequest, move_into, rename_of_directory
from archivolt.vaults.move_run import MoveResult
from archivolt.vaults.move_steps import MoveStores
from archivolt.vaults.moving import MoveService
from archivolt.vaults.mutations import MutationService
from tests.builders import ALICE, a_vault
from tests.contract.conftest import MINISTACK, NewBucket, NewTable
from tests.fakes.catalogue import InMemoryCatalogue
from tests.fakes.clock import FrozenClock
from tests.fakes.notes import InMemoryNotes

VAULT = a_vault()
# Earlier than any file is written: all of them are read, and none is looked up in the index.
LONG_AGO = FrozenClock(datetime(2000, 1, 1, tzinfo=UTC))
ODD = ["[[.md", "%.md", "à+b (1).md", "😀.md", "x" * 240 + ".md", "a+b c.png", "LICENSE"]


class RealVault:
    """A vault in a bucket, its operations in a table; the index knows nothing yet."""

    def __init__(self, files: S3Files, operations: DynamoOperations) -> None:
        self.files = files
        self.operations = operations
        stores = MoveStores(
            files=files,
            catalogue=InMemoryCatalogue(),
            notes=InMemoryNotes(),
            operations=operations,
            clock=LONG_AGO,
        )
        self.service = MoveService(stores)
        self.access = VaultAccess(vault=VAULT, user=ALICE, role=VaultRole.WRITER)

    def write(self, path: str, text: str) -> None:
        self.files.create(VAULT.ref, VaultPath(path), text.encode())

    def move(self, request: MoveRequest, operation: str) -> MoveResult:
        pins = self.service.preview(self.access, request).pins
        return self.service.run(self.access, request, Confirmed(operation=operation, pins=pins))

    def texts(self) -> dict[str, str]:
        page = self.files.list(VAULT.ref, ROOT, recursive=True, limit=1_000)
        return {
            info.path: self.files.read(VAULT.ref, info.path).data.decode() for info in page.files
        }


@pytest.fixture
def vault(new_bucket: NewBucket, new_local_table: NewTable) -> RealVault:
    client, bucket = new_bucket(MINISTACK)
    operations = DynamoOperations(new_local_table("ControlTable"), client, bucket)
    return RealVault(S3Files(client, bucket, LONG_AGO), operations)


def test_a_tree_moves_whatever_its_names_and_links_follow(vault: RealVault) -> None:
    for name in ODD:
        vault.write(f"d/sub/{name}", f"self [x](../n.md) {name}")
    vault.write("d/n.md", "[a](sub/%25.md) [[à+b (1)|b]] [c](<sub/a+b c.png>)")
    vault.write("n.md", "[[d/sub/😀]]")
    vault.files.make_directory(VAULT.ref, VaultPath("d/empty"))

    result = vault.move(rename_of_directory(VaultPath("d"), "é (2)"), "op-1")

    assert (result.files, result.relinked, result.kept) == (len(ODD) + 1, 1, [])
    assert vault.texts() == {
        **{f"é (2)/sub/{name}": f"self [x](../n.md) {name}" for name in ODD},
        "é (2)/n.md": "[a](sub/%25.md) [[à+b (1)|b]] [c](<sub/a+b c.png>)",
        "n.md": "[[é (2)/sub/😀]]",
    }
    directories = vault.files.list(VAULT.ref, VaultPath("é (2)"), recursive=False, limit=9)
    assert directories.directories == ["é (2)/empty", "é (2)/sub"]
    assert not vault.files.list(VAULT.ref, VaultPath("d"), recursive=False, limit=9).exists


def test_of_moves_of_one_tree_at_once_at_most_one_takes_effect(vault: RealVault) -> None:
    for number in range(12):
        vault.write(f"d/{number}.md", str(number))
    requests = [move_into(VaultPath("d"), VaultPath(f"to{number}")) for number in range(6)]

    def attempt(number: int) -> str:
        try:
            vault.move(requests[number], f"op-{number}")
        except ConflictError as error:
            return error.code
        except Exception as error:  # noqa: BLE001  its name is the outcome
            return getattr(error, "code", type(error).__name__)
        return "moved"

    with ThreadPoolExecutor(6) as pool:
        outcomes = list(pool.map(attempt, range(6)))

    places = {path.rpartition("/")[0] for path in vault.texts()}
    assert outcomes.count("moved") <= 1
    assert len(places) == 1
    assert sorted(vault.texts().values()) == sorted(str(number) for number in range(12))
    refused = {"operation_running", "conflict", "directory_not_found", "file_not_found"}
    assert set(outcomes) <= {"moved"} | refused


def test_what_two_people_add_while_the_tree_moves_is_all_there(vault: RealVault) -> None:
    for number in range(8):
        vault.write(f"d/{number}.md", "first")
    appending = MutationService(vault.files)

    def append(person: int) -> list[str]:
        """Add to each file where it still is; return what was acknowledged."""
        added: list[str] = []
        for number in range(8):
            word, path = f"[{person}-{number}]", VaultPath(f"d/{number}.md")
            with suppress(NotFoundError, ConflictError):
                appending.append(vault.access, path, word, Confirmed(operation=f"op-{word}"))
                added.append(word)
        return added

    with ThreadPoolExecutor(3) as pool:
        adding = [pool.submit(append, person) for person in (1, 2)]
        moving = pool.submit(race_to_move, vault)
        added = [word for future in adding for word in future.result()]
        moving.result()

    current = "".join(vault.texts().values())
    assert current.count("first") >= 8
    assert {word: current.count(word) for word in added} == dict.fromkeys(added, 1)


def race_to_move(vault: RealVault) -> None:
    """Move the tree, unless it changed between the preview and the start."""
    for attempt in range(20):
        with suppress(ConflictError):
            vault.move(rename_of_directory(VaultPath("d"), "e"), f"op-{attempt}")
            return


def test_an_edit_on_the_real_store_while_its_file_moves_is_kept(vault: RealVault) -> None:
    vault.write("a.md", "old")
    before(vault, lambda: overwrite(vault, "a.md", "edited"))

    vault.move(move_into(VaultPath("a.md"), VaultPath("d")), "op-1")

    assert vault.texts() == {"d/a.md": "edited"}


def overwrite(vault: RealVault, path: str, text: str) -> None:
    info = vault.files.head(VAULT.ref, VaultPath(path))
    vault.files.replace(VAULT.ref, info.path, text.encode(), expected=info.etag)


def before(vault: RealVault, act: Callable[[], None]) -> None:
    """Let somebody act right before the first deletion."""
    delete = vault.files.delete
    waiting = [act]

    def call(*args: object, **kwargs: object) -> None:
        while waiting:
            waiting.pop()()
        delete(*args, **kwargs)  # pyright: ignore[reportArgumentType]

    vault.files.delete = call
