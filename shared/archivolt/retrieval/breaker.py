"""Spares people the wait for what answered nobody a short while ago.

Whatever a search can do without is asked through this. One that lets its time pass is not asked
again for a while, by anybody in this process; then by one question, while the others still go
without. What says at once that it cannot answer costs nobody a wait, and is always asked.
"""

from collections.abc import Callable
from datetime import datetime, timedelta
from threading import Lock
from typing import Final, TypeVar

from archivolt.domain.errors import UnavailableError
from archivolt.domain.limits import SILENCE_SECONDS
from archivolt.ports.clock import Clock

T = TypeVar("T")

# Their time passed, in waiting for an answer or for a connection.
_SILENT: Final = frozenset({"provider_silent", "provider_unreachable"})


class Breaker:
    """Which collaborators are silent, by names of the caller's, and when to ask them again."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._until: dict[str, datetime] = {}
        self._lock = Lock()

    def ask(self, name: str, question: Callable[[], T]) -> T:
        """Return an answer.

        Raises:
            UnavailableError: As the question; `unavailable`: it is not asked.

        """
        self._admit(name)
        try:
            answer = question()
        except UnavailableError as error:
            if error.details.get("reason") in _SILENT:
                self._open(name)
            else:
                self._close(name)
            raise
        self._close(name)
        return answer

    def check(self, name: str) -> None:
        """Let nothing be prepared for a question that would not be asked.

        Raises:
            UnavailableError: `unavailable`.

        """
        until = self._until.get(name)
        if until is not None and self._clock.now() < until:
            raise UnavailableError("unavailable")

    def _admit(self, name: str) -> None:
        """Let a question through; while it is the first after a silence, no other."""
        with self._lock:
            self.check(name)
            if name in self._until:
                self._until[name] = self._later()

    def _open(self, name: str) -> None:
        now = self._clock.now()
        with self._lock:
            self._until = {known: until for known, until in self._until.items() if until > now}
            self._until[name] = self._later()

    def _close(self, name: str) -> None:
        if name in self._until:
            with self._lock:
                self._until.pop(name, None)

    def _later(self) -> datetime:
        return self._clock.now() + timedelta(seconds=SILENCE_SECONDS)
