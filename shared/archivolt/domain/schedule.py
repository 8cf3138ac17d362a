"""Runs by a timetable, and what a person permits them to change while nobody looks on."""

from dataclasses import dataclass
from datetime import datetime

from archivolt.domain.identity import TenantId, UserId
from archivolt.domain.language import Language
from archivolt.domain.tool import JsonObject


@dataclass(frozen=True, slots=True, kw_only=True)
class StandingPermission:
    """A person's yes given beforehand: to these tools, in a folder of a vault, until it expires.

    `vault` is an id, `folder` a directory of it, "" for all of it. `uses` counts the changes that
    it was good for, of at most `most`; None: as many as come.
    """

    id: str
    tools: tuple[str, ...]
    vault: str
    folder: str
    given_at: datetime
    expires_at: datetime
    most: int | None = None
    uses: int = 0

    @property
    def used_up(self) -> bool:
        """Whether it is good for no further change."""
        return self.most is not None and self.uses >= self.most


@dataclass(frozen=True, slots=True, kw_only=True)
class Firing:
    """What came of the last time: when it was due, and a run, or a code that says why none.

    `before` is the run that was started last by then, where there is none of this time. One that is
    not `settled` failed, and may be tried again.
    """

    due: str
    at: datetime
    outcome: str
    run: str = ""
    before: str = ""
    settled: bool = True

    @property
    def latest_run(self) -> str:
        """The run that was started last, by this time or one before; "" for none."""
        return self.run or self.before

    def answers(self, due: str) -> bool:
        """Tell whether nothing is to be done for a moment any more: it is settled, or late."""
        return due < self.due or (due == self.due and self.settled)


@dataclass(frozen=True, slots=True, kw_only=True)
class FiringRef:
    """Which schedule's time has come; `due` is the moment, as its timer tells it."""

    tenant: TenantId
    user: UserId
    schedule: str
    due: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Timetable:
    """When: an expression of EventBridge Scheduler (`at`, `rate`, `cron`) in a time zone."""

    expression: str
    zone: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Schedule:
    """A run that starts by a timetable, as its owner; `asked` is what it is to do, as JSON.

    `vaults` are the ids of those it may reach, none: all of its owner's. `revision` is the store's.
    """

    id: str
    tenant: TenantId
    owner: UserId
    name: str
    asked: JsonObject
    timetable: Timetable
    language: Language
    created_at: datetime
    changed_at: datetime
    vaults: tuple[str, ...] = ()
    enabled: bool = True
    permissions: tuple[StandingPermission, ...] = ()
    last: Firing | None = None
    revision: int = 0
