"""Two workers at one document, one stopped at any moment, the other at any of its own.

The machine of the index lets others act between two calls of a worker, but they come to their end
there. Here they do not.
"""

from collections.abc import Callable
from datetime import datetime
from typing import Final

import pytest

from archivolt.domain.ingestion import ChangeKind, ObjectChange
from archivolt.domain.paths import VaultPath
from archivolt.domain.search import SearchMode
from tests.fakes.clock import FrozenClock
from tests.fakes.faults import Death
from tests.fakes.turns import SharedLine, Worker
from tests.product_world import ProductWorld

NOTE: Final = "a.md"
Works = tuple[Callable[[], object], Callable[[], object]]
Modes = tuple[SearchMode, ...]

BY_WORDS: Final = (SearchMode.LEXICAL, SearchMode.HYBRID)
ALL_MODES: Final = tuple(SearchMode)


class MovingClock(FrozenClock):
    """No two readings are of the same instant."""

    def now(self) -> datetime:
        self.advance(milliseconds=1)
        return super().now()


class TwoWorkers(ProductWorld):
    """A vault with a note, and workers that take turns."""

    def __init__(self) -> None:
        super().__init__()
        self.clock = MovingClock()
        self.turns = self.line = SharedLine()
        self.put(NOTE, "llamas graze")
        self.settle_all()

    def workers(self, *works: Callable[[], object]) -> list[Worker]:
        """Return somebody for each work."""
        self.turns.workers = [Worker(work) for work in works]
        return self.turns.workers

    def shown(self, mode: SearchMode) -> list[str]:
        """Return what a search shows of the note."""
        return [hit.excerpt for hit in self.search("llamas graze", mode=mode).hits]

    def read_again(self) -> ObjectChange:
        """Return the wish to read the note again."""
        kind, path = ChangeKind.CREATED, VaultPath(NOTE)
        return ObjectChange(kind=kind, vault=self.vault, path=path, sequencer=None, anew=True)


def edited_twice_told(world: TwoWorkers) -> tuple[Works, Modes]:
    world.put(NOTE, "llamas graze at dawn")
    events = world.events()
    return (lambda: world.deliver(*events), lambda: world.deliver(*events)), BY_WORDS


def edited_at_once(world: TwoWorkers) -> tuple[Works, Modes]:
    world.put(NOTE, "llamas graze at dawn")
    first = world.events()
    world.put(NOTE, "llamas graze at dusk")
    second = world.events()
    return (lambda: world.deliver(*first), lambda: world.deliver(*second)), BY_WORDS


def read_again_by_both(world: TwoWorkers) -> tuple[Works, Modes]:
    again = world.read_again()
    return (lambda: world.deliver(again), lambda: world.deliver(again)), ALL_MODES


def read_again_while_it_is_embedded(world: TwoWorkers) -> tuple[Works, Modes]:
    again = world.read_again()
    world.deliver(again)
    return (world.embed, lambda: (world.deliver(again), world.embed())), ALL_MODES


def one_is_found_at_stops(
    world: TwoWorkers, modes: Modes, works: Works, stops: tuple[int, int], *, dies: bool
) -> tuple[bool, bool]:
    """Stop two workers at these moments; tell which of them had come to its end before."""
    first, second = world.workers(*works)

    def one_is_found() -> None:
        for mode in modes:
            shown = world.shown(mode)
            assert len(shown) == 1, (mode, stops, shown)

    first.go_on(stops[0])
    one_is_found()
    ended = first.done
    second.go_on(stops[1])
    one_is_found()
    both = ended, second.done
    if dies:
        second.die()
    for worker in (first, second):
        worker.go_on()
        one_is_found()
    assert first.trouble is None
    assert second.trouble is None or isinstance(second.trouble, Death)
    return both


@pytest.mark.parametrize("dies", [False, True])
@pytest.mark.parametrize(
    ("case", "step"),
    [
        (edited_twice_told, 2),
        (edited_at_once, 2),
        (read_again_by_both, 2),
        (read_again_while_it_is_embedded, 4),
    ],
)
def test_one_version_is_found_wherever_two_workers_are_stopped(
    case: Callable[[TwoWorkers], tuple[Works, Modes]], step: int, *, dies: bool
) -> None:
    stops, tried = (0, 0), 0
    while True:
        world = TwoWorkers()
        works, modes = case(world)
        ended, other_ended = one_is_found_at_stops(world, modes, works, stops, dies=dies)
        tried += 1
        if ended and other_ended:
            break
        stops = (stops[0] + step, 0) if other_ended else (stops[0], stops[1] + step)
    assert tried > 20
