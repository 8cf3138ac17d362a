"""Which passages may be shown: those the catalogue names as current, under the path that it names.

Text index and vector store are written apart from the catalogue, before it or after it. So what
they propose is looked up here: what is deleted or overtaken is dropped, and what a move is carrying
is shown once, under the path where it is found at this moment (decision 44).
"""

from collections.abc import Iterable, Sequence, Set
from dataclasses import replace
from typing import Final

from archivolt.domain.errors import UnavailableError
from archivolt.domain.ingestion import CatalogueEntry
from archivolt.domain.moves import (
    MAX_HOPS,
    Entries,
    Place,
    awaited_by,
    found_at,
    gives_way,
    has_arrived,
    is_there,
)
from archivolt.ports.catalogue import Catalogue
from archivolt.ports.retrieval import Candidate

_LOOKS: Final = 6


class UnsettledError(UnavailableError):
    """Entries changed whenever they were looked at; of fewer, it may be known how they stand."""


def entries_along_moves(catalogue: Catalogue, places: Iterable[Place]) -> Entries:
    """Return the entries of these places, and of those that moves lead to from them.

    Raises:
        UnavailableError: The catalogue cannot be read.

    """
    return _followed(catalogue, places)[0]


def entries_for_showing(catalogue: Catalogue, places: Iterable[Place]) -> Entries:
    """Return the same, and those of where what was moved had been: it may give way to them.

    Raises:
        UnavailableError: The catalogue cannot be read.

    """
    found, asked = _followed(catalogue, places)
    copies = [entry for entry in found.values() if is_there(entry) and entry.moved_from]
    sources = {(entry.vault, entry.moved_from) for entry in copies} - asked
    return {**found, **catalogue.get_many(_in_order(sources))} if sources else found


def settled_entries(catalogue: Catalogue, places: Iterable[Place]) -> Entries:
    """Return the same, as they all were at one moment: what is removed rests on them.

    Raises:
        UnavailableError: The catalogue cannot be read.
        UnsettledError: Others write all the time.

    """
    places = set(places)
    for _ in range(_LOOKS):
        found, asked = _followed(catalogue, places)
        if len(asked) == 1 or catalogue.get_many(_in_order(asked)) == found:
            return found
    raise UnsettledError("unavailable")


def _followed(catalogue: Catalogue, places: Iterable[Place]) -> tuple[Entries, Set[Place]]:
    """Return the entries, and the places that were asked for."""
    found: dict[Place, CatalogueEntry] = {}
    asked = set[Place]()
    following = set(places)
    for _ in range(MAX_HOPS):
        if not following:
            break
        asked |= following
        some = catalogue.get_many(_in_order(following))
        found |= some
        targets = {(entry.vault, entry.moved_to) for entry in some.values() if entry.moved_to}
        following = targets - asked
    return found, asked


def _in_order(places: Iterable[Place]) -> list[Place]:
    return sorted(places, key=lambda place: (place[0].id, place[1]))


class CurrentPassages:
    """Looks up candidates; the catalogue is asked once, when it is made."""

    def __init__(self, catalogue: Catalogue, candidates: Iterable[Candidate]) -> None:
        places = {(candidate.vault, candidate.path) for candidate in candidates}
        self._entries = entries_for_showing(catalogue, places)

    @property
    def as_proposed(self) -> Entries:
        """The entries as candidates know them: of what was moved, as it was before it went."""
        return {
            place: entry if is_there(entry) else replace(entry, generation=entry.served)
            for place, entry in self._entries.items()
        }

    def entry_of(self, candidate: Candidate) -> CatalogueEntry | None:
        """Return the entry of a candidate's own path, which knows its title and tags."""
        return self._entries.get((candidate.vault, candidate.path))

    def placed(self, candidate: Candidate) -> Candidate | None:
        """Return a candidate under the path where it is found, or None if it is not."""
        vault, path = candidate.vault, candidate.path
        entry = self._entries.get((vault, path))
        place = found_at(self._entries, vault, path, candidate.generation)
        if entry is None or place is None:
            return None
        if entry.generation != candidate.generation:
            # It was moved, perhaps to and fro.
            return replace(candidate, path=place)
        is_hidden = has_arrived(self._entries, entry) or gives_way(self._entries, entry)
        return candidate if is_there(entry) and not is_hidden else None

    def by_meaning(self, candidates: Iterable[Candidate]) -> list[Candidate]:
        """Return what may be shown of a list by meaning, in its order.

        The vectors of an old path stand for an equal copy that has none yet.
        """
        shown: dict[tuple[Place, int], Candidate] = {}
        for candidate in candidates:
            placed = self._stood_for(candidate)
            if placed is not None:
                shown.setdefault(((placed.vault, placed.path), placed.passage.number), placed)
        return list(shown.values())

    def lacks_newer(self, candidates: Sequence[Candidate]) -> bool:
        """Tell whether a list was made too early: it has a document's former passages alone.

        Between the list and the look into the catalogue, others took their place.
        """
        held = {(each.vault, each.path, each.generation) for each in candidates}
        successors = filter(None, map(self._successor, candidates))
        return any((each.vault, each.path, each.generation) not in held for each in successors)

    def _stood_for(self, candidate: Candidate) -> Candidate | None:
        """Return a candidate where it is found, or as what the copies of its document lack."""
        for _ in range(MAX_HOPS):
            placed = self.placed(candidate)
            copy = None if placed else self._adopted(candidate)
            if copy is None:
                return placed
            candidate = copy
        return None

    def _adopted(self, candidate: Candidate) -> Candidate | None:
        entry = self._entries.get((candidate.vault, candidate.path))
        if entry is None or candidate.generation not in {entry.generation, entry.served}:
            return None
        copy = awaited_by(self._entries, entry)
        if copy is None:
            return None
        generation = copy.generation if is_there(copy) else copy.served
        return replace(candidate, path=copy.path, generation=generation)

    def _successor(self, candidate: Candidate) -> CatalogueEntry | None:
        """Return the entry whose passages took the place of a candidate that is not shown."""
        entry = self._entries.get((candidate.vault, candidate.path))
        if entry is None or self.placed(candidate) is not None:
            return None
        if entry.moved_to and candidate.generation in {entry.generation, entry.served}:
            entry = self._entries.get((candidate.vault, entry.moved_to))
        return entry if entry is not None and is_there(entry) and entry.passages else None
