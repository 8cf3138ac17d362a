"""What people wrote and took away: tells at each write of a store whether something is lost.

A text has words of its own, each written once by one person: `w7x`. A word is alive from its first
write on until somebody takes it away who saw the text it stood in. One that is alive is in some
current file at every moment.
"""

import re
from collections import Counter
from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from archivolt.domain.ingestion import ChangeKind, ObjectChange, Sequencer, sequencer
from archivolt.domain.paths import VaultPath
from archivolt.domain.vault import ETag, FileInfo, VaultRef, WriteMarks
from archivolt.ports.operations import Operation
from tests.fakes.clock import FrozenClock
from tests.fakes.files import InMemoryFiles
from tests.fakes.operations import InMemoryOperations

if TYPE_CHECKING:
    from datetime import datetime

_WORD = re.compile(rb"\bw\d+x\b")
MOVES = frozenset({"rename_file", "rename_directory", "move_path"})
_SEVERAL_TIMES = MOVES | {"outside", "delete_directory", "undelete_directory"}

Links = Mapping[str, Sequence[tuple[str, str | None]]]


@dataclass(eq=False, kw_only=True)
class Doing:
    """A change that somebody makes, perhaps in several attempts, and the words they saw in it.

    `place` is a file it is about.
    `seen` None: all that is there. `links` is what links meant before a move, `by_others` how
    many writes of others there were by then.
    """

    tool: str
    by: str
    seen: frozenset[bytes] | None = frozenset()
    word: str = ""
    place: str = ""
    effects: Counter[str] = field(default_factory=Counter[str])
    links: Links | None = None
    by_others: int = 0


OUTSIDE = Doing(tool="outside", by="outside", seen=None)
"""Whoever writes to the bucket by other means, over what is there."""


def words_of(data: bytes) -> Counter[bytes]:
    """Return the words in a content, counted."""
    return Counter(_WORD.findall(data))


class Ledger:
    """Who is at work, what is alive, and what went wrong."""

    def __init__(self) -> None:
        self.wrong: list[str] = []
        self.alive: set[bytes] = set()
        self.operations: dict[str, Doing] = {}
        self.writes: Counter[Doing] = Counter()
        self._at_work = [OUTSIDE]

    @property
    def doing(self) -> Doing:
        """What is being done, by whom."""
        return self._at_work[-1]

    @contextmanager
    def done_by(self, doing: Doing) -> Generator[None, None, None]:
        """Tell whose writes those inside are."""
        self._at_work.append(doing)
        try:
            yield
        finally:
            self._at_work.pop()

    def by_others(self, doing: Doing) -> int:
        """Return how many writes were not of this change."""
        return self.writes.total() - self.writes[doing]

    def changed(self, path: str, before: bytes, after: bytes | None, operation: str) -> None:
        """Judge one write, or a deletion."""
        # A move may be finished by another one that needs its places.
        doing = self.operations.get(operation, self.doing)
        self.writes[doing] += 1
        gone = words_of(before).keys() - words_of(after or b"").keys()
        self._judge_effect(doing, path, after)
        if doing.tool in MOVES:
            return
        if doing.seen is not None and not gone <= doing.seen:
            self._is_wrong(f"{path}: takes away {sorted(gone - doing.seen)}, which nobody saw")
        self.alive -= gone
        self.alive |= words_of(after or b"").keys()

    def judge_tree(self, contents: Sequence[bytes]) -> None:
        """Judge what is current everywhere."""
        lost = self.alive - words_of(b" ".join(contents)).keys()
        if lost:
            self._is_wrong(f"{sorted(lost)} are nowhere")
            self.alive -= lost

    def _judge_effect(self, doing: Doing, path: str, after: bytes | None) -> None:
        if any(count > 1 for count in words_of(after or b"").values()):
            self._is_wrong(f"{path}: the same text twice")
        doing.effects[path] += 1
        if doing.tool not in _SEVERAL_TIMES and doing.effects[path] > 1:
            self._is_wrong(f"{path}: changed twice")

    def _is_wrong(self, what: str) -> None:
        self.wrong.append(f"{self.doing.tool} of {self.doing.by}: {what}")


class WatchedFiles(InMemoryFiles):
    """A versioned bucket that tells the ledger of each write, and sends events."""

    def __init__(self, clock: FrozenClock, ledger: Ledger, written: Callable[[], object]) -> None:
        super().__init__(clock)
        self._written = written
        self.events: list[ObjectChange] = []
        self.sent_at: dict[Sequencer | None, datetime] = {}
        self._ledger = ledger
        self._sent = 0

    def delete(self, vault: VaultRef, path: VaultPath, *, expected: ETag) -> None:
        before = self._content(vault, path)
        super().delete(vault, path, expected=expected)
        self._tell(vault, path, before, None, "")
        self._send(ChangeKind.DELETED, vault, path, None)

    def _add(
        self,
        vault: VaultRef,
        path: VaultPath,
        data: bytes,
        *,
        content_type: str,
        bulk: bool = False,
        marks: WriteMarks | None = None,
    ) -> FileInfo:
        before = self._content(vault, path)
        info = super()._add(vault, path, data, content_type=content_type, bulk=bulk, marks=marks)
        self._tell(vault, path, before, data, info.operation)
        self._send(ChangeKind.CREATED, vault, path, info)
        return info

    def contents(self, vault: VaultRef) -> dict[VaultPath, bytes]:
        """Return what is current."""
        found = self.list(vault, VaultPath(""), recursive=True, limit=10_000).files
        return {info.path: self._content(vault, info.path) for info in found}

    def _content(self, vault: VaultRef, path: VaultPath) -> bytes:
        stored = self._find(vault, path)
        return (stored and stored.data) or b""

    def _tell(
        self, vault: VaultRef, path: VaultPath, before: bytes, after: bytes | None, operation: str
    ) -> None:
        self._ledger.changed(path, before, after, operation)
        self._ledger.judge_tree(list(self.contents(vault).values()))
        self._written()

    def _send(
        self, kind: ChangeKind, vault: VaultRef, path: VaultPath, info: FileInfo | None
    ) -> None:
        self._sent += 1
        event = ObjectChange(
            kind=kind,
            vault=vault,
            path=path,
            sequencer=sequencer(f"{self._sent:018X}"),
            version=info.version if info else "",
            etag=info.etag if info else "",
            size=info.size if info else None,
        )
        self.events.append(event)
        self.sent_at[event.sequencer] = self._clock.now()


class WatchedOperations(InMemoryOperations):
    """Operations that remember who began them."""

    def __init__(self, ledger: Ledger) -> None:
        super().__init__()
        self._ledger = ledger

    def start(self, operation: Operation, manifest: Sequence[tuple[str, str]]) -> Operation:
        self._ledger.operations.setdefault(operation.id, self._ledger.doing)
        return super().start(operation, manifest)
