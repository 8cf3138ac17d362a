"""What was begun and left is finished later, and nothing that is still at work."""

from datetime import timedelta

import pytest

from archivolt.domain.errors import UnavailableError
from archivolt.domain.paths import VaultPath
from archivolt.ports.operations import Operation, OperationKind
from archivolt.vaults.move_requests import move_into, rename_of_directory
from archivolt.vaults.sweep import OperationSweep, SweepReport
from tests.move_world import MovingVault

DIRECTORY = rename_of_directory(VaultPath("d"), "e")


@pytest.fixture
def vault() -> MovingVault:
    """A vault in which a move stopped before its first deletion."""
    vault = MovingVault({"d/a.md": "[[b]]", "d/b.md": "[[d/a]]", "n.md": "[[d/a]]"})
    vault.line.take_down("delete")
    with pytest.raises(UnavailableError):
        vault.move(DIRECTORY)
    vault.line.calm()
    return vault


def sweep(vault: MovingVault, *, minutes: float = 15) -> SweepReport:
    resumptions = {OperationKind.MOVE: vault.service.resume}
    operations = OperationSweep(vault.operations, resumptions, vault.clock)
    return operations.run(time_left=lambda: timedelta(minutes=minutes))


def test_a_move_that_nobody_came_back_for_is_finished(vault: MovingVault) -> None:
    vault.clock.advance(minutes=11)

    assert sweep(vault) == SweepReport(idle=1, finished=1)
    assert vault.texts() == {"e/a.md": "[[b]]", "e/b.md": "[[e/a]]", "n.md": "[[e/a]]"}
    assert sweep(vault) == SweepReport()


def test_work_that_may_still_go_on_is_left_alone(vault: MovingVault) -> None:
    assert sweep(vault) == SweepReport()
    assert "d/a.md" in vault.etags()


def test_without_time_left_nothing_is_begun(vault: MovingVault) -> None:
    vault.clock.advance(hours=1)

    assert sweep(vault, minutes=1) == SweepReport(idle=1, finished=0)
    assert "d/a.md" in vault.etags()


def test_an_operation_of_another_kind_waits_for_what_knows_it(vault: MovingVault) -> None:
    vault.clock.advance(hours=1)
    operations = OperationSweep(vault.operations, {}, vault.clock)

    assert operations.run(time_left=lambda: timedelta(hours=1)) == SweepReport(idle=1, finished=0)


def test_one_that_fails_does_not_hold_up_the_next(vault: MovingVault) -> None:
    vault.clock.advance(seconds=1)
    vault.write("x/c.md", "x")
    vault.index()
    vault.line.take_down("delete")
    with pytest.raises(UnavailableError):
        vault.move(move_into(VaultPath("x/c.md"), VaultPath("y")), by="op-2")
    vault.line.calm()
    vault.clock.advance(hours=1)

    def resume(operation: Operation) -> None:
        if operation.id == "op-1":
            raise UnavailableError("unavailable")
        vault.service.resume(operation)

    operations = OperationSweep(vault.operations, {OperationKind.MOVE: resume}, vault.clock)
    report = operations.run(time_left=lambda: timedelta(hours=1))

    assert report == SweepReport(idle=2, finished=1)
    assert "y/c.md" in vault.etags()


def test_a_move_that_takes_several_calls_is_called_until_it_is_done() -> None:
    vault = MovingVault({f"d/{n}.md": "x" for n in range(200)})
    vault.store.before("copy", lambda: vault.clock.advance(seconds=0.5), always=True)
    with pytest.raises(UnavailableError, match="operation_unfinished"):
        vault.move(DIRECTORY)
    vault.clock.advance(hours=1)

    assert sweep(vault) == SweepReport(idle=1, finished=1)
    assert len(vault.etags()) == 200
    assert all(path.startswith("e/") for path in vault.etags())


def test_where_the_notes_of_operations_cannot_be_read_nothing_happens(vault: MovingVault) -> None:
    operations = OperationSweep(vault.line.across(vault.operations), {}, vault.clock)
    vault.line.take_down("unfinished")

    assert operations.run(time_left=lambda: timedelta(hours=1)) == SweepReport()


def test_a_fault_of_ours_in_one_ends_neither_the_sweep_nor_what_comes_after_it(
    vault: MovingVault,
) -> None:
    def fault(_: Operation) -> None:
        raise KeyError("manifest")

    vault.clock.advance(hours=1)
    operations = OperationSweep(vault.operations, {OperationKind.MOVE: fault}, vault.clock)

    assert operations.run(time_left=lambda: timedelta(hours=1)) == SweepReport(idle=1, finished=0)
