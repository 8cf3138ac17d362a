"""Where a document is found while a move carries it from one path to another (decision 44). Pure.

A move copies a file, and deletes it from its old path when the copy is there; the index learns of
both by events, in any order, and later. What the catalogue says of the old path decides, in one
step each, under which of the two paths the document is found: it names the new path before the copy
is made, and what the catalogue had said of that path till then. So the passages of the old path
stand for the document until the new path has passages of its own, and not a moment longer.
"""

from collections.abc import Mapping
from dataclasses import replace
from datetime import datetime
from typing import Final

from archivolt.domain.ingestion import (
    CatalogueEntry,
    Generation,
    IndexState,
    is_of_content,
    withdrawn,
)
from archivolt.domain.paths import ROOT, VaultPath
from archivolt.domain.vault import VaultRef

Place = tuple[VaultRef, VaultPath]
Entries = Mapping[Place, CatalogueEntry]

MAX_HOPS: Final = 8
"""How many moves are followed of a document that moves faster than it is indexed."""

_NO_ENTRY: Final = Generation("none")
_EDITED: Final = "edited-"


def is_there(entry: CatalogueEntry | None) -> bool:
    """Tell whether the catalogue knows a document."""
    return entry is not None and entry.state is not IndexState.DELETED


def generation_at(entry: CatalogueEntry | None) -> Generation:
    """Return the name of what the catalogue says of a path, also where it says nothing."""
    return entry.generation if entry else _NO_ENTRY


def moving(entry: CatalogueEntry, to: VaultPath, *, over: Generation) -> CatalogueEntry:
    """Return the entry of a document that a move is about to copy; to the root: of one it keeps."""
    return replace(entry, moved_to=to, moved_over=over, served=Generation(""))


def is_moving(entry: CatalogueEntry | None) -> bool:
    """Tell whether a move is at work on a document that is still in its old place."""
    return entry is not None and is_there(entry) and entry.moved_to != ROOT and not entry.served


def is_leaving(entry: CatalogueEntry) -> bool:
    """Tell the same of a file that the index may know only in the place that it came from."""
    return entry.moved_to != ROOT and not entry.served


def edited_amid(entry: CatalogueEntry, marked: CatalogueEntry) -> CatalogueEntry:
    """Return the entry of a document that was edited while a move carries what it was before.

    It tells of what content that was, as the name of a generation does.
    """
    copied = Generation(f"{_EDITED}{marked.sha256[:8]}")
    over = marked.moved_over if was_edited_amid(marked) else copied
    return replace(entry, moved_to=marked.moved_to, moved_over=over)


def was_edited_amid(entry: CatalogueEntry | None) -> bool:
    """Tell whether an entry is one of those."""
    return entry is not None and is_moving(entry) and entry.moved_over.startswith(_EDITED)


def leads_on(entry: CatalogueEntry) -> bool:
    """Tell whether a file that is leaving is what was copied, as far as the index knows."""
    return is_leaving(entry) and not was_edited_amid(entry)


def departed(
    vault: VaultRef,
    path: VaultPath,
    stored: CatalogueEntry | None,
    *,
    to: VaultPath,
    over: Generation,
    now: datetime,
) -> CatalogueEntry:
    """Return the tombstone of a document that was moved: it still says what its passages are."""
    plain = withdrawn(vault, path, stored, now=now)
    kept = stored if stored is not None and is_there(stored) else plain
    return replace(
        plain,
        # Why a part of it could not be read is not kept: such a document is read again.
        sha256="" if kept.reason else kept.sha256,
        recipe=kept.recipe,
        embedder=kept.embedder,
        alike_since=kept.alike_since,
        title=kept.title,
        tags=kept.tags,
        moved_to=to,
        moved_over=over,
        served=generation_at(stored),
    )


def still_gone(entry: CatalogueEntry, *, now: datetime) -> CatalogueEntry:
    """Return a new tombstone in place of one; what was moved from there is found as before."""
    plain = withdrawn(entry.vault, entry.path, entry, now=now)
    return replace(
        entry, generation=plain.generation, updated_at=now, sequencer=None, reason=plain.reason
    )


def tombstone(
    vault: VaultRef, path: VaultPath, stored: CatalogueEntry | None, *, now: datetime
) -> CatalogueEntry:
    """Return a new tombstone; what an earlier move from this path left is found as before."""
    if stored is not None and not is_there(stored):
        return still_gone(stored, now=now)
    plain = withdrawn(vault, path, stored, now=now)
    return remembering(plain, stored) if stored is not None and stored.served else plain


def remembering(entry: CatalogueEntry, stored: CatalogueEntry | None) -> CatalogueEntry:
    """Return an entry that knows of the move that the one before it knows of."""
    if stored is None:
        return entry
    return replace(
        entry, moved_to=stored.moved_to, moved_over=stored.moved_over, served=stored.served
    )


def found_at(
    entries: Entries, vault: VaultRef, path: VaultPath, generation: Generation
) -> VaultPath | None:
    """Return the path of what the catalogue called `generation` at a path; None: nowhere any more.

    `entries` has to have every path that a move leads to.
    """
    for _ in range(MAX_HOPS):
        entry = entries.get((vault, path))
        if generation_at(entry) == generation:
            return path
        if entry is None or not entry.moved_to or entry.served != generation:
            return None
        path, generation = entry.moved_to, entry.moved_over
    return None


def stands_elsewhere(entries: Entries, entry: CatalogueEntry | None) -> bool:
    """Tell whether the passages of a path still stand for a document that was moved from it."""
    if entry is None or not entry.moved_to or not entry.served:
        return False
    return found_at(entries, entry.vault, entry.path, entry.served) is not None


def has_arrived(entries: Entries, entry: CatalogueEntry) -> bool:
    """Tell whether the copy of a document that is moving is found by itself."""
    target = entries.get((entry.vault, entry.moved_to))
    return (
        is_moving(entry)
        and not was_edited_amid(entry)
        and target is not None
        and is_there(target)
        and target.moved_from == entry.path
        and target.generation != entry.moved_over
    )


def gives_way(entries: Entries, entry: CatalogueEntry) -> bool:
    """Tell whether a copy is of what was edited since, and is found, in the place it came from.

    One that was edited itself is found beside it: the move will keep both.
    """
    source = entries.get((entry.vault, entry.moved_from)) if entry.moved_from else None
    if source is None or not was_edited_amid(source) or source.moved_to != entry.path:
        return False
    return entry.sha256 == source.sha256 or is_of_content(source.moved_over, entry.sha256)


def _was_served(entry: CatalogueEntry, sha256: str) -> bool:
    """Tell whether a place that has another document now was left by one of this content."""
    return is_there(entry) and bool(sha256) and is_of_content(entry.served, sha256)


def led_to(entries: Entries, vault: VaultRef, path: VaultPath) -> VaultPath:
    """Return where moves led a path that no document is at any more; the path, if none did."""
    for _ in range(MAX_HOPS):
        entry = entries.get((vault, path))
        if entry is None or not entry.moved_to or is_there(entry):
            break
        path = entry.moved_to
    return path


def awaited_by(entries: Entries, entry: CatalogueEntry) -> CatalogueEntry | None:
    """Return the copy of a moved document that has no vectors yet and is equal to it, if any.

    It may have moved on, before it was indexed or after: then its tombstone is returned.
    """
    before = entry
    for _ in range(MAX_HOPS):
        target = entries.get((entry.vault, before.moved_to)) if before.moved_to else None
        if target is None:
            return None
        same = (target.moved_from, target.recipe) == (before.path, entry.recipe) and (
            target.sha256 == entry.sha256 or _was_served(entry, target.sha256)
        )
        if is_there(target):
            return target if same and target.state is IndexState.PENDING else None
        if same and target.served:
            return target
        before = target
    return None
