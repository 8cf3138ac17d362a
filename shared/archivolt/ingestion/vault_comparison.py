"""One vault, its documents beside what the index knows of them; it changes nothing by itself."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import datetime

from archivolt.domain.ingestion import CatalogueEntry, Generation, IndexState
from archivolt.domain.paths import VaultPath
from archivolt.domain.vault import FileInfo


@dataclass(frozen=True, slots=True, kw_only=True)
class Recipe:
    """What makes the index today: the passages (`recipe`) and their vectors (`model`).

    What was made before `since` is not of today, whatever made it.
    """

    recipe: str
    model: str
    since: datetime | None = None


@dataclass(slots=True, kw_only=True)
class Difference:
    """Where store and index differ.

    `held` are the generations in the text index of documents not met yet, and in the end of those
    that should not be there. `changed`, `outdated` (the present generations of documents that also
    have older passages) and `unembedded` are to be emptied as they are dealt with; `gone` only when
    the whole listing was seen, for one that fails must delete nothing.
    """

    held: dict[VaultPath, list[Generation]]
    changed: list[VaultPath] = field(default_factory=list[VaultPath])
    outdated: dict[VaultPath, Generation] = field(default_factory=dict[VaultPath, Generation])
    gone: list[VaultPath] = field(default_factory=list[VaultPath])
    unembedded: list[CatalogueEntry] = field(default_factory=list[CatalogueEntry])

    @property
    def repairable(self) -> int:
        """How many documents can be dealt with at any time."""
        return len(self.changed) + len(self.outdated) + len(self.unembedded)

    def clear(self) -> None:
        """Forget what was dealt with."""
        self.changed.clear()
        self.outdated.clear()
        self.unembedded.clear()

    def note(self, info: FileInfo | None, entry: CatalogueEntry | None, today: Recipe) -> None:
        """Take one document into account; one of the two is given."""
        if info is None:
            if entry is not None:
                self.held.pop(entry.path, None)
                self.gone.append(entry.path)
            return
        held = self.held.pop(info.path, [])
        if entry is None or not _agree(info, entry, held, today):
            self.changed.append(info.path)
            return
        if len(held) > 1:
            self.outdated[info.path] = entry.generation
        if entry.passages and not _is_embedded(entry, today):
            self.unembedded.append(entry)


def held_generations(
    pairs: Iterable[tuple[VaultPath, Generation]],
) -> dict[VaultPath, list[Generation]]:
    """Return the generations of each document."""
    held: dict[VaultPath, list[Generation]] = {}
    for path, generation in pairs:
        held.setdefault(path, []).append(generation)
    return held


def _agree(
    info: FileInfo, entry: CatalogueEntry, held: Sequence[Generation], today: Recipe
) -> bool:
    if (info.etag, info.size) != (entry.etag, entry.size):
        return False
    if today.since is not None and entry.updated_at < today.since:
        return False
    if max(held, default=None) != entry.generation:
        return False
    return not entry.sha256 or entry.recipe == today.recipe


def _is_embedded(entry: CatalogueEntry, today: Recipe) -> bool:
    return entry.state is IndexState.INDEXED and entry.embedder == today.model


def side_by_side(
    files: Iterator[FileInfo], entries: Iterator[CatalogueEntry]
) -> Iterator[tuple[FileInfo | None, CatalogueEntry | None]]:
    """Pair files and entries by path; both come in the order of their paths."""
    info, entry = next(files, None), next(entries, None)
    while info is not None or entry is not None:
        if entry is None or (info is not None and info.path < entry.path):
            yield info, None
            info = next(files, None)
        elif info is None or entry.path < info.path:
            yield None, entry
            entry = next(entries, None)
        else:
            yield info, entry
            info, entry = next(files, None), next(entries, None)
