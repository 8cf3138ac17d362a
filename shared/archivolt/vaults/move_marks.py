"""What a move tells the catalogue, for its files to be found once at any moment (decision 44).

Before a file is copied: where it goes. After it was deleted from its old place: that it went there.
So a search that meets passages of the old place knows under which path to show them, until the new
place has its own. No file waits for the index, and no event has to come before another.
"""

from dataclasses import replace
from datetime import datetime
from typing import Final, NamedTuple

from archivolt.domain.errors import NotFoundError, UnavailableError
from archivolt.domain.ingestion import CatalogueEntry, Generation
from archivolt.domain.moves import (
    departed,
    found_at,
    generation_at,
    is_leaving,
    is_moving,
    is_there,
    leads_on,
    moving,
    still_gone,
    tombstone,
)
from archivolt.domain.paths import ROOT, VaultPath, is_hidden
from archivolt.domain.vault import VaultRef
from archivolt.ports.catalogue import Catalogue
from archivolt.ports.clock import Clock
from archivolt.ports.files import FileStore
from archivolt.retrieval.current import settled_entries

_ATTEMPTS: Final = 6
# Of what stood in the new place nothing is known for sure, or it is none that the index will ever
# tell of: it counts as found by itself.
_UNKNOWN: Final = Generation("")


class _Before(NamedTuple):
    """What the catalogue said of the two places before the copy was made.

    `moved_from`: where a file had come from that goes on before the index knew of it.
    """

    source: Generation
    target: Generation
    moved_from: VaultPath


class MoveMarks:
    """Keeps the catalogue informed of one move, begun at `since`.

    Each method may raise `UnavailableError`.
    """

    def __init__(
        self,
        files: FileStore,
        catalogue: Catalogue,
        clock: Clock,
        vault: VaultRef,
        *,
        since: datetime,
    ) -> None:
        self._since = since
        self._files = files
        self._catalogue = catalogue
        self._clock = clock
        self._vault = vault
        self._before: dict[VaultPath, _Before] = {}

    def begin(self, source: VaultPath, target: VaultPath) -> None:
        """Say where a file is about to be copied to; an earlier attempt may have said it."""
        for _ in range(_ATTEMPTS):
            known = self._catalogue.get_many([(self._vault, source), (self._vault, target)])
            entry, there = known.get((self._vault, source)), known.get((self._vault, target))
            over = self._taken(entry, target, there)
            if over is None:
                continue
            if entry is not None and is_there(entry):
                marked = moving(entry, target, over=over)
                known_so = is_moving(entry) and marked == entry
                if not known_so and not self._catalogue.mark_moving(marked):
                    continue
            before = ROOT if is_there(entry) else self._came_from(source)
            if before and not self._is_led_on(entry, target, over, before):
                continue
            self._before[source] = _Before(generation_at(entry), over, before)
            return
        raise UnavailableError("unavailable")

    def _is_led_on(
        self, entry: CatalogueEntry | None, target: VaultPath, over: Generation, before: VaultPath
    ) -> bool:
        """Say of a place that the index knows empty where its file goes on to; False: it changed.

        The file came there by a move and is found by what it left: the event that it is gone again
        must not end that.
        """
        if entry is None or entry.served:
            return True
        marked = replace(moving(entry, target, over=over), moved_from=before, sequencer=None)
        return self._catalogue.advance(marked, previous=entry)

    def _taken(
        self, entry: CatalogueEntry | None, target: VaultPath, there: CatalogueEntry | None
    ) -> Generation | None:
        """Return the name of what the catalogue says of the new place, None if that changed.

        A place without a file gets a name of its own: a file that was moved there before, and went
        without the catalogue's being told, is still found under the name that was there then.
        """
        if is_hidden(target):
            return _UNKNOWN
        if self._is_there(target):
            # It is another's, or the copy that an earlier attempt made.
            if entry is not None and leads_on(entry) and entry.moved_to == target:
                return entry.moved_over
            return _UNKNOWN if is_there(there) else generation_at(there)
        gone = tombstone(self._vault, target, there, now=self._clock.now())
        return gone.generation if self._catalogue.advance(gone, previous=there) else None

    def keep(self, source: VaultPath) -> None:
        """Say that a file stays where it is."""
        for _ in range(_ATTEMPTS):
            entry = self._catalogue.get(self._vault, source)
            if entry is None or not is_leaving(entry):
                return
            stays = moving(entry, ROOT, over=Generation(""))
            if is_there(entry):
                if self._catalogue.mark_moving(stays):
                    return
            elif self._catalogue.advance(replace(stays, sequencer=None), previous=entry):
                return
        raise UnavailableError("unavailable")

    def arrive(self, source: VaultPath, target: VaultPath) -> None:
        """Say that a file is gone from its old place; one that was made anew there stays found.

        The catalogue is read before the store is asked: who indexes the file in between changes
        the entry, and then both are asked once more.
        """
        for _ in range(_ATTEMPTS):
            entry = self._catalogue.get(self._vault, source)
            if self._knows(entry, source):
                return
            if self._is_there(source):
                self.keep(source)
                return
            gone = self._departed(entry, source, target)
            if gone is not None and self._catalogue.advance(gone, previous=entry):
                return
        raise UnavailableError("unavailable")

    def _departed(
        self, entry: CatalogueEntry | None, source: VaultPath, target: VaultPath
    ) -> CatalogueEntry | None:
        """Return the tombstone of a file that has left, None if what it rests on has changed."""
        over, now = self._over(entry, source), self._clock.now()
        before = self._before.get(source)
        moved_from = before.moved_from if before else ROOT
        gone = departed(self._vault, source, entry, to=target, over=over, now=now)
        place = self._left_before(entry)
        if entry is not None and place == source:
            gone = replace(still_gone(entry, now=now), moved_to=target, moved_over=over)
        elif entry is not None and place is not None:
            if not self._lead_on(moved_from, entry, target, over):
                return None
            gone = still_gone(entry, now=now)
        return replace(gone, moved_from=moved_from) if moved_from else gone

    def _knows(self, entry: CatalogueEntry | None, source: VaultPath) -> bool:
        """Tell whether the catalogue knows that the file is gone.

        A tombstone that was there before the move began is that of an earlier file.
        """
        if entry is None or is_there(entry):
            return False
        before = self._before.get(source)
        if before is None:
            return entry.updated_at >= self._since
        return entry.generation != before.source

    def _left_before(self, entry: CatalogueEntry | None) -> VaultPath | None:
        """Return where a file is found that moved away earlier, and that the index knows only here.

        It may have come back, by moves the index knows nothing of: then the passages of its first
        departure are still all there is of it. If it is elsewhere, another file leaves now.
        """
        if entry is None or is_there(entry) or not entry.served:
            return None
        known = settled_entries(self._catalogue, [(self._vault, entry.path)])
        return found_at(known, self._vault, entry.path, entry.served)

    def _lead_on(
        self, moved_from: VaultPath, passed: CatalogueEntry, target: VaultPath, over: Generation
    ) -> bool:
        """Have a file's former place lead past one that stands for another file; False: changed.

        Of a file that was made anew in the place it leaves, the index has nothing to lead to.
        """
        former = self._catalogue.get(self._vault, moved_from) if moved_from else None
        if former is None or not former.served:
            return True
        if (former.moved_to, former.moved_over) != (passed.path, passed.generation):
            return True
        onward = replace(former, moved_to=target, moved_over=over)
        if is_there(former):
            return self._catalogue.mark_moving(onward)
        return self._catalogue.advance(replace(onward, sequencer=None), previous=former)

    def _over(self, entry: CatalogueEntry | None, source: VaultPath) -> Generation:
        if entry is not None and is_there(entry) and leads_on(entry):
            return entry.moved_over
        before = self._before.get(source)
        return before.target if before else _UNKNOWN

    def _came_from(self, path: VaultPath) -> VaultPath:
        try:
            return self._files.head(self._vault, path).moved_from
        except NotFoundError:
            return ROOT

    def _is_there(self, path: VaultPath) -> bool:
        try:
            self._files.head(self._vault, path)
        except NotFoundError:
            return False
        return True
