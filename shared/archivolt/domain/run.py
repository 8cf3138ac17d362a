"""Agent runs: work of many steps that outlives a request (decision 21)."""

from dataclasses import dataclass, field
from datetime import datetime, timedelta
from enum import StrEnum
from typing import Any, Final, NewType

from archivolt.domain.erasure import pseudonym
from archivolt.domain.identity import Principal, TenantId, TokenKind, UserId
from archivolt.domain.language import Language
from archivolt.domain.run_limits import (
    DEFAULT_RUN_MINUTES,
    DEFAULT_RUN_STEPS,
    DEFAULT_RUN_TOOL_CALLS,
)
from archivolt.domain.tool import JsonObject

RunId = NewType("RunId", str)

_SCHEDULED: Final = "schedule-"


class RunStatus(StrEnum):
    """How far a run has come."""

    QUEUED = "queued"
    RUNNING = "running"
    AWAITING_APPROVAL = "awaiting_approval"
    COMPLETED = "completed"
    """It has answered."""
    STOPPED = "stopped"
    """A brake, a cap, a person's no, or a rule ended it; `reason` says which."""
    FAILED = "failed"
    CANCELLED = "cancelled"

    @property
    def over(self) -> bool:
        """Whether nothing happens any more."""
        return self not in {self.QUEUED, self.RUNNING, self.AWAITING_APPROVAL}


class RunPhase(StrEnum):
    """What a run is at between two steps."""

    MODEL = "model"
    TOOLS = "tools"
    APPROVAL = "approval"


@dataclass(frozen=True, slots=True, kw_only=True)
class RunCaps:
    """The most a run may take. `minutes` are those of work: waiting for a person counts for none.

    `micro_dollars` bounds what its model costs; None: the budgets of tenant and user alone do.
    """

    steps: int = DEFAULT_RUN_STEPS
    tool_calls: int = DEFAULT_RUN_TOOL_CALLS
    minutes: int = DEFAULT_RUN_MINUTES
    micro_dollars: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class RunUse:
    """What a run has taken so far; `waited_seconds` is for people, or a model that was down."""

    steps: int = 0
    tool_calls: int = 0
    input_tokens: int = 0
    output_tokens: int = 0
    micro_dollars: int = 0
    waited_seconds: float = 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Run:
    """A run of one user, who is `principal`: it may what that caller may, and no more.

    `reason` is a code: why it is over; `reason_details` are the values of its sentence. `execution`
    counts those that worked on it: only the latest may go on. `revision` and `event_count` are the
    store's; `history` is about how many events the execution has recorded. `failing_since`: the
    model has not answered since then. `digest` is of what was asked for, to know a repeated request
    by. `ended_by` is who cancelled it, as `named` here. `token` names what a program started it
    with, as `ProgramTokens` does: it ends with that. `unsettled`: it was cancelled, and what
    follows may not all be done.
    """

    id: RunId
    principal: Principal
    goal: str
    created_at: datetime
    updated_at: datetime
    caps: RunCaps = field(default_factory=RunCaps)
    use: RunUse = field(default_factory=RunUse)
    status: RunStatus = RunStatus.QUEUED
    reason: str = ""
    reason_details: JsonObject = field(default_factory=dict[str, Any])
    phase: RunPhase = RunPhase.MODEL
    language: Language = Language.EN
    answers_in: Language = Language.EN
    provider: str = ""
    model: str = ""
    digest: str = ""
    execution: int = 1
    history: int = 0
    revision: int = 0
    event_count: int = 0
    started_at: datetime | None = None
    waiting_since: datetime | None = None
    failing_since: datetime | None = None
    ended_by: str = ""
    token: str = ""
    unsettled: bool = False

    @property
    def tenant(self) -> TenantId:
        """Whose it is."""
        return self.principal.tenant

    @property
    def owner(self) -> UserId:
        """Who started it."""
        return self.principal.user

    @property
    def schedule(self) -> str:
        """The id of the schedule that started it, with nobody to ask; "" for any other run."""
        if self.principal.kind is not TokenKind.SCHEDULED:
            return ""
        return self.principal.token_id.removeprefix(_SCHEDULED)

    def named(self, user: UserId) -> str:
        """Return what is kept here of who said something: of others no name.

        A run goes when its owner is erased, and stays when others are.
        """
        return user if user == self.owner else pseudonym(self.tenant, user)

    def worked_seconds(self, now: datetime) -> float:
        """Return for how long it has worked, without its waiting for people or its model."""
        if self.started_at is None:
            return 0.0
        since = self.waiting_since or self.failing_since
        waiting = now - since if since else timedelta(0)
        passed = (now - self.started_at - waiting).total_seconds()
        return passed - self.use.waited_seconds


@dataclass(frozen=True, slots=True, kw_only=True)
class RunRef:
    """Which execution asks about which run; `retries` is how often it has asked before."""

    tenant: TenantId
    run: RunId
    execution: int
    retries: int = 0


class ApprovalState(StrEnum):
    """What became of a change that a run proposed."""

    PENDING = "pending"
    APPROVED = "approved"
    DECLINED = "declined"
    EXPIRED = "expired"


@dataclass(frozen=True, slots=True, kw_only=True)
class RunApproval:
    """A change that waits for a person's word, or did.

    `call` is the place of its call in the run; `id` changes with each edit, so that nobody agrees
    to what they were not shown. `sealed` is the call with its token and its preview. `task_token`
    lets the execution that waits go on. `proposal` names the proposal, `vault` is the id of the
    vault that it changes, "" where its arguments name none; `decided_by` is whom the run `named`.
    """

    id: str
    call: str
    tool: str
    expires_at: datetime
    sealed: str
    proposal: str
    vault: str = ""
    state: ApprovalState = ApprovalState.PENDING
    task_token: str = ""
    decided_by: str = ""
    decided_at: datetime | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class RunEvent:
    """Something that happened in a run; `number` counts from 1, and is 0 until it is kept."""

    name: str
    data: JsonObject
    at: datetime
    number: int = 0


def scheduled_token(schedule_id: str) -> str:
    """Return what stands for a token where a schedule calls."""
    return f"{_SCHEDULED}{schedule_id}"


def call_place(step: int, index: int) -> str:
    """Return the place of a call: the step it was asked for in, and its number there."""
    return f"{step}.{index}"


def index_of(place: str) -> int:
    """Return the number of a call in its step."""
    return int(place.rpartition(".")[2])
