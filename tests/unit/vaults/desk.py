"""A vault to change files in: Alice owns it, Bob reads it; every store call can be the last."""

import itertools
from collections.abc import Callable, Mapping

from archivolt.domain.confirmation import Confirmed
from archivolt.domain.paths import VaultPath
from archivolt.domain.vault import ETag, VaultAccess
from archivolt.vaults.access import VaultService
from archivolt.vaults.mutations import MutationService
from tests.builders import ALICE, BOB, principal
from tests.fakes.faults import Death, FaultLine
from tests.fakes.operations import InMemoryOperations
from tests.world import World


class Desk:
    """The stores, what is in them, and confirmations."""

    def __init__(self) -> None:
        self.world = World()
        self.ref = self.world.vault("notes")
        self.world.share(self.ref, principal(BOB))
        self.faults = FaultLine()
        self.files = self.world.store
        self.store = self.faults.across(self.world.store)
        self.operations = InMemoryOperations()
        self.mutations = MutationService(self.store)
        self._numbers = itertools.count(1)

    @property
    def vaults(self) -> VaultService:
        """Who may do what."""
        return self.world.vaults

    def access(self, user: str = ALICE) -> VaultAccess:
        """Return a member's access."""
        return self.vaults.access(principal(user), "notes")

    def put(self, path: str, data: str | bytes) -> VaultPath:
        """Write a file, over one that is there."""
        content = data.encode() if isinstance(data, str) else data
        place = VaultPath(path)
        stored = self.files.stored(self.ref, place)
        if not stored or stored[-1].data is None:
            self.files.create(self.ref, place, content)
        else:
            self.files.replace(self.ref, place, content, expected=self.etag(path))
        return place

    def text(self, path: str) -> str | None:
        """Return what a file holds; None if it is not there."""
        stored = self.files.stored(self.ref, VaultPath(path))
        return stored[-1].data.decode() if stored and stored[-1].data is not None else None

    def etag(self, path: str) -> ETag:
        """Return the current ETag."""
        return self.files.head(self.ref, VaultPath(path)).etag

    def contents(self, path: str) -> list[str | None]:
        """Return every version, oldest first; None is a deletion."""
        return [
            None if stored.data is None else stored.data.decode()
            for stored in self.files.stored(self.ref, VaultPath(path))
        ]

    def confirmed(
        self, *paths: str, pins: Mapping[str, str] | None = None, operation: str = ""
    ) -> Confirmed:
        """Return a confirmation bound to the current versions of these files."""
        found = {path: self.etag(path) for path in paths}
        return Confirmed(
            operation=operation or f"operation-{next(self._numbers)}",
            pins={**found, **(pins or {})},
        )

    def survive(self, change: Callable[[Confirmed], object], confirmed: Confirmed) -> int:
        """Die at each moment of a change in turn, each time on what the last attempt left behind.

        Ends with an attempt that lives; returns how many died.
        """
        for moment in itertools.count():
            self.faults.strike_after(moment)
            try:
                change(_again(confirmed) if moment else confirmed)
            except Death:
                continue
            finally:
                self.faults.calm()
            return moment
        raise AssertionError("no attempt lived")


def _again(confirmed: Confirmed) -> Confirmed:
    return Confirmed(operation=confirmed.operation, pins=confirmed.pins, resumed=True)
