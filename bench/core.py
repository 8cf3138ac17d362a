"""How many small notes a second the indexing core takes, and what memory it holds meanwhile.

The files and the shards are on this machine's disk and the catalogue keeps nothing, so that what
grows would be the core's own; it runs in a process of its own, with the allocator as the functions
have it (decision 94). Rates are by the processor's time.
"""

import os
import random
import resource
import sys
import tarfile
import tempfile
import time
from collections.abc import Generator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from multiprocessing import get_context
from pathlib import Path
from typing import Final

from archivolt.adapters.sqlite.shard_cache import ShardCache
from archivolt.adapters.sqlite.shard_reader import ShardReader
from archivolt.adapters.sqlite.text_index import SqliteTextIndex
from archivolt.composition.extraction import extractor_of_all_formats
from archivolt.domain.ingestion import CatalogueEntry, ChangeKind, EmbeddingJob, ObjectChange
from archivolt.domain.paths import VaultPath, is_hidden
from archivolt.domain.vault import ETag, FileContent, FileInfo, VaultRef
from archivolt.ingestion.index_change import IndexChanges
from archivolt.ports.retrieval import Shard
from bench.index_core import index_changes
from bench.local_stack import small_notes
from bench.table import Row
from tests.builders import vault_ref
from tests.fakes.catalogue import InMemoryCatalogue
from tests.fakes.clock import FrozenClock
from tests.fakes.embedding import InMemoryQueue
from tests.fakes.files import InMemoryFiles
from tests.fakes.shards import InMemoryShards

_TLDR: Final = Path(__file__).parents[2] / "shared" / "data" / "vaults" / "tldr.tar.gz"
_GENERATED: Final = 38_000
# As many as a reconciliation hands over.
_AT_ONCE: Final = 2_000
_MEASURED_AT: Final = (10_000, 20_000)
# As the template says to the functions.
ALLOCATOR: Final = "MALLOC_MMAP_THRESHOLD_"
LARGE_BLOCK_BYTES: Final = "131072"
_KILOBYTES: Final = 1 if sys.platform != "darwin" else 1_024


class _FilesOnDisk(InMemoryFiles):
    """The files of a folder, read anew each time."""

    def __init__(self, folder: Path) -> None:
        super().__init__()
        self._folder = str(folder)

    def read(
        self,
        vault: VaultRef,
        path: VaultPath,
        *,
        offset: int = 0,
        max_bytes: int | None = None,
        version: str = "",
    ) -> FileContent:
        with open(f"{self._folder}/{path}", "rb", buffering=0) as file:  # noqa: PTH123  costs half
            data = file.read()
        return FileContent(info=_info(path, len(data)), data=data)

    def head(self, vault: VaultRef, path: VaultPath, *, version: str = "") -> FileInfo:
        return _info(path, os.stat(f"{self._folder}/{path}").st_size)  # noqa: PTH116  costs half


def _info(path: VaultPath, size: int) -> FileInfo:
    return FileInfo(path=path, size=size, etag=ETag("1"), modified=datetime.fromtimestamp(0, UTC))


class _NothingKept(InMemoryCatalogue):
    def advance(self, entry: CatalogueEntry, *, previous: CatalogueEntry | None) -> bool:
        return True


class _NothingQueued(InMemoryQueue):
    def send(self, jobs: Sequence[EmbeddingJob]) -> None:
        pass


class _ShardsOnDisk(InMemoryShards):
    def __init__(self, folder: Path) -> None:
        super().__init__()
        self._folder = folder

    def get(self, vault: VaultRef, name: str) -> Shard | None:
        file = self._folder / name
        return Shard(data=file.read_bytes(), etag=ETag("1")) if file.exists() else None

    def put(self, vault: VaultRef, name: str, data: bytes, *, replacing: Shard | None) -> None:
        (self._folder / name).write_bytes(data)


def measure() -> list[Row]:
    """Return notes a second and the megabytes held after so many files."""
    with tempfile.TemporaryDirectory() as name, _process_as_the_functions() as alone:
        folder, shards = Path(name, "notes"), Path(name, "shards")
        shards.mkdir()
        if _TLDR.exists():
            with tarfile.open(_TLDR) as archive:
                archive.extractall(folder, filter="data")
        else:
            small_notes(folder, _GENERATED)
        return alone.submit(_rows, folder, shards).result()


@contextmanager
def _process_as_the_functions() -> Generator[ProcessPoolExecutor]:
    os.environ[ALLOCATOR] = LARGE_BLOCK_BYTES  # noqa: TID251  a process reads it when it starts
    try:
        with ProcessPoolExecutor(max_workers=1, mp_context=get_context("spawn")) as alone:
            yield alone
    finally:
        del os.environ[ALLOCATOR]  # noqa: TID251  as it was set


def _rows(folder: Path, folder_of_shards: Path) -> list[Row]:
    paths = _mixed(folder)
    shards = _ShardsOnDisk(folder_of_shards)
    text_index = SqliteTextIndex(
        shards, ShardReader(shards, ShardCache(shards, folder_of_shards, max_bytes=0))
    )
    changes = index_changes(
        extractor_of_all_formats(),
        files=_FilesOnDisk(folder),
        catalogue=_NothingKept(),
        text_index=text_index,
        queue=_NothingQueued(),
        clock=FrozenClock(),
    )
    rate, held = _index(changes, paths)
    if len(list(text_index.generations(vault_ref()))) != len(paths):
        raise RuntimeError("documents are missing")
    return [Row(measure="the indexing core alone", value=rate, unit="notes/s"), *_memory(held)]


def _mixed(folder: Path) -> list[VaultPath]:
    """Return the files of a folder, languages mixed: what comes late is then like what came."""
    paths = sorted(
        VaultPath(file.relative_to(folder).as_posix())
        for file in folder.rglob("*")
        if file.is_file() and not is_hidden(VaultPath(file.relative_to(folder).as_posix()))
    )
    random.Random(4).shuffle(paths)  # noqa: S311  the same order each time
    return paths


def _index(changes: IndexChanges, paths: Sequence[VaultPath]) -> tuple[float, dict[int, float]]:
    """Return how many a second, and the megabytes held after so many."""
    held: dict[int, float] = {}
    start = time.process_time()
    for at in range(0, len(paths), _AT_ONCE):
        announced = [_change(path) for path in paths[at : at + _AT_ONCE]]
        if changes.apply(announced, time_left=lambda: timedelta(hours=1)):
            raise RuntimeError("documents failed")
        if at + _AT_ONCE in _MEASURED_AT:
            held[at + _AT_ONCE] = _megabytes()
    rate = len(paths) / (time.process_time() - start)
    held[len(paths)] = _megabytes()
    return rate, held


def _memory(held: Mapping[int, float]) -> list[Row]:
    first, *later = held.items()
    return [
        Row(
            measure=f"most memory after {count:,} files",
            value=megabytes,
            unit="MB",
            floor=f"after {first[0]:,}",
            floor_value=first[1],
        )
        for count, megabytes in later
    ]


def _change(path: VaultPath) -> ObjectChange:
    return ObjectChange(
        kind=ChangeKind.CREATED, vault=vault_ref(), path=path, sequencer=None, size=1
    )


def _megabytes() -> float:
    """Return the most memory that this process has held so far."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / _KILOBYTES / 1_024
