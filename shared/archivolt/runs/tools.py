"""Runs as tools of MCP: a program of a person starts one, and asks how it is doing.

Decided on are a run's changes by people alone, where they sign in (decision 86).
"""

from collections.abc import Callable
from typing import Annotated

from pydantic import Field

from archivolt.domain.confirmation import Preview
from archivolt.domain.limits import MAX_MESSAGE_CHARS
from archivolt.domain.messages import Message
from archivolt.domain.run import Run, RunCaps
from archivolt.domain.run_limits import (
    DEFAULT_RUN_MINUTES,
    DEFAULT_RUN_STEPS,
    MAX_RUN_MINUTES,
    MAX_RUN_STEPS,
    MAX_RUN_VAULTS,
)
from archivolt.domain.tool import Risk, Surface
from archivolt.runs.ending import reason_in_words
from archivolt.runs.requests import RunRequest
from archivolt.runs.service import RunService
from archivolt.tools.context import ToolContext
from archivolt.tools.registry import Tool, tool
from archivolt.tools.schemas import ToolInput, ToolOutput
from archivolt.tools.truncation import Cut

_SHOWN_GOAL = 500


class StartRunInput(ToolInput):
    """Arguments of `start_run`."""

    goal: Annotated[
        str,
        Field(min_length=1, max_length=MAX_MESSAGE_CHARS, description="What the run is to do."),
    ]
    vaults: list[str] = Field(
        default=[],
        max_length=MAX_RUN_VAULTS,
        description="Names of the vaults it may reach; left out, all of yours.",
    )
    steps: int = Field(
        default=DEFAULT_RUN_STEPS, ge=1, le=MAX_RUN_STEPS, description="How many answers at most."
    )
    minutes: int = Field(
        default=DEFAULT_RUN_MINUTES,
        ge=1,
        le=MAX_RUN_MINUTES,
        description="How long it may work; waiting for people counts for none.",
    )


class RunStatusInput(ToolInput):
    """Arguments of `run_status`."""

    run: Annotated[str, Field(min_length=1, max_length=64, description="Id of the run.")]


class WaitingChange(ToolOutput):
    """A change that waits for a person."""

    id: str
    tool: str
    expires_at: str


class RunState(ToolOutput):
    """Result of `start_run` and `run_status`."""

    run: str = Field(description="Id of the run, for run_status.")
    status: str
    reason: str = Field(description="Why it is over, as a code; empty while it is not.")
    message: str
    steps: int
    waiting: list[WaitingChange] = Field(
        description="Changes that wait for a person, who decides where they sign in."
    )
    result: str = Field(description="What it has answered.")
    note: str | None = None


def run_tools(service: Callable[[], RunService]) -> list[Tool]:
    """Return the tools; the service is asked for when one is called."""
    return [_start_run(service), _run_status(service)]


def _preview(context: ToolContext, arguments: StartRunInput) -> Preview:
    for name in arguments.vaults:
        context.services.vaults.access(context.principal, name)
    goal = " ".join(arguments.goal.split())
    shown = goal if len(goal) <= _SHOWN_GOAL else f"{goal[:_SHOWN_GOAL]}…"
    return Preview(
        summary=Message(f"Start an agent run: {shown}", f"Lancer une exécution : {shown}")
    )


def _start_run(service: Callable[[], RunService]) -> Tool:
    @tool(
        description="""Start an agent run that works on a goal by itself, with this
        service's own tools, for minutes or days; it answers at once with the id. Its changes wait
        for a person. Use it for work of many steps; ask run_status how it is doing.""",
        cut=Cut(field="result"),
        risk=Risk.WRITE,
        scopes=frozenset({Surface.MCP}),
        preview=_preview,
    )
    def start_run(context: ToolContext, arguments: StartRunInput) -> RunState:
        request = RunRequest(
            goal=arguments.goal,
            vaults=tuple(arguments.vaults),
            caps=RunCaps(steps=arguments.steps, minutes=arguments.minutes),
            # Confirmed once, it is started once, whoever asks again.
            idempotency_key=f"confirmation/{context.confirmed.operation}",
        )
        run = service().start(context.principal, request, language=context.language)
        return _state(context, service(), run)

    return start_run


def _run_status(service: Callable[[], RunService]) -> Tool:
    @tool(
        description="""Tell how an agent run is doing: its status, why it is over, the changes that
        wait for a person, and what it has answered. Runs are started by start_run or in the
        product; another person's run does not exist.""",
        cut=Cut(field="result"),
        scopes=frozenset({Surface.MCP}),
    )
    def run_status(context: ToolContext, arguments: RunStatusInput) -> RunState:
        return _state(context, service(), service().own(context.principal, arguments.run))

    return run_status


def _state(context: ToolContext, service: RunService, run: Run) -> RunState:
    result = service.result(context.principal, run)
    return RunState(
        run=run.id,
        status=run.status.value,
        reason=run.reason,
        message=reason_in_words(run) if run.status.over else "",
        steps=run.use.steps,
        waiting=[
            WaitingChange(
                id=each.approval.id,
                tool=each.approval.tool,
                expires_at=each.approval.expires_at.isoformat(),
            )
            for each in service.waiting(run)
        ],
        result=result.text if result else "",
    )
