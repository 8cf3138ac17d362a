"""A vault whose files move: stores, the index of its notes, and a process that may die."""

from collections.abc import Callable, Mapping

from archivolt.domain.confirmation import Confirmed, Preview
from archivolt.domain.ingestion import Generation
from archivolt.domain.link_resolution import resolve_link
from archivolt.domain.note_links import NoteLink, link_key, links_in
from archivolt.domain.paths import ROOT, VaultPath
from archivolt.domain.vault import ETag, FileInfo, VaultAccess, VaultRef, VaultRole, WriteMarks
from archivolt.ports.notes import Note
from archivolt.vaults.move_requests import MoveRequest
from archivolt.vaults.move_run import MoveResult
from archivolt.vaults.move_steps import MoveStores
from archivolt.vaults.moving import MoveService
from tests.builders import ALICE, a_vault
from tests.fakes.catalogue import InMemoryCatalogue
from tests.fakes.clock import START, FrozenClock
from tests.fakes.faults import FaultLine
from tests.fakes.files import InMemoryFiles
from tests.fakes.notes import InMemoryNotes
from tests.fakes.operations import InMemoryOperations


class InterruptedFiles(InMemoryFiles):
    """A store in which somebody may act right before a call."""

    def __init__(self, clock: FrozenClock) -> None:
        super().__init__(clock)
        self._acts: dict[str, tuple[Callable[[], None], bool]] = {}

    def before(self, method: str, act: Callable[[], None], *, always: bool = False) -> None:
        """Let somebody act before the next call of a method, or before each."""
        self._acts[method] = act, always

    def delete(self, vault: VaultRef, path: VaultPath, *, expected: ETag) -> None:
        self._interrupt("delete")
        super().delete(vault, path, expected=expected)

    def copy(
        self,
        vault: VaultRef,
        source: VaultPath,
        target: VaultPath,
        *,
        expected: ETag,
        version: str = "",
        marks: WriteMarks | None = None,
    ) -> FileInfo:
        self._interrupt("copy")
        return super().copy(vault, source, target, expected=expected, version=version, marks=marks)

    def replace(
        self,
        vault: VaultRef,
        path: VaultPath,
        data: bytes,
        *,
        expected: ETag,
        content_type: str = "",
        marks: WriteMarks | None = None,
    ) -> FileInfo:
        self._interrupt("replace")
        return super().replace(
            vault, path, data, expected=expected, content_type=content_type, marks=marks
        )

    def _interrupt(self, method: str) -> None:
        act, always = self._acts.pop(method, (None, False))
        if act is not None:
            if always:
                self._acts[method] = act, always
            act()


class MovingVault:
    """A vault of Alice; every call of its stores passes the line."""

    def __init__(self, files: Mapping[str, str | bytes], *, threads: int = 1) -> None:
        self.vault = a_vault()
        self.ref = self.vault.ref
        self.clock = FrozenClock()
        self.store = InterruptedFiles(self.clock)
        self.notes = InMemoryNotes()
        self.catalogue = InMemoryCatalogue(self.clock)
        self.operations = InMemoryOperations()
        self.line = FaultLine()
        self._indexed: set[VaultPath] = set()
        for path, content in files.items():
            self.write(path, content)
        self.index()
        self.clock.advance(hours=1)
        stores = MoveStores(
            files=self.line.across(self.store),
            catalogue=self.line.across(self.catalogue),
            notes=self.notes,
            operations=self.line.across(self.operations),
            clock=self.clock,
            threads=threads,
        )
        self.service = MoveService(stores)

    def access(self, role: VaultRole = VaultRole.WRITER) -> VaultAccess:
        return VaultAccess(vault=self.vault, user=ALICE, role=role)

    def write(self, path: str, content: str | bytes) -> None:
        """Write a file as a person would, over what is there."""
        data = content.encode() if isinstance(content, str) else content
        there = self.etags().get(path)
        if there is None:
            self.store.create(self.ref, VaultPath(path), data)
        else:
            self.store.replace(self.ref, VaultPath(path), data, expected=there)

    def delete(self, path: str) -> None:
        self.store.delete(self.ref, VaultPath(path), expected=self.etags()[path])

    def etags(self) -> dict[str, ETag]:
        return {info.path: info.etag for info in self._listing()}

    def texts(self) -> dict[str, str]:
        """Return every file that there is, as text."""
        return {path: self.read(path).decode("utf-8", "replace") for path in self.etags()}

    def read(self, path: str) -> bytes:
        return self.store.read(self.ref, VaultPath(path)).data

    def index(self) -> None:
        """Let the index know of what there is."""
        for path in self._indexed:
            self.notes.remove(self.ref, path)
        self._indexed = {info.path for info in self._listing()}
        for info in self._listing():
            note = Note(
                vault=self.ref,
                path=info.path,
                generation=Generation(info.etag),
                size=info.size,
                created=START,
                modified=info.modified,
            )
            text = self.read(info.path).decode("utf-8", "replace")
            self.notes.put(note, text if info.path.endswith(".md") else None)

    def move(self, request: MoveRequest, *, by: str = "op-1", resumed: bool = False) -> MoveResult:
        """Confirm a move as it is now, and make it."""
        pins: Mapping[str, str] = {} if resumed else self.preview(request).pins
        return self.service.run(self.access(), request, Confirmed(operation=by, pins=pins))

    def preview(self, request: MoveRequest) -> Preview:
        return self.service.preview(self.access(), request)

    def meanings(self) -> dict[str, list[tuple[str, str | None]]]:
        """Return what every link of every note means: its heading or alias, and the file."""
        named: dict[str, list[VaultPath]] = {}
        for path in self.etags():
            named.setdefault(link_key(path), []).append(VaultPath(path))

        def meaning(link: NoteLink, source: str) -> str | None:
            return resolve_link(link.target, VaultPath(source), named.get(link.key, []))

        return {
            path: [(link.heading, meaning(link, path)) for link in links_in(text)]
            for path, text in self.texts().items()
            if path.endswith(".md")
        }

    def _listing(self) -> list[FileInfo]:
        return self.store.list(self.ref, ROOT, recursive=True, limit=100_000).files
