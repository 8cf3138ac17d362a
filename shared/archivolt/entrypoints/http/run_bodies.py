"""What the routes of agent runs take and give (contract: Agent runs)."""

from datetime import datetime
from typing import Annotated, Any, Self

from pydantic import BaseModel, ConfigDict, Field, model_validator
from pydantic_core import PydanticCustomError

from archivolt.domain.conversation import Message
from archivolt.domain.limits import MAX_SKILL_ID_CHARS
from archivolt.domain.run import Run, RunApproval, RunCaps, RunEvent, RunStatus
from archivolt.domain.run_limits import (
    DEFAULT_RUN_MINUTES,
    DEFAULT_RUN_STEPS,
    DEFAULT_RUN_TOOL_CALLS,
    MAX_IDEMPOTENCY_KEY_CHARS,
    MAX_RUN_MICRO_DOLLARS,
    MAX_RUN_MINUTES,
    MAX_RUN_STEPS,
    MAX_RUN_TOOL_CALLS,
    MAX_RUN_VAULTS,
)
from archivolt.domain.tool import JsonObject
from archivolt.entrypoints.http.conversation_bodies import CitationBody, ToolCallBody, Usage
from archivolt.entrypoints.http.message_bodies import Name, PlacesBody, Text
from archivolt.runs.deciding import Decision
from archivolt.runs.ending import reason_in_words
from archivolt.runs.requests import RunRequest
from archivolt.runs.service import ShownApproval

Key = Annotated[str, Field(max_length=MAX_IDEMPOTENCY_KEY_CHARS)]


class CapsBody(BaseModel):
    """The most a run may take."""

    model_config = ConfigDict(extra="forbid", hide_input_in_errors=True)

    steps: int = Field(default=DEFAULT_RUN_STEPS, ge=1, le=MAX_RUN_STEPS)
    tool_calls: int = Field(default=DEFAULT_RUN_TOOL_CALLS, ge=0, le=MAX_RUN_TOOL_CALLS)
    minutes: int = Field(
        default=DEFAULT_RUN_MINUTES,
        ge=1,
        le=MAX_RUN_MINUTES,
        description="Of work; waiting for people counts for none.",
    )
    micro_dollars: int | None = Field(
        default=None,
        ge=0,
        le=MAX_RUN_MICRO_DOLLARS,
        description="What its model may cost; left out, the budgets alone bound it.",
    )

    def caps(self) -> RunCaps:
        """Return the caps in the product's own words."""
        return RunCaps(**self.model_dump())


class RunBody(PlacesBody):
    """A run to start."""

    goal: Text = Field(description="What to do, as one would say it in the chat.")
    vaults: list[Name] = Field(
        default=[],
        max_length=MAX_RUN_VAULTS,
        description="The vaults it may reach; left out, all of yours.",
    )
    provider: Name = Field(default="", description="Left out, the configured one.")
    model: Name = Field(default="", description="Left out, the configured one.")
    skill: Annotated[str, Field(max_length=MAX_SKILL_ID_CHARS)] = ""
    caps: CapsBody = Field(default_factory=CapsBody)
    idempotency_key: Key = Field(
        default="",
        description="A request that is sent again with its key starts nothing more; also as the"
        " header `Idempotency-Key`.",
    )

    def request(self, key: str) -> RunRequest:
        """Return what is asked for in the product's own words; `key` is the header's."""
        return RunRequest(
            goal=self.goal,
            vaults=tuple(self.vaults),
            context=self.context.kind,
            places=self.places(),
            provider=self.provider,
            model=self.model,
            skill=self.skill,
            caps=self.caps.caps(),
            idempotency_key=self.idempotency_key or key,
        )


class DecisionBody(BaseModel):
    """A person's word on a change."""

    model_config = ConfigDict(extra="forbid", hide_input_in_errors=True)

    decision: Decision
    arguments: dict[str, Any] | None = Field(
        default=None, description="For `edit`: all arguments of the call, as they shall be."
    )

    @model_validator(mode="after")
    def _edits_with_arguments(self) -> Self:
        if (self.decision is Decision.EDIT) is (self.arguments is None):
            raise PydanticCustomError("missing", "arguments go with edit, and with nothing else")
        return self


class ApprovalBody(BaseModel):
    """A change that waits for a person."""

    id: str
    tool_name: str
    tool_id: str
    arguments: JsonObject
    preview: JsonObject
    expires_at: datetime

    @classmethod
    def of(cls, shown: ShownApproval) -> Self:
        """Return a change as people see it."""
        return cls(
            id=shown.approval.id,
            tool_name=shown.approval.tool,
            tool_id=shown.tool_id,
            arguments=shown.arguments,
            preview=shown.preview,
            expires_at=shown.approval.expires_at,
        )


class DecidedBody(BaseModel):
    """What became of a change."""

    id: str
    run: str
    state: str
    decided_by: str = ""

    @classmethod
    def of(cls, run_id: str, approval: RunApproval) -> Self:
        """Return a change that was decided on."""
        return cls(
            id=approval.id,
            run=run_id,
            state=approval.state.value,
            decided_by=approval.decided_by,
        )


class RunStarted(BaseModel):
    """A run that is under way, or was before."""

    id: str
    status: RunStatus


class RunSummary(BaseModel):
    """A run in a list. `reason` is the code of why it is over, `message` says it in words."""

    id: str
    status: RunStatus
    reason: str
    message: str
    goal: str
    owner: str
    model: str
    steps: int
    tool_calls: int
    usage: Usage
    micro_dollars: int
    created_at: datetime
    updated_at: datetime

    @classmethod
    def of(cls, run: Run) -> Self:
        """Return a run as it is listed."""
        return cls(**_summary(run))


class RunPage(BaseModel):
    """Some of a person's runs, last active first."""

    runs: list[RunSummary]
    next_after: str | None


class RunDetail(RunSummary):
    """A run, with what waits for a person and what it brought."""

    caps: CapsBody
    approvals: list[ApprovalBody]
    result: str | None
    citations: list[CitationBody]
    calls: list[ToolCallBody]

    @classmethod
    def whole(cls, run: Run, waiting: list[ShownApproval], result: Message | None) -> Self:
        """Return a run with its changes and its result."""
        caps = run.caps
        return cls(
            **_summary(run),
            caps=CapsBody(
                steps=caps.steps,
                tool_calls=caps.tool_calls,
                minutes=caps.minutes,
                micro_dollars=caps.micro_dollars,
            ),
            approvals=[ApprovalBody.of(each) for each in waiting],
            result=result.text if result else None,
            citations=[CitationBody.of(each) for each in result.citations] if result else [],
            calls=[ToolCallBody.of(each) for each in result.tool_calls] if result else [],
        )


class EventBody(BaseModel):
    """Something that happened in a run."""

    id: int
    event: str
    data: JsonObject
    at: datetime

    @classmethod
    def of(cls, event: RunEvent) -> Self:
        """Return an event."""
        return cls(id=event.number, event=event.name, data=event.data, at=event.at)


class EventPage(BaseModel):
    """Some events; `next_after` asks for what follows, and nothing will once `over`."""

    events: list[EventBody]
    next_after: int
    over: bool


def _summary(run: Run) -> dict[str, Any]:
    use = run.use
    return {
        "id": run.id,
        "status": run.status,
        "reason": run.reason,
        "message": reason_in_words(run) if run.status.over else "",
        "goal": run.goal,
        "owner": run.owner,
        "model": run.model,
        "steps": use.steps,
        "tool_calls": use.tool_calls,
        "usage": Usage(input_tokens=use.input_tokens, output_tokens=use.output_tokens),
        "micro_dollars": use.micro_dollars,
        "created_at": run.created_at,
        "updated_at": run.updated_at,
    }
