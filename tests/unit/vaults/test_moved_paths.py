"""Where a directory is that was moved, for whoever kept an address of it."""

from archivolt.domain.paths import VaultPath
from archivolt.ports.operations import Operation, OperationKind
from archivolt.vaults.move_requests import MoveRequest, move_into, rename_of_directory
from archivolt.vaults.moved_paths import MovedPaths
from tests.builders import ALICE
from tests.fakes.clock import START
from tests.move_world import MovingVault


def moved(vault: MovingVault, *requests: MoveRequest) -> None:
    for number, request in enumerate(requests):
        vault.move(request, by=f"op-{number}")
        vault.clock.advance(hours=1)


def renamed(path: str, name: str) -> MoveRequest:
    return rename_of_directory(VaultPath(path), name)


def now_at(vault: MovingVault, *paths: str) -> list[str]:
    asked = [VaultPath(path) for path in paths]
    places = MovedPaths(vault.catalogue, vault.operations, vault.store)
    found = places.now_at(vault.access(), asked)
    return [found[path] for path in asked]


def test_a_directory_is_followed_with_those_in_it_however_often_it_moves() -> None:
    vault = MovingVault({"a/b/n.md": "x", "c/n.md": "y"})
    moved(vault, renamed("a", "d"), move_into(VaultPath("d/b"), VaultPath("c")), renamed("c", "e"))

    assert now_at(vault, "a/b", "d/b", "c", "c/b") == ["e/b", "e/b", "e", "e/b"]
    assert now_at(vault, "e", "", "x", "ab") == ["e", "", "x", "ab"]


def test_a_directory_that_is_there_again_is_not_followed_and_one_that_went_twice_is() -> None:
    vault = MovingVault({"a/n.md": "x"})
    moved(vault, renamed("a", "b"))
    assert now_at(vault, "a") == ["b"]
    vault.write("a/other.md", "y")
    assert now_at(vault, "a") == ["a"]

    vault.move(renamed("a", "c"), by="again")

    assert now_at(vault, "a", "b") == ["c", "b"]


def test_a_directory_that_came_back_is_where_it_was() -> None:
    vault = MovingVault({"a/n.md": "x"})
    moved(vault, renamed("a", "b"), renamed("b", "a"))

    assert now_at(vault, "a", "b") == ["a", "a"]


def test_a_move_that_is_not_made_leads_nowhere() -> None:
    vault = MovingVault({})
    for number, finished in enumerate((True, False)):
        vault.operations.start(
            Operation(
                id=f"op-{number}",
                vault=vault.ref,
                user=ALICE,
                kind=OperationKind.MOVE,
                started_at=START,
                updated_at=START,
                total=2,
                done=0,
                finished=finished,
                parameters={"source": "a", "target": "b", "directory": "yes"},
            ),
            [],
        )

    assert now_at(vault, "a") == ["a"]


def test_of_many_directories_the_first_are_looked_for() -> None:
    vault = MovingVault({"a/n.md": "x"})
    moved(vault, renamed("a", "b"))
    asked = [f"a/{number}" for number in range(30)]
    found = now_at(vault, *asked)

    assert found == [f"b/{number}" for number in range(20)] + asked[20:]
