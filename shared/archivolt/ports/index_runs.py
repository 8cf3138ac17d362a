"""What is known of the comparisons of each vault with its index, and of rebuilding it."""

from dataclasses import dataclass
from datetime import datetime
from typing import Protocol

from archivolt.domain.vault import VaultRef


@dataclass(frozen=True, slots=True, kw_only=True)
class IndexRun:
    """Where a vault stands.

    `compared_at` is when a comparison last reached the end. While the index is being rebuilt,
    everything in it that was made before `rebuild_since` is to be made anew; `asked_at` is when
    somebody last asked for that, and `rebuilt` how many documents were made anew since.
    """

    compared_at: datetime | None = None
    rebuild_since: datetime | None = None
    asked_at: datetime | None = None
    rebuilt: int = 0

    @property
    def is_rebuilding(self) -> bool:
        """Whether a rebuild is under way, and no comparison has reached the end since it began.

        One that did met every document; what it could not make anew is not waited for.
        """
        if self.rebuild_since is None:
            return False
        return self.compared_at is None or self.compared_at <= self.rebuild_since


class IndexRuns(Protocol):
    """Keeps one record a vault. Every implementation passes `tests/contract`."""

    def get(self, vault: VaultRef) -> IndexRun:
        """Return where a vault stands; an unknown one was never compared."""
        ...

    def ask_rebuild(self, vault: VaultRef, *, now: datetime) -> bool:
        """Note that the index of a vault is to be rebuilt.

        A rebuild that is under way goes on, and is not begun again; one whose end a comparison has
        reached, with documents that failed, is. Returns False, and then nothing changed, when
        somebody asked less than `REBUILD_SECONDS` ago.
        """
        ...

    def release(self, vault: VaultRef) -> None:
        """Let a rebuild be asked for again at once: whoever asked could not have it begun."""
        ...

    def note_rebuilt(self, vault: VaultRef, *, documents: int) -> None:
        """Count documents that were made anew; without a rebuild under way, nothing is counted."""
        ...

    def finish(self, vault: VaultRef, *, now: datetime, rebuilt: datetime | None = None) -> None:
        """Note that a comparison reached the end, and with it the rebuild of since `rebuilt`."""
        ...
