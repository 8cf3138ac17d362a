"""People write while a tree moves and its process dies: nothing of theirs is lost."""

from collections.abc import Mapping

from hypothesis import given, settings
from hypothesis import strategies as st

from archivolt.domain.confirmation import Confirmed
from archivolt.domain.errors import ArchivoltError
from archivolt.domain.paths import VaultPath
from archivolt.vaults.move_requests import rename_of_directory
from archivolt.vaults.move_steps import MoveStores
from archivolt.vaults.moving import MoveService
from tests.fakes.faults import Death, FaultLine
from tests.move_world import MovingVault

FILES = {
    "d/a.md": "first a [[b]] [x](../n.md)",
    "d/b.md": "first b",
    "d/i.png": "first i",
    "n.md": "first n [[a]] [[d/b]]",
}
PLACES = [*FILES, "e/a.md", "e/b.md", "e/i.png", "d/new.md"]
MOMENTS = st.integers(0, 90)


class BusyLine(FaultLine):
    """A line at whose moments somebody writes, or the process dies; each once.

    `alive` is what was written and not written over by a person since.
    """

    def __init__(self, vault: MovingVault, writes: Mapping[int, str], deaths: set[int]) -> None:
        super().__init__()
        self._vault = vault
        self._writes = writes
        self._deaths = deaths
        self._now = -1
        self.alive = {text.split(" [")[0] for text in FILES.values()}

    def moment(self) -> None:
        self._now += 1
        path = self._writes.get(self._now)
        if path is not None:
            there = self._vault.texts().get(path, "")
            self.alive = {text for text in self.alive if text not in there}
            self.alive.add(f"written at {self._now}.")
            self._vault.write(path, f"written at {self._now}. [[a]]")
        if self._now in self._deaths:
            raise Death


@settings(max_examples=300, deadline=None)
@given(st.dictionaries(MOMENTS, st.sampled_from(PLACES), max_size=6), st.sets(MOMENTS, max_size=3))
def test_what_nobody_wrote_over_is_current_somewhere(
    writes: dict[int, str], deaths: set[int]
) -> None:
    vault = MovingVault(FILES)
    line = BusyLine(vault, writes, deaths)
    stores = MoveStores(
        files=line.across(vault.store),
        catalogue=line.across(vault.catalogue),
        notes=vault.notes,
        operations=line.across(vault.operations),
        clock=vault.clock,
        threads=1,
    )
    service = MoveService(stores)
    request = rename_of_directory(VaultPath("d"), "e")
    confirmed = Confirmed(operation="op-1", pins=vault.preview(request).pins)

    for _ in range(len(deaths) + 1):
        try:
            service.run(vault.access(), request, confirmed)
        except Death:
            continue
        except ArchivoltError:
            pass
        break

    current = "\n".join(vault.texts().values())
    assert {text for text in line.alive if text not in current} == set()
    assert vault.operations.unfinished() == []
