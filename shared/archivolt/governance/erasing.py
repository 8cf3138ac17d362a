"""The work of an erasure: walks through all stores, until one finds nothing.

The first walk removes what there is; the next one reads back at once. What was under way meanwhile
(a turn, an upload, a job of the index) can leave something behind for as long as it may take: after
that time a last walk reads back again. One that finds something removes it, counts it, and another
follows. Every step can be done again, by another process, from what was noted.
"""

from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Final

from archivolt.domain.erasure import Erasure, ErasureState
from archivolt.domain.retention_limits import ERASURE_LEASE_SECONDS, MAX_ERASURE_RUNS
from archivolt.governance.erased_vaults import ErasedVaults
from archivolt.governance.erasure_doors import ErasureDoors
from archivolt.observability import failure, logger
from archivolt.ports.clock import Clock
from archivolt.ports.erasure import Eraser, ErasureQueue, ErasureRecords

TimeLeft = Callable[[], timedelta]
# What one part may still need.
_RESERVE: Final = timedelta(seconds=60)
# The longest that a queue holds a message back.
_LONGEST_DELAY: Final = timedelta(seconds=900)
# The walk that has to find nothing: the first after the time in which something may come.
_LAST_WALK: Final = 2


class ErasureWorker:
    """Carries erasures out.

    Args:
        records: Where they are noted.
        erasers: What removes, store by store, in this order.
        queue: Where the work waits.
        doors: Keep out who is erased.
        vaults: Tells which vaults go.
        clock: The time.
        settle: For how long something that began before may still leave something behind.

    """

    def __init__(
        self,
        records: ErasureRecords,
        erasers: Sequence[Eraser],
        queue: ErasureQueue,
        *,
        doors: ErasureDoors,
        vaults: ErasedVaults,
        clock: Clock,
        settle: timedelta,
    ) -> None:
        self._records = records
        self._erasers = erasers
        self._queue = queue
        self._doors = doors
        self._vaults = vaults
        self._clock = clock
        self._settle = settle

    def run(self, erasure_id: str, *, time_left: TimeLeft) -> None:
        """Go on with an erasure for as long as there is time; the queue brings what is left.

        One that is done, or that somebody else is at, is left alone.

        Raises:
            UnavailableError: A store is down; going on later does what is left.

        """
        now = self._clock.now()
        erasure = self._records.take(erasure_id, now=now, until=self._held())
        if erasure is None:
            return
        if erasure.due is not None and now < erasure.due:
            self._later(erasure, min(erasure.due - now, _LONGEST_DELAY))
            return
        erasure = replace(erasure, due=None)
        self._doors.close(erasure.subject)
        while erasure.state is not ErasureState.DONE:
            if time_left() < _RESERVE:
                self._later(erasure, timedelta())
                return
            erasure = self._step(erasure)
            if erasure.due is not None:
                self._later(erasure, min(self._settle, _LONGEST_DELAY))
                return

    def run_all(self, *, time_left: TimeLeft) -> int:
        """Go on with every erasure that is not done, and return how many there are.

        Messages can be lost, and come to their end among the dead letters: so this is done daily.
        """
        unfinished = self._records.unfinished()
        for erasure_id in unfinished:
            try:
                self.run(erasure_id, time_left=time_left)
            except Exception as error:  # noqa: BLE001  one erasure's trouble is not another's
                logger.error("an erasure did not go on", extra=failure(error))
        return len(unfinished)

    def _step(self, erasure: Erasure) -> Erasure:
        """Remove one part, or end the walk that reached the end."""
        if erasure.step == len(self._erasers):
            return self._walked(erasure)
        subject = self._vaults.by_now(erasure, self._clock.now())
        if subject != erasure.subject:
            # Before anything of a vault goes: once it is gone, nothing tells that it was theirs.
            erasure = replace(erasure, subject=subject)
            self._records.save(erasure, until=self._held())
        place = self._erasers[erasure.step].page(erasure, erasure.cursor)
        if place is None:
            erasure = replace(erasure, step=erasure.step + 1, cursor="")
        else:
            erasure = replace(erasure, cursor=place)
        self._records.save(erasure, until=self._held())
        return erasure

    def _walked(self, erasure: Erasure) -> Erasure:
        """Say what comes after a walk: another one, now or later, or the end."""
        counted = self._records.get(erasure.id) or erasure
        found = sum(counted.found.values())
        now = self._clock.now()
        if erasure.run and not found:
            counted = replace(counted, verified_at=(*counted.verified_at, now))
        last = counted.run >= _LAST_WALK and not found
        if last or counted.run >= MAX_ERASURE_RUNS:
            return self._finished(counted, now)
        settles = counted.run > 0 and bool(self._settle)
        after = replace(
            counted,
            run=counted.run + 1,
            step=0,
            cursor="",
            state=ErasureState.SETTLING if counted.run else ErasureState.ERASING,
            due=now + self._settle if settles else None,
        )
        return self._records.begin_run(after, until=self._held())

    def _finished(self, erasure: Erasure, now: datetime) -> Erasure:
        self._doors.end(erasure.subject)
        done = replace(erasure, state=ErasureState.DONE, due=None, done_at=now)
        self._records.finish(done)
        told = {"erasure": done.id, "deleted": str(dict(done.deleted))}
        if done.is_complete:
            logger.info("erased", extra=told)
        else:
            logger.error("an erasure went on finding something", extra=told)
        return done

    def _later(self, erasure: Erasure, delay: timedelta) -> None:
        """Let go of an erasure, and have it gone on with in a while.

        In this order, as whoever gets the message before that would find it held, and leave it.
        """
        self._records.save(erasure, until=self._clock.now())
        self._queue.send(erasure.id, delay=delay)

    def _held(self) -> datetime:
        return self._clock.now() + timedelta(seconds=ERASURE_LEASE_SECONDS)
