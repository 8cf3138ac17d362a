"""Two people at work in one vault, all of it real but the stores.

At any moment between two calls of a store somebody else may act, or the process may die.
"""

import tempfile
from collections.abc import Callable, Mapping
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from archivolt.adapters.re2.patterns import Re2Patterns
from archivolt.adapters.sqlite.note_index import SqliteNoteIndex
from archivolt.adapters.sqlite.shard_cache import ShardCache
from archivolt.adapters.sqlite.shard_reader import ShardReader
from archivolt.adapters.sqlite.text_index import SqliteTextIndex
from archivolt.domain.identity import Principal
from archivolt.domain.link_resolution import resolve_link
from archivolt.domain.messages import Language
from archivolt.domain.note_links import link_key, links_in
from archivolt.domain.vault import VaultRef, VaultRole
from archivolt.ports.notes import NoteIndex
from archivolt.ports.operations import Operation, OperationKind
from archivolt.ports.retrieval import TextIndex
from archivolt.tools.by_hand import ByHand
from archivolt.tools.catalogue.own_hand import hand_tools
from archivolt.tools.hand_changes import ChangesByHand
from archivolt.vaults.changing import Changing
from archivolt.vaults.files import FileService
from archivolt.vaults.move_steps import MoveStores
from archivolt.vaults.moving import MoveService
from archivolt.vaults.sweep import OperationSweep
from archivolt.vaults.uploads import UploadService
from tests.builders import ALICE, BOB, principal
from tests.fakes.clock import FrozenClock
from tests.fakes.confirmations import InMemoryConfirmations
from tests.fakes.faults import Death, FaultLine
from tests.fakes.notes import InMemoryNotes
from tests.fakes.shards import InMemoryShards
from tests.fakes.text_index import InMemoryTextIndex
from tests.index_world import IndexWorld
from tests.ledger import Ledger, Links, WatchedFiles, WatchedOperations
from tests.world import World

if TYPE_CHECKING:
    from archivolt.domain.paths import VaultPath

OWNER, WRITER = principal(ALICE), principal(BOB)
_FAST = 10**9


class BusyLine(FaultLine):
    """A line at whose moments something is planned; what happens then has none of its own."""

    def __init__(self) -> None:
        super().__init__()
        self._plan: dict[int, Callable[[], object]] = {}
        self._passed = self._writes = 0
        self._due: Callable[[], object] | None = None
        self._dead = False

    def plan(self, plan: Mapping[int, Callable[[], object]]) -> None:
        """Let things happen at the moments of these numbers; at -1 right after the first write."""
        self._plan, self._passed, self._writes = dict(plan), 0, 0

    def calm(self) -> None:
        super().calm()
        self._plan, self._due, self._dead = {}, None, False

    def die(self) -> None:
        """End the process: no store hears of it any more."""
        self._dead = True
        raise Death

    def written(self) -> None:
        """Pass a write to the bucket."""
        self._writes += 1
        self._due = self._due or self._plan.pop(-self._writes, None)

    def moment(self) -> None:
        if self._dead:
            raise Death
        self._passed += 1
        happening = self._due or self._plan.pop(self._passed - 1, None)
        if happening is not None:
            rest, writes, self._plan, self._due = self._plan, self._writes, {}, None
            happening()
            self._plan, self._writes = rest, writes


class Index(Protocol):
    """What is written of documents, and asked of them."""

    text: TextIndex
    notes: NoteIndex

    def close(self, vault: VaultRef) -> None:
        """Let go of what it holds of a vault."""
        ...


class IndexInMemory:
    """The index in dictionaries."""

    def __init__(self, line: BusyLine, clock: FrozenClock) -> None:
        self.notes: NoteIndex = (notes := InMemoryNotes())
        self.text: TextIndex = InMemoryTextIndex(notes)

    def close(self, vault: VaultRef) -> None:
        """There is nothing to let go of."""


class IndexInSqlite:
    """The index of the product; the line goes through the store of its shards."""

    def __init__(self, line: BusyLine, clock: FrozenClock) -> None:
        self._folder = tempfile.TemporaryDirectory()
        shards = line.across(InMemoryShards())
        cache = ShardCache(shards, Path(self._folder.name), max_bytes=10**8)
        self._reader = ShardReader(shards, cache)
        self.text: TextIndex = SqliteTextIndex(shards, self._reader)
        self.notes: NoteIndex = SqliteNoteIndex(self._reader, Re2Patterns, clock)

    def close(self, vault: VaultRef) -> None:
        """Close the shards that were opened, and remove their copies."""
        self._reader.forget(vault)
        self._folder.cleanup()


NewIndex = Callable[[BusyLine, FrozenClock], Index]


class SharedVault(World):
    """The vault `notes`, that Alice owns and Bob writes in; `ledger` knows what is lost."""

    def __init__(self, new_index: NewIndex = IndexInMemory) -> None:
        super().__init__(per_token=_FAST, per_tool=_FAST)
        self.line = line = BusyLine()
        self.ledger = Ledger()
        self.bucket = WatchedFiles(self.clock, self.ledger, line.written)
        self.noted = WatchedOperations(self.ledger)
        self.store, self.operations = line.across(self.bucket), line.across(self.noted)
        self.confirmations = line.across(InMemoryConfirmations())
        self.new_index = new_index
        self.held = new_index(line, self.clock)
        self._make_services(self.held.notes)
        self.ref = self.vault("notes", owner=OWNER)
        self.share(self.ref, WRITER, VaultRole.WRITER)
        self.indexing = self.indexing_in(self.held, line)

    def _make_services(self, notes: NoteIndex) -> None:
        store, operations, clock = self.store, self.operations, self.clock
        catalogue = self.catalogue
        self.files = FileService(store)
        self.changing = Changing(
            files=store,
            catalogue=catalogue,
            operations=operations,
            notes=notes,
            patterns=Re2Patterns(),
            clock=clock,
        )
        self.moves = MoveService(
            MoveStores(
                files=store,
                catalogue=catalogue,
                notes=notes,
                operations=operations,
                clock=clock,
                threads=1,
            )
        )
        self.uploads = UploadService(store)
        by_hand = ByHand(self.rate_limit, self.audit, clock)
        self.hand = ChangesByHand(hand_tools(), self, by_hand, operations)
        self.pipeline = self.pipeline_of(self.tools())

    def indexing_in(self, index: Index, line: FaultLine) -> IndexWorld:
        """Return the workers that keep an index of this vault."""
        world = IndexWorld()
        world.clock, world.line, world.files = self.clock, line, self.bucket
        world.directory, world.vault = self.directory, self.ref
        world.text_index = index.text  # pyright: ignore[reportAttributeAccessIssue]
        return world

    def change_by_hand(
        self, by: Principal, tool: str, arguments: Mapping[str, Any], *, operation: str = ""
    ) -> dict[str, Any]:
        """Change files as a person does over REST."""
        given = {"vault": "notes", **arguments}
        done = self.hand.change(by, tool, given, language=Language.EN, operation=operation)
        return done.value

    def sweep(self) -> None:
        """Finish what nobody came back for."""
        resumptions = {
            OperationKind.MOVE: self._as_begun(self.moves.resume),
            OperationKind.DELETE: self._as_begun(self.changing.deletions.resume),
            OperationKind.UNDELETE: self._as_begun(self.changing.undeletions.resume),
        }
        sweep = OperationSweep(self.operations, resumptions, self.clock)
        sweep.run(time_left=lambda: timedelta(hours=1))

    def _as_begun(self, resume: Callable[[Operation], object]) -> Callable[[Operation], None]:
        def resume_as_begun(operation: Operation) -> None:
            with self.ledger.done_by(self.ledger.operations[operation.id]):
                resume(operation)

        return resume_as_begun

    # What is to be seen.

    @property
    def meanings(self) -> Links:
        """What every link of every note means: how it is written but for its target, and what."""
        texts = {path: data.decode() for path, data in self.bucket.contents(self.ref).items()}
        named: dict[str, list[VaultPath]] = {}
        for path in texts:
            named.setdefault(link_key(path), []).append(path)
        return {
            path: [
                (link.heading, resolve_link(link.target, path, named.get(link.key, [])))
                for link in links_in(text)
            ]
            for path, text in texts.items()
            if path.endswith(".md")
        }


def told(index: Index, world: IndexWorld) -> dict[str, object]:
    """Return all that an index says of a vault; not when, nor in how many generations."""
    vault = world.vault
    paths = sorted({path for path, _ in index.text.generations(vault)})
    notes = index.notes.notes(vault, paths)
    entries = {entry.path: entry for entry in world.catalogue.entries(vault)}
    return {
        "paths": paths,
        "notes": {path: (note.size, note.title, note.tags) for path, note in notes.items()},
        "texts": dict(index.notes.texts(vault, paths)),
        "links": index.notes.links_from(vault, None),
        "tags": dict(index.notes.tags([vault])),
        "states": {path: (e.state, e.etag, e.size, e.sha256) for path, e in entries.items()},
        "passages": {
            path: index.text.passages(vault, path, entry.generation)
            for path, entry in entries.items()
        },
        "vectors": [
            [(path, number) for _, path, _, number in world.vectors.held(vault.tenant, user)]
            for user in (ALICE, BOB)
        ],
    }
