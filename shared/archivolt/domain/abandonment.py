"""Work that nobody waits for any more: how whoever does it hears of that.

It goes with the context of the work, since what lies between the two need not know of it.
"""

from collections.abc import Callable, Generator
from contextlib import contextmanager
from contextvars import ContextVar
from threading import Lock
from typing import Final


class Abandonment:
    """Whether somebody still waits for a piece of work; for several threads."""

    def __init__(self) -> None:
        self._is_declared = False
        self._ends: dict[int, Callable[[], object]] = {}
        self._lock = Lock()

    def declare(self) -> None:
        """Say that nobody waits any more."""
        with self._lock:
            self._is_declared = True
            ends = tuple(self._ends.values())
        for end in ends:
            end()

    @contextmanager
    def ending(self, end: Callable[[], object]) -> Generator[None]:
        """Have something called, at once or until the end of the block, when nobody waits."""
        with self._lock:
            is_over = self._is_declared
            self._ends[id(end)] = end
        try:
            if is_over:
                end()
            yield
        finally:
            with self._lock:
                del self._ends[id(end)]


_NEVER: Final = Abandonment()
_current: Final[ContextVar[Abandonment]] = ContextVar("abandonment", default=_NEVER)


def current_abandonment() -> Abandonment:
    """Return that of the work of this context; one that is never declared if there is none."""
    return _current.get()


def abandonable() -> Abandonment:
    """Return one for what the context of the caller does from now on."""
    abandonment = Abandonment()
    _current.set(abandonment)
    return abandonment
