"""Finding in large vaults without a model: the services on warm shards, and ripgrep beside them.

Stores are in this process. ripgrep counts the matching lines of every file of the same tree on this
machine's disk (`rg --count`), the service finds the twenty best documents with their lines; both
ignore case. Where there is no `rg`, they have no floor. The processor's time, children included, is
beside each: other work on the machine leaves it nearly alone.
"""

import os
import random
import shutil
import subprocess
import tarfile
import tempfile
import time
from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import contextmanager
from datetime import timedelta
from functools import partial
from pathlib import Path
from statistics import mean, median
from typing import Final

from archivolt.adapters.re2.patterns import Re2Patterns
from archivolt.adapters.sqlite.note_index import SqliteNoteIndex
from archivolt.adapters.sqlite.shard_cache import ShardCache
from archivolt.adapters.sqlite.shard_reader import ShardReader
from archivolt.adapters.sqlite.text_index import SqliteTextIndex
from archivolt.adapters.system.clock import SystemClock
from archivolt.composition.extraction import extractor_of_all_formats
from archivolt.domain.ingestion import ChangeKind, ObjectChange
from archivolt.domain.messages import Language
from archivolt.domain.paths import VaultPath
from archivolt.domain.vault import VaultAccess, VaultRole
from archivolt.ports.notes import RecentBy
from archivolt.vaults.advanced_search import AdvancedQuery
from archivolt.vaults.finding import Finding
from archivolt.vaults.search import TextSearch
from bench.index_core import index_changes
from bench.table import Row
from tests.builders import ALICE, a_vault
from tests.fakes.catalogue import InMemoryCatalogue
from tests.fakes.clock import FrozenClock
from tests.fakes.embedding import InMemoryQueue
from tests.fakes.files import InMemoryFiles
from tests.fakes.shards import InMemoryShards

_TLDR: Final = Path(__file__).parents[2] / "shared" / "data" / "vaults" / "tldr.tar.gz"
_NOTES: Final = 20_000
_WORDS: Final = 12_000
_AT_ONCE: Final = 500
_TIMES: Final = 7

_COMMON_WORDS: Final = (
    "create delete show list file directory user command output update remove print start"
)
# What is looked for, and whether it is a regular expression that requires no literal.
_LITERALS: Final = ("recursive", "git")
_WITH_LITERAL: Final = (r"recurs\w+", r"(list|show)\s+files", r"^#.*archive")
_WITHOUT: Final = ("[0-9]{3}", r"\b\w{3}\b", "[aeiou]{2}", "^#")


class _Warm:
    """A vault of the files of a folder, indexed, and what searches it."""

    def __init__(self, folder: Path, cache: Path) -> None:
        self.folder = folder
        self._clock = FrozenClock()
        self._files = InMemoryFiles(self._clock)
        self._catalogue = InMemoryCatalogue(self._clock)
        vault = a_vault("bench")
        self.vaults = [VaultAccess(vault=vault, user=ALICE, role=VaultRole.OWNER)]
        shards = InMemoryShards()
        reader = ShardReader(shards, ShardCache(shards, cache, max_bytes=10**10))
        self._text_index = SqliteTextIndex(shards, reader)
        notes = SqliteNoteIndex(reader, Re2Patterns, SystemClock())
        self.text_search = TextSearch(self._text_index, self._catalogue)
        self.finding = Finding(
            notes=notes,
            text_index=self._text_index,
            catalogue=self._catalogue,
            files=self._files,
            patterns=Re2Patterns(),
            clock=self._clock,
        )

    def fill(self) -> None:
        """Index the folder."""
        files = sorted(file for file in self.folder.rglob("*") if file.is_file())
        changes = index_changes(
            extractor_of_all_formats(),
            files=self._files,
            catalogue=self._catalogue,
            text_index=self._text_index,
            queue=InMemoryQueue(),
            clock=self._clock,
        )
        for start in range(0, len(files), _AT_ONCE):
            self._clock.advance(seconds=1)
            announced = [self._written(file) for file in files[start : start + _AT_ONCE]]
            if changes.apply(announced, time_left=lambda: timedelta(hours=1)):
                raise RuntimeError("documents failed")

    def _written(self, file: Path) -> ObjectChange:
        ref = self.vaults[0].vault.ref
        path = VaultPath(file.relative_to(self.folder).as_posix())
        info = self._files.create(ref, path, file.read_bytes())
        return ObjectChange(
            kind=ChangeKind.CREATED, vault=ref, path=path, sequencer=None, size=info.size
        )


def measure() -> list[Row]:
    """Return the milliseconds of each kind of question, in each vault."""
    rows: list[Row] = []
    for name, folder in _folders():
        with tempfile.TemporaryDirectory() as cache:
            warm = _Warm(folder, Path(cache))
            warm.fill()
            for asked, ask in _questions(warm).items():
                rows += _rows(f"{name}: {asked}", ask)
            rows += [
                row
                for kind, patterns in (
                    ("literal", _LITERALS),
                    ("regex with a literal", _WITH_LITERAL),
                    ("other regex", _WITHOUT),
                )
                for pattern in patterns
                for row in _beside_ripgrep(name, warm, kind, pattern, regex=kind != "literal")
            ]
    return rows


def _questions(warm: _Warm) -> dict[str, Callable[[], object]]:
    finding, vaults = warm.finding, warm.vaults
    recent = partial(finding.recent.recent, vaults, by=RecentBy.MODIFIED, language=Language.EN)
    path = recent().files[0].path
    return {
        "tags": lambda: finding.tags.tags(vaults),
        "recents": recent,
        "backlinks": lambda: finding.backlinks.backlinks(vaults[0], path),
        "paths": lambda: finding.paths.search(vaults, "list"),
        "full-text": lambda: warm.text_search.search(vaults, "list files in a directory"),
        "full-text of 13 words": lambda: warm.text_search.search(vaults, _COMMON_WORDS),
    }


def _beside_ripgrep(name: str, warm: _Warm, kind: str, pattern: str, *, regex: bool) -> list[Row]:
    query = AdvancedQuery(q=pattern, regex=regex)
    ripgrep = shutil.which("rg")
    command = [ripgrep or "", "--count", "--ignore-case", "--no-ignore", "--hidden"]
    command += [*([] if regex else ["--fixed-strings"]), "--regexp", pattern, str(warm.folder)]
    return _rows(
        f"{name}: {kind} {pattern}",
        lambda: warm.finding.advanced.search(warm.vaults, query),
        lambda: ripgrep and subprocess.run(command, check=False, stdout=subprocess.DEVNULL),
        floor="ripgrep" if ripgrep else "",
    )


def _rows(
    measure: str,
    ask: Callable[[], object],
    ask_floor: Callable[[], object] = lambda: None,
    *,
    floor: str = "",
) -> list[Row]:
    """Return the milliseconds that pass, and those of the processor."""
    values = _milliseconds(ask)
    floors = _milliseconds(ask_floor) if floor else (None, None)
    return [
        Row(measure=name, value=value, unit="ms", floor=floor, floor_value=floor_value)
        for name, value, floor_value in zip(
            (measure, f"{measure}, processor"), values, floors, strict=True
        )
    ]


def _milliseconds(ask: Callable[[], object]) -> tuple[float, float]:
    """Return the medians of both times after a first time that is not counted."""
    ask()
    passed: list[float] = []
    spent: list[float] = []
    for _ in range(_TIMES):
        start, before = time.perf_counter(), sum(os.times()[:4])
        ask()
        passed.append(time.perf_counter() - start)
        spent.append(sum(os.times()[:4]) - before)
    # The system counts the processor's time in hundredths of a second: a mean is finer.
    return median(passed) * 1_000, mean(spent) * 1_000


def _folders() -> Iterator[tuple[str, Path]]:
    with _generated() as folder:
        yield f"{_NOTES:,} notes", folder
    if _TLDR.exists():
        with tempfile.TemporaryDirectory() as name, tarfile.open(_TLDR) as archive:
            archive.extractall(name, filter="data")
            yield "tldr", Path(name)


@contextmanager
def _generated() -> Generator[Path]:
    """A folder of notes with tags and links, the same each time."""
    chance = random.Random(1)  # noqa: S311  no secret
    words = [_word(chance) for _ in range(_WORDS)]
    words += ["recursive", "git", "archive", "list", "show", "files"] * 3
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for number in range(_NOTES):
            note = folder / f"area-{number % 97}" / f"note-{number}.md"
            note.parent.mkdir(exist_ok=True)
            note.write_text(_note(chance, words, number), encoding="utf-8")
        yield folder


def _note(chance: random.Random, words: Sequence[str], number: int) -> str:
    lines = [" ".join(chance.choices(words, k=12)) for _ in range(chance.randint(5, 15))]
    links = [f"[[note-{chance.randrange(_NOTES)}]]" for _ in range(3)]
    tags = f"tags: [topic-{number % 300}, area/part-{number % 50}]"
    return "\n\n".join([f"---\n{tags}\n---", f"# Note {number}", *lines, *links]) + "\n"


def _word(chance: random.Random) -> str:
    letters = chance.choices("eaisnrtoluécdmàpgbfhqvxzjyk", k=chance.randint(3, 10))
    return "".join(letters)
