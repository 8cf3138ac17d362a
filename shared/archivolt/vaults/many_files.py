"""Work on many files: in parallel, and no longer than one call may take."""

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from datetime import datetime, timedelta
from typing import Final, TypeVar

from archivolt.domain.errors import TooLargeError
from archivolt.domain.limits import (
    MAX_MANY_FILES_SECONDS,
    MAX_PARALLEL_FILES,
    MAX_TREE_FILES,
)
from archivolt.domain.paths import VaultPath
from archivolt.domain.vault import FileInfo, VaultRef
from archivolt.ports.clock import Clock
from archivolt.ports.files import FileStore
from archivolt.vaults.trees import pages

_BATCH: Final = MAX_PARALLEL_FILES * 4

T = TypeVar("T")
R = TypeVar("R")


def deadline_of(clock: Clock) -> datetime:
    """Return until when a call that begins now may work; listing files is part of the work."""
    return clock.now() + timedelta(seconds=MAX_MANY_FILES_SECONDS)


def work_through(
    items: Sequence[T],
    work: Callable[[T], R],
    *,
    clock: Clock,
    deadline: datetime,
) -> list[R]:
    """Return what `work` makes of the first items, in order: of all, if time suffices.

    Some items are always done, so that a caller who comes back gets further.
    """
    results: list[R] = []
    with ThreadPoolExecutor(MAX_PARALLEL_FILES) as pool:
        for start in range(0, len(items), _BATCH):
            began = clock.now()
            results += pool.map(work, items[start : start + _BATCH])
            if is_last(began, clock.now(), deadline):
                break
    return results


def is_last(began: datetime, ended: datetime, deadline: datetime) -> bool:
    """Tell whether, after a part of the work, another one as long could not end in time."""
    return ended + (ended - began) >= deadline


def files_below(store: FileStore, vault: VaultRef, directory: VaultPath) -> Iterator[FileInfo]:
    """Yield every file anywhere below a directory, in the order of paths.

    Raises:
        TooLargeError: `too_many_files`: more than one change takes.

    """
    count = 0
    for page in pages(store, vault, directory, recursive=True):
        count += len(page.files)
        if count > MAX_TREE_FILES:
            raise TooLargeError("too_many_files", count=count, limit=MAX_TREE_FILES)
        yield from page.files
