"""Decides what has to be written for one changed document; it writes nothing.

An event is taken as a hint: what is true, the store says. So repeated, reordered and forged events
lead to the same plan, and a permanent deletion of an old version deletes nothing.
"""

import hashlib
from dataclasses import dataclass, replace
from datetime import datetime

from archivolt.domain.errors import NotFoundError
from archivolt.domain.ingestion import (
    CatalogueEntry,
    ChangeKind,
    IndexState,
    ObjectChange,
    Sequencer,
    leaves_work,
    next_generation,
    read_again,
)
from archivolt.domain.limits import MAX_DOCUMENT_BYTES
from archivolt.domain.moves import is_there
from archivolt.domain.paths import ROOT, VaultPath
from archivolt.domain.vault import FileContent, FileInfo, VaultRef
from archivolt.ingestion.documents import (
    DocumentReader,
    Reading,
    began_to_be,
    indexed_note,
    indexed_passages,
)
from archivolt.ingestion.moved import MoveMemory
from archivolt.ingestion.moved_readings import MovedReadings
from archivolt.ports.catalogue import Catalogue
from archivolt.ports.clock import Clock
from archivolt.ports.files import FileStore
from archivolt.ports.retrieval import DocumentUpdate, Rewritten, TextIndex

DocumentKey = tuple[VaultRef, VaultPath]


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """What to write: `entry` in place of `previous`, `update` into the text index, then a job.

    `record` is False where the entry is stored already and only what follows from it is repeated;
    `update` is None where the text index holds what it should, `written` what is said of time where
    that was written again as it was.
    """

    entry: CatalogueEntry
    previous: CatalogueEntry | None
    update: DocumentUpdate | None = None
    written: Rewritten | None = None
    record: bool = True
    bulk: bool = False

    @property
    def key(self) -> DocumentKey:
        """The document."""
        return self.entry.vault, self.entry.path

    @property
    def touches_vectors(self) -> bool:
        """Whether there is work for the embedding function: points to add, or perhaps to delete."""
        if self.entry.passages:
            return self.entry.state is IndexState.PENDING
        # What was moved here may have left points in its former place.
        may_have_points = self.previous is not None or bool(self.entry.moved_from)
        return may_have_points and (self.update is not None or not self.record)


class IndexPlanner:
    """Compares the store with the catalogue, one document at a time."""

    def __init__(
        self,
        *,
        files: FileStore,
        catalogue: Catalogue,
        text_index: TextIndex,
        reader: DocumentReader,
        clock: Clock,
        moved: MovedReadings | None = None,
    ) -> None:
        self._moved = moved
        self._files = files
        self._catalogue = catalogue
        self._text_index = text_index
        self._reader = reader
        self._clock = clock
        self._moves = MoveMemory(files, catalogue)

    def plan(self, change: ObjectChange, *, anew: bool = False) -> Plan | None:
        """Return what has to be written, or None.

        Args:
            change: What was announced.
            anew: Read and index the document whatever the catalogue says.

        Raises:
            UnavailableError: A collaborator is down.

        """
        stored = self._catalogue.get(change.vault, change.path)
        anew = anew or change.anew
        if stored is not None and not anew and _is_known(change, stored):
            if self._is_whole(stored):
                return _repetition(change, stored)
            anew = True
        now = self._clock.now()
        try:
            plan = self._present(change, stored, now=now, anew=anew)
        except NotFoundError:
            gone = _removal(change, stored, now=now, anew=anew)
            return gone and replace(gone, entry=self._moves.of_gone(gone.entry, stored))
        return replace(plan, entry=self._moves.of_present(plan.entry, stored))

    def _present(
        self, change: ObjectChange, stored: CatalogueEntry | None, *, now: datetime, anew: bool
    ) -> Plan:
        if _needs_look(change):
            info = self._files.head(change.vault, change.path)
            if not anew and stored and info.etag == stored.etag and self._is_current(stored):
                return _unchanged(change, stored, info)
            if info.size > MAX_DOCUMENT_BYTES:
                return _too_big(change, stored, info, now=now)
        content = self._files.read(change.vault, change.path, max_bytes=MAX_DOCUMENT_BYTES)
        if content.truncated:
            return _too_big(change, stored, content.info, now=now)
        sha256 = hashlib.sha256(content.data).hexdigest()
        if not anew and stored and sha256 == stored.sha256 and self._is_current(stored):
            return _unchanged(change, stored, content.info)
        return self._new_content(change, stored, content, sha256=sha256, now=now)

    def _new_content(
        self,
        change: ObjectChange,
        stored: CatalogueEntry | None,
        content: FileContent,
        *,
        sha256: str,
        now: datetime,
    ) -> Plan:
        reading = self._reading(change, content, sha256=sha256)
        entry = _entry(change, stored, content.info, reading, now=now)
        generation = next_generation(now, sha256=sha256, previous=stored and stored.generation)
        recipe = self._reader.recipe
        entry = replace(entry, generation=generation, sha256=sha256, recipe=recipe)
        return Plan(
            entry=read_again(entry, stored),
            previous=stored,
            update=DocumentUpdate(
                path=change.path,
                generation=generation,
                passages=indexed_passages(change.path, reading),
                note=indexed_note(reading, content.info),
            ),
            bulk=content.info.bulk or change.anew,
        )

    def _reading(self, change: ObjectChange, content: FileContent, *, sha256: str) -> Reading:
        if self._moved and not change.anew:
            recipe = self._reader.recipe
            known = self._moved.find(change.vault, content.info, sha256=sha256, recipe=recipe)
            if known is not None:
                return known
        return self._reader.read(change.path, content.data)

    def _is_current(self, stored: CatalogueEntry) -> bool:
        if stored.state is IndexState.DELETED:
            return False
        if stored.sha256 and stored.recipe != self._reader.recipe:
            return False
        return self._is_whole(stored)

    def _is_whole(self, stored: CatalogueEntry) -> bool:
        """Tell whether the text index holds what the catalogue says; a crash may part them."""
        if stored.state is IndexState.DELETED:
            return True
        held = self._text_index.holds(stored.vault, stored.path, stored.generation)
        return held == stored.passages


def _is_known(change: ObjectChange, stored: CatalogueEntry) -> bool:
    return (
        change.sequencer is not None
        and stored.sequencer is not None
        and change.sequencer <= stored.sequencer
    )


def _needs_look(change: ObjectChange) -> bool:
    """Tell whether to ask for the size before downloading."""
    if change.kind is ChangeKind.DELETED or change.size is None:
        return True
    return change.sequencer is None or change.size > MAX_DOCUMENT_BYTES


def _newer_sequencer(change: ObjectChange, stored: CatalogueEntry | None) -> Sequencer | None:
    return None if stored and _is_known(change, stored) else change.sequencer


def _repetition(change: ObjectChange, stored: CatalogueEntry) -> Plan | None:
    """Repeat what follows an entry that this very change led to; an older change is past."""
    if change.sequencer != stored.sequencer:
        return None
    if stored.state is IndexState.INDEXED:
        return None
    gone = DocumentUpdate(path=stored.path, generation=stored.generation, removed=True)
    update = gone if stored.state is IndexState.DELETED else None
    return Plan(entry=stored, previous=stored, update=update, record=False)


def _unchanged(change: ObjectChange, stored: CatalogueEntry, info: FileInfo) -> Plan:
    sequencer = _newer_sequencer(change, stored)
    entry = replace(
        stored, sequencer=sequencer, etag=info.etag, version=info.version, size=info.size
    )
    known = replace(entry, sequencer=stored.sequencer) == stored
    again = Rewritten(
        generation=stored.generation, created=began_to_be(info), modified=info.modified
    )
    return Plan(
        entry=entry,
        previous=stored,
        written=again if info.version != stored.version else None,
        record=not (known and sequencer is None),
        bulk=info.bulk,
    )


def _removal(
    change: ObjectChange, stored: CatalogueEntry | None, *, now: datetime, anew: bool
) -> Plan | None:
    """Return a tombstone; it also stops a worker that read the document before it went."""
    sequencer = _newer_sequencer(change, stored)
    if not (leaves_work(stored) or anew or sequencer):
        return None
    generation = next_generation(now, sha256="", previous=stored and stored.generation)
    entry = CatalogueEntry(
        vault=change.vault,
        path=change.path,
        state=IndexState.DELETED,
        updated_at=now,
        sequencer=sequencer,
        generation=generation,
        moved_from=stored.moved_from if stored else ROOT,
    )
    update = DocumentUpdate(path=change.path, generation=generation, removed=True)
    return Plan(entry=entry, previous=stored, update=update)


def _too_big(
    change: ObjectChange, stored: CatalogueEntry | None, info: FileInfo, *, now: datetime
) -> Plan:
    reading = Reading(state=IndexState.TOO_BIG, reason="document_too_large")
    generation = next_generation(now, sha256="", previous=stored and stored.generation)
    entry = replace(_entry(change, stored, info, reading, now=now), generation=generation)
    note = indexed_note(reading, info)
    update = DocumentUpdate(path=change.path, generation=generation, note=note)
    return Plan(entry=entry, previous=stored, update=update)


def _entry(
    change: ObjectChange,
    stored: CatalogueEntry | None,
    info: FileInfo,
    reading: Reading,
    *,
    now: datetime,
) -> CatalogueEntry:
    return CatalogueEntry(
        vault=change.vault,
        path=change.path,
        state=reading.state,
        updated_at=now,
        sequencer=_newer_sequencer(change, stored),
        reason=reading.reason,
        etag=info.etag,
        version=info.version,
        size=info.size,
        passages=len(reading.passages),
        title=reading.title,
        tags=reading.tags,
        # An edit does not say where the document came from: who looks for it, still asks.
        moved_from=info.moved_from or (stored.moved_from if stored and is_there(stored) else ROOT),
    )
