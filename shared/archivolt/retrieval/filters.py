"""Which documents a search may look at, where it is narrowed by tag, type or time.

The index of notes knows; the lists of passages are asked for these documents alone, so that what
only the thousandth passage has is found in a vault of any size.
"""

from collections.abc import Sequence

from archivolt.domain.document_types import endings_of
from archivolt.domain.ranges import moment_range
from archivolt.domain.search import SearchQuery
from archivolt.domain.vault import VaultRef
from archivolt.ports.clock import Clock
from archivolt.ports.notes import Between, NoteFilter, NoteIndex
from archivolt.ports.retrieval import Within


class DocumentFilters:
    """Turns the filters of questions into documents."""

    def __init__(self, notes: NoteIndex, clock: Clock) -> None:
        self._notes = notes
        self._clock = clock

    def read(self, query: SearchQuery) -> NoteFilter | None:
        """Return what a question asks of documents; None if nothing.

        Raises:
            InvalidRequestError: `invalid_type`, `invalid_date_range`.

        """
        now = self._clock.now()
        wanted = NoteFilter(
            tag=(query.tag or "").strip().strip("#/"),
            endings=endings_of(query.type) if query.type else (),
            modified=Between(
                **moment_range(query.modified or "", now=now, parameter="modified")._asdict()
            ),
        )
        return None if wanted == NoteFilter() else wanted

    def within(self, vaults: Sequence[VaultRef], wanted: NoteFilter | None) -> Within | None:
        """Return the documents that pass a filter; None if there is none.

        Raises:
            UnavailableError: The index of notes cannot be read.

        """
        return None if wanted is None else self._notes.passing(vaults, wanted)
