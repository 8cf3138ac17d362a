"""Tells how far the first indexing of a vault is, until it is done."""

import asyncio
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from archivolt.domain.ingestion import IndexState

_SECONDS_BETWEEN = 3.0


@dataclass(frozen=True, kw_only=True)
class Progress:
    """How far a vault is. `files` is how many the folder has, `left` how many are not written."""

    vault: str
    files: int
    left: int
    counts: Mapping[IndexState, int]

    @property
    def through(self) -> int:
        """How many documents have reached a final state."""
        final = (number for state, number in self.counts.items() if state is not IndexState.PENDING)
        return sum(final)

    @property
    def done(self) -> bool:
        """Whether nothing is left to do."""
        pending = self.counts.get(IndexState.PENDING, 0)
        return not self.left and not pending and self.through >= self.files

    def line(self) -> str:
        """Return it as one line for a person."""
        if self.done:
            states = (f"{number} {state.value}" for state, number in self.counts.items() if number)
            return f"Vault {self.vault}: everything is indexed ({', '.join(states) or 'no files'})."
        pending = self.counts.get(IndexState.PENDING, 0)
        words = f", {pending} more found by words already" if pending else ""
        return (
            f"Vault {self.vault}: {min(self.through, self.files)} of {self.files} indexed{words}."
        )


async def tell_progress(look: Callable[[], Progress], say: Callable[[str], None]) -> None:
    """Say how far a vault is, whenever that changed, until it is done."""
    told = ""
    while True:
        progress = await asyncio.to_thread(look)
        if progress.line() != told:
            told = progress.line()
            say(told)
        if progress.done:
            return
        await asyncio.sleep(_SECONDS_BETWEEN)
