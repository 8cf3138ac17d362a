"""The agent function: what the state machine of runs asks for, schedules, and its own daily look.

The errors that leave it are named after their kinds: the machine tries again by these names.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from pydantic import BaseModel, ConfigDict

from archivolt.domain.errors import ConflictError
from archivolt.domain.identity import tenant_id, user_id
from archivolt.domain.run import RunId, RunRef
from archivolt.domain.schedule import FiringRef

if TYPE_CHECKING:
    from archivolt.runs.calling import RunCalls
    from archivolt.runs.firing import Firings
    from archivolt.runs.resuming import RunSweep
    from archivolt.runs.stepping import RunSteps


@dataclass(frozen=True, slots=True, kw_only=True)
class AgentServices:
    """What the agent function stands on."""

    steps: "RunSteps"
    calls: "RunCalls"
    sweep: "RunSweep"
    firings: Callable[[], "Firings"]


class _Task(BaseModel):
    model_config = ConfigDict(hide_input_in_errors=True, frozen=True)

    do: Literal["step", "tool", "await", "decide", "broke_off"]
    tenant: str
    run: str
    execution: int
    retries: int = 0
    call: str = ""
    token: str = ""
    error: str = ""
    cause: str = ""

    @property
    def ref(self) -> RunRef:
        """Which execution asks about which run."""
        return RunRef(
            tenant=tenant_id(self.tenant),
            run=RunId(self.run),
            execution=self.execution,
            retries=self.retries,
        )


class _Fired(BaseModel):
    model_config = ConfigDict(hide_input_in_errors=True, frozen=True)

    do: Literal["fire"]
    tenant: str
    user: str
    schedule: str
    due: str


Handler = Callable[[Mapping[str, Any], object], dict[str, Any]]


def build_agent(services: Callable[[], AgentServices]) -> Handler:
    """Return the handler; the services are built at the first task."""

    def handler(event: Mapping[str, Any], context: object) -> dict[str, Any]:
        del context
        if event.get("detail-type") == "Scheduled Event":
            return {"resumed": services().sweep.sweep()}
        if event.get("do") == "fire":
            return _fired(services(), _Fired.model_validate(event))
        try:
            return _done(services(), _Task.model_validate(event))
        except ConflictError as error:
            # The machine tries again by the name of an error, and knows this one alone.
            raise ConflictError(error.code, **error.details) from error

    return handler


def _fired(services: AgentServices, fired: _Fired) -> dict[str, Any]:
    ref = FiringRef(
        tenant=tenant_id(fired.tenant),
        user=user_id(fired.user),
        schedule=fired.schedule,
        due=fired.due,
    )
    return {"outcome": services.firings().fire(ref)}


def _done(services: AgentServices, task: _Task) -> dict[str, Any]:
    calls = services.calls
    match task.do:
        case "step":
            following = services.steps.step(task.ref)
            return {"next": following.what, "calls": list(following.calls)}
        case "tool":
            calls.run_tool(task.ref, task.call)
        case "await":
            calls.await_person(task.ref, task.call, task.token)
        case "decide":
            wait = calls.decided(task.ref, task.call)
            return {"waits": wait.waits, "seconds": wait.seconds}
        case "broke_off":
            calls.broke_off(task.ref, error=task.error, cause=task.cause)
    return {}
