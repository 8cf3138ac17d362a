"""Conversations that are over age: hidden at once, and removed by a daily purge (S19, S20)."""

from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Final

from archivolt.domain.identity import TenantId
from archivolt.domain.retention import kept_since
from archivolt.domain.retention_limits import MAX_PURGED_A_RUN
from archivolt.observability import failure, logger
from archivolt.ports.clock import Clock
from archivolt.ports.governance import TenantSettingsStore
from archivolt.ports.retention import ConversationAge, ConversationAges, SweepPlace

TimeLeft = Callable[[], timedelta]
# What one removal may still need.
_RESERVE: Final = timedelta(seconds=20)


@dataclass(slots=True, kw_only=True)
class Purge:
    """What one run of the purge did.

    `due` were over age; of these `purged` were removed and `failed` could not be. `kept` are of an
    age that is allowed. `tenants_failed`: those whose settings could not be read. `complete`: the
    walk reached the end.
    """

    due: int = 0
    purged: int = 0
    failed: int = 0
    kept: int = 0
    tenants_failed: int = 0
    oldest_kept: datetime | None = None
    complete: bool = True


@dataclass(slots=True)
class _Run:
    """What one run goes by: the moment it began, and since when each tenant keeps.

    `first` are those of the first page that the run left there: where it began.
    """

    now: datetime
    dry: bool
    most: int
    found: Purge = field(default_factory=Purge)
    since: dict[TenantId, datetime | None] = field(default_factory=dict[TenantId, datetime | None])
    failed: set[TenantId] = field(default_factory=set[TenantId])
    first: set[ConversationAge] = field(default_factory=set[ConversationAge])


class RetentionSweep:
    """Purges the conversations of all tenants.

    Args:
        ages: Knows how old they are.
        settings: Each tenant's.
        place: Where the last run stopped.
        clock: The time.

    """

    def __init__(
        self,
        ages: ConversationAges,
        settings: TenantSettingsStore,
        place: SweepPlace,
        clock: Clock,
    ) -> None:
        self._ages = ages
        self._settings = settings
        self._place = place
        self._clock = clock

    def run(self, *, time_left: TimeLeft, dry: bool = False, most: int = MAX_PURGED_A_RUN) -> Purge:
        """Remove what is over age, at most so many; `dry` counts only.

        A run that time or number ends is gone on with by the next, from the page it stopped at, and
        from the beginning up to there; a dry run begins at the beginning and leaves no trace. A
        tenant's trouble, or a conversation's, leaves the others alone.

        Raises:
            UnavailableError: Conversations cannot be listed, or the place not be kept.

        """
        run = _Run(self._clock.now(), dry, most)
        start = None if dry else self._place.load()
        place = self._walk(start, run, time_left)
        if start is not None and run.found.complete:
            place = self._walk(None, run, time_left)
        if not dry:
            self._place.save(place)
        logger.info("purged", extra={"found": str(run.found)})
        return run.found

    def _walk(self, after: str | None, run: _Run, time_left: TimeLeft) -> str | None:
        """Go on to the end, or to where the run began; return where it stopped, None there."""
        passed = run.first
        while True:
            page = self._ages.page(after=after)
            left: set[ConversationAge] = set()
            for each in page.conversations:
                if each in passed:
                    return None
                before = run.found.purged
                run.found.complete = self._settled(each, run, time_left)
                if not run.found.complete:
                    # Where nothing could be removed, the next run would get no further.
                    return after if run.found.purged else page.next_after
                if run.found.purged == before:
                    left.add(each)
            run.first = run.first or left
            after = page.next_after
            if after is None:
                return None
            run.found.complete = time_left() > _RESERVE
            if not run.found.complete:
                return after

    def _settled(self, one: ConversationAge, run: _Run, time_left: TimeLeft) -> bool:
        """Remove a conversation if it is over age; False if there is no time left to."""
        if not self._is_known(one.tenant, run):
            return True
        since = run.since[one.tenant]
        found = run.found
        if since is None or one.last_use >= since:
            found.kept += 1
            found.oldest_kept = min(found.oldest_kept or one.last_use, one.last_use)
            return True
        if found.purged >= run.most or time_left() <= _RESERVE:
            return False
        found.due += 1
        if not run.dry:
            self._purge(one, since, found)
        return True

    def _purge(self, one: ConversationAge, since: datetime, found: Purge) -> None:
        try:
            if self._ages.purge(one, since=since):
                found.purged += 1
        except Exception as error:  # noqa: BLE001  one conversation's trouble is not another's
            logger.error("a conversation was not purged", extra=failure(error))
            found.failed += 1

    def _is_known(self, tenant: TenantId, run: _Run) -> bool:
        """Tell whether it is known since when a tenant keeps conversations; asked once a run."""
        if tenant in run.failed:
            return False
        if tenant not in run.since:
            try:
                days = self._settings.load(tenant).chat_retention_days
            except Exception as error:  # noqa: BLE001  one tenant's trouble is not another's
                logger.error("a tenant's conversations were not purged", extra=failure(error))
                run.failed.add(tenant)
                run.found.tenants_failed += 1
                return False
            run.since[tenant] = kept_since(run.now, days)
        return True
