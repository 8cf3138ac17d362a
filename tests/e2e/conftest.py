"""The stack that end-to-end tests share.

Its tables are in the emulator, which checks every role's rights on them: a test that passes here
passes with least privilege.
"""

import shutil
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from archivolt_local.places import MINISTACK_PYTHON, SAMPLE_VAULT
from tests.e2e.stack import Stack, running

NewStack = Callable[..., Stack]


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    here = Path(__file__).parent
    missing = pytest.mark.skipif(
        not MINISTACK_PYTHON.exists(), reason="the emulator is not installed (make setup)"
    )
    for item in items:
        if item.path.is_relative_to(here):
            item.add_marker(pytest.mark.e2e)
            item.add_marker(pytest.mark.timeout(600))
            item.add_marker(missing)


@pytest.fixture(scope="session")
def stack(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stack]:
    """A running stack with one mirrored vault, `sample`: a copy of the sample vault.

    Tests share it: each uses names of its own and leaves others' documents alone.
    """
    root = tmp_path_factory.mktemp("stack")
    folder = root / "sample"
    shutil.copytree(SAMPLE_VAULT, folder)
    with running(Stack(root, {"sample": folder}, tables="ministack")) as started:
        yield started


@pytest.fixture
def new_stack(tmp_path: Path) -> Iterator[NewStack]:
    """Makes stacks of a test's own; what still runs at its end is stopped."""
    with ExitStack() as cleanup:

        def make(vaults: dict[str, Path] | None = None, *, tables: str = "auto") -> Stack:
            made = Stack(tmp_path / "own", vaults or {}, tables=tables)
            cleanup.callback(_stop, made)
            return made

        yield make


def _stop(stack: Stack) -> None:
    if stack.process is not None and stack.process.poll() is None:
        stack.stop()
