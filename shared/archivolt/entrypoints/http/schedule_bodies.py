"""What the routes of scheduled runs take and give."""

from collections.abc import Mapping
from datetime import datetime
from typing import Annotated, Self

from pydantic import BaseModel, ConfigDict, Field

from archivolt.chat.requests import ContextKind, Place, PlaceKind
from archivolt.domain.limits import MAX_NAME_BYTES, MAX_PATH_BYTES
from archivolt.domain.schedule import Firing, Schedule, StandingPermission, Timetable
from archivolt.domain.schedule_limits import (
    MAX_EXPRESSION_CHARS,
    MAX_PERMISSION_DAYS,
    MAX_PERMISSION_USES,
    MAX_PERMITTED_TOOLS,
    MAX_SCHEDULE_NAME_CHARS,
    MAX_TIME_ZONE_CHARS,
)
from archivolt.entrypoints.http.message_bodies import Name, Text
from archivolt.entrypoints.http.run_bodies import CapsBody, RunBody
from archivolt.runs.permitting import PermissionDraft
from archivolt.runs.scheduling import request_of
from archivolt.runs.timetables import ScheduleDraft

ToolName = Annotated[str, Field(min_length=1, max_length=MAX_NAME_BYTES)]


class ScheduleBody(RunBody):
    """A run by a timetable: what it is to do, and when."""

    name: Annotated[str, Field(max_length=MAX_SCHEDULE_NAME_CHARS)] = ""
    timetable: Annotated[str, Field(max_length=MAX_EXPRESSION_CHARS)] = Field(
        description="`at(2026-12-01T08:00:00)`, `rate(1 day)` or `cron(0 8 ? * MON-FRI *)`."
    )
    time_zone: Annotated[str, Field(max_length=MAX_TIME_ZONE_CHARS)] = Field(
        default="UTC", description="Whose clocks it follows, such as Europe/Paris."
    )
    enabled: bool = True

    def draft(self) -> ScheduleDraft:
        """Return the schedule in the product's own words."""
        return ScheduleDraft(
            name=self.name.strip(),
            request=self.request(""),
            timetable=Timetable(expression=self.timetable.strip(), zone=self.time_zone.strip()),
            enabled=self.enabled,
        )


class PermissionBody(BaseModel):
    """What a scheduled run may change while nobody looks on."""

    model_config = ConfigDict(extra="forbid", hide_input_in_errors=True)

    tools: list[ToolName] = Field(min_length=1, max_length=MAX_PERMITTED_TOOLS)
    vault: Name
    folder: Annotated[str, Field(max_length=MAX_PATH_BYTES)] = Field(
        description="All that a change touches has to be below it; empty for the whole vault."
    )
    days: int = Field(ge=1, le=MAX_PERMISSION_DAYS, description="Until it expires.")
    uses: int | None = Field(
        default=None,
        ge=1,
        le=MAX_PERMISSION_USES,
        description="How many changes at most; left out, as many as come.",
    )

    def draft(self) -> PermissionDraft:
        """Return the permission in the product's own words."""
        return PermissionDraft(
            tools=tuple(self.tools),
            vault=self.vault,
            folder=self.folder,
            days=self.days,
            most=self.uses,
        )


class GivenPermission(BaseModel):
    """A permission that stands, or stood: `vault` is null where its giver lost that."""

    id: str
    tools: list[str]
    vault: str | None
    folder: str
    given_at: datetime
    expires_at: datetime
    uses: int | None = Field(description="How many changes at most; null: as many as come.")
    used: int

    @classmethod
    def of(cls, permission: StandingPermission, vaults: Mapping[str, str]) -> Self:
        """Return a permission; `vaults` are names by ids."""
        return cls(
            id=permission.id,
            tools=list(permission.tools),
            vault=vaults.get(permission.vault),
            folder=permission.folder,
            given_at=permission.given_at,
            expires_at=permission.expires_at,
            uses=permission.most,
            used=permission.uses,
        )


class LastFiring(BaseModel):
    """What came of the last time: `outcome` is `ok`, or the code of why no run was started."""

    at: datetime
    outcome: str
    run: str | None

    @classmethod
    def of(cls, firing: Firing) -> Self:
        """Return what came of a firing."""
        return cls(at=firing.at, outcome=firing.outcome, run=firing.run or None)


class PlaceBody(BaseModel):
    """A place that the goal is about."""

    kind: PlaceKind
    vault: str
    path: str

    @classmethod
    def of(cls, place: Place) -> Self:
        """Return a place as it was asked for."""
        return cls(kind=place.kind, vault=place.vault, path=place.path)


class ScheduleDetail(BaseModel):
    """A schedule. `vaults` it reaches by name, null for all; those that were lost are not named."""

    id: str
    name: str
    enabled: bool
    timetable: str
    time_zone: str
    next: datetime | None = Field(description="Null while it is paused, and when it is over.")
    last: LastFiring | None
    goal: Text
    vaults: list[str] | None
    context: ContextKind
    places: list[PlaceBody]
    provider: str
    model: str
    skill: str
    caps: CapsBody
    permissions: list[GivenPermission]
    created_at: datetime
    changed_at: datetime

    @classmethod
    def of(cls, schedule: Schedule, following: datetime | None, vaults: Mapping[str, str]) -> Self:
        """Return a schedule; `vaults` are names by ids."""
        asked = request_of(schedule)
        caps = asked.caps
        reached = [vaults[each] for each in schedule.vaults if each in vaults]
        return cls(
            id=schedule.id,
            name=schedule.name,
            enabled=schedule.enabled,
            timetable=schedule.timetable.expression,
            time_zone=schedule.timetable.zone,
            next=following,
            last=LastFiring.of(schedule.last) if schedule.last else None,
            goal=asked.goal,
            vaults=reached if schedule.vaults else None,
            context=asked.context,
            places=[PlaceBody.of(each) for each in asked.places],
            provider=asked.provider,
            model=asked.model,
            skill=asked.skill,
            caps=CapsBody(
                steps=caps.steps,
                tool_calls=caps.tool_calls,
                minutes=caps.minutes,
                micro_dollars=caps.micro_dollars,
            ),
            permissions=[GivenPermission.of(each, vaults) for each in schedule.permissions],
            created_at=schedule.created_at,
            changed_at=schedule.changed_at,
        )


class ScheduleList(BaseModel):
    """A person's schedules, the oldest first."""

    schedules: list[ScheduleDetail]
