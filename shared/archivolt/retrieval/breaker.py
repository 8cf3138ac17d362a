"""Spares people the wait for what answered nobody a short while ago.

Whatever a search can do without is asked through this. One that lets its time pass is not asked
again for a while, by anybody in this process; then by one question, while the others still go
without. What says at once that it cannot answer costs nobody a wait, and is always asked; what
says so late is not. A silence is known of one tenant, whose questions or key may be slow alone.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import datetime, timedelta
from threading import Lock
from typing import Final, TypeVar

from archivolt.domain.errors import UnavailableError
from archivolt.domain.identity import TenantId
from archivolt.domain.limits import LONG_REFUSAL_SECONDS, SILENCE_SECONDS
from archivolt.observability import logger
from archivolt.ports.clock import Clock

T = TypeVar("T")

_SILENCE: Final = timedelta(seconds=SILENCE_SECONDS)
_LONG: Final = timedelta(seconds=LONG_REFUSAL_SECONDS)
_UNREACHABLE: Final = "provider_unreachable"
# Their time passed, in waiting for an answer or for a connection.
_SILENT: Final = frozenset({"provider_silent", _UNREACHABLE})

_Key = tuple[str, TenantId | None]
"""Who is silent, and to whom; None: to everybody."""


class Breaker:
    """Which collaborators are silent, by names of the caller's, and when to ask them again."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._until: dict[_Key, datetime] = {}
        self._lock = Lock()

    def ask(self, name: str, tenant: TenantId, question: Callable[[], T]) -> T:
        """Return an answer; arguments and errors as for `turn` and its `ask`."""
        with self.turn(name, tenant) as turn:
            return turn.ask(question)

    def turn(
        self, name: str, tenant: TenantId, *, shared: bool = False, alone: bool = False
    ) -> "Turn":
        """Return the leave to ask once. Use as a context: its end lets others ask.

        Args:
            name: Who is asked.
            tenant: For whom; a silence is known for this tenant.
            shared: One server is there for all tenants: that nobody can connect is known for all.
            alone: Nothing else would answer: the leave is given whatever is known.

        Raises:
            UnavailableError: `unavailable`: it was silent a short while ago, or is being tried.

        """
        keys: list[_Key] = [(name, tenant), (name, None)]
        now = self._clock.now()
        with self._lock:
            before = {key: self._until[key] for key in keys if key in self._until}
            if alone:
                before.clear()
            elif any(now < until for until in before.values()):
                raise UnavailableError("unavailable")
            # While this is the first question after a silence, there is no other.
            trial = now + _SILENCE
            self._until |= dict.fromkeys(before, trial)
        return Turn(self, self._clock, keys=keys, shared=shared, trial=trial, before=before)

    def answered(self, keys: Iterable[_Key]) -> None:
        """Note that there was an answer."""
        if any(key in self._until for key in keys):
            with self._lock:
                for key in keys:
                    self._until.pop(key, None)

    def unanswered(
        self, trial: datetime, before: Mapping[_Key, datetime], silent: _Key | None
    ) -> None:
        """Let another question try; or note who let time pass."""
        now = self._clock.now()
        with self._lock:
            for key, until in before.items():
                if self._until.get(key) == trial:
                    self._until[key] = until
            if silent is None:
                return
            # One whose silence is just over is tried by one question alone, too.
            self._until = {
                key: until for key, until in self._until.items() if until > now - _SILENCE
            }
            self._until[silent] = now + _SILENCE
        logger.warning(
            "searches go without what did not answer in time", extra={"asked": silent[0]}
        )


class Turn:
    """The leave to ask one question; nothing is noted of what else fails in its context."""

    def __init__(
        self,
        breaker: Breaker,
        clock: Clock,
        *,
        keys: Sequence[_Key],
        shared: bool,
        trial: datetime,
        before: Mapping[_Key, datetime],
    ) -> None:
        self._breaker = breaker
        self._clock = clock
        self._keys = keys
        self._shared = shared
        self._trial = trial
        self._before = before
        self._answered = False
        self._silent: _Key | None = None

    def __enter__(self) -> "Turn":
        return self

    def __exit__(self, *error: object) -> None:
        if self._answered:
            self._breaker.answered(self._keys)
        else:
            self._breaker.unanswered(self._trial, self._before, self._silent)

    def ask(self, question: Callable[[], T]) -> T:
        """Return an answer.

        Raises:
            UnavailableError: As the question.

        """
        since = self._clock.now()
        try:
            answer = question()
        except UnavailableError as error:
            reason = error.details.get("reason")
            if reason in _SILENT or self._clock.now() - since >= _LONG:
                to_one, to_all = self._keys
                self._silent = to_all if self._shared and reason == _UNREACHABLE else to_one
            raise
        self._answered = True
        return answer
