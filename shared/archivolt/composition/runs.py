"""What drives agent runs, and what people do with them."""

import asyncio
from collections.abc import Coroutine
from functools import cached_property
from typing import TYPE_CHECKING, Any, TypeVar

from archivolt.domain.run_limits import MAX_RUN_HISTORY

if TYPE_CHECKING:
    from archivolt.bootstrap import Container
    from archivolt.entrypoints.events.agent import AgentServices
    from archivolt.ports.runs import RunEngine, RunStore
    from archivolt.ports.schedules import ScheduleStore, ScheduleTimer
    from archivolt.runs.deciding import RunDecisions
    from archivolt.runs.service import RunService
    from archivolt.runs.support import RunSupport
    from archivolt.runs.timetables import Timetables

T = TypeVar("T")


class RunsContainer:
    """Builds and keeps the collaborators of runs."""

    def __init__(self, container: "Container") -> None:
        self._on = container

    @cached_property
    def store(self) -> "RunStore":
        """Runs that are not over age."""
        from archivolt.adapters.dynamodb.runs import DynamoRuns
        from archivolt.governance.kept_runs import KeptRuns

        kept = DynamoRuns(self._on.table("conversations_table"))
        return KeptRuns(kept, self._on.tenant_settings, self._on.clock)

    @cached_property
    def schedules(self) -> "ScheduleStore":
        """Runs by timetables."""
        from archivolt.adapters.dynamodb.schedules import DynamoSchedules

        return DynamoSchedules(self._on.table("control_table"))

    @cached_property
    def timer(self) -> "ScheduleTimer":
        """What fires them; a function that fires none knows the group alone."""
        from archivolt.adapters.scheduler.timer import EventBridgeTimer, TimerPlaces

        settings = self._on.settings
        places = TimerPlaces(
            group=settings.required("agent_schedule_group"),
            function=settings.agent_function_arn,
            role=settings.agent_schedule_role_arn,
            dead_letters=settings.agent_schedule_dead_letters_arn,
        )
        return EventBridgeTimer(self._on.aws.scheduler, places)

    @cached_property
    def timetables(self) -> "Timetables":
        """What people do with schedules."""
        from archivolt.runs.timetables import Timetables

        return Timetables(self.support, self.timer)

    @cached_property
    def engine(self) -> "RunEngine":
        """The state machine."""
        from archivolt.adapters.stepfunctions.engine import StepFunctionsEngine

        machine = self._on.settings.required("agent_run_machine_arn")
        return StepFunctionsEngine(self._on.aws.states, machine)

    @cached_property
    def support(self) -> "RunSupport":
        """The collaborators of runs; models and tools are the chat's own."""
        from archivolt.composition.identity import program_tokens
        from archivolt.runs.keeping import RunSeals
        from archivolt.runs.support import RunSupport

        on = self._on
        return RunSupport(
            admit=on.admission.require,
            tokens=program_tokens(on),
            store=self.store,
            schedules=self.schedules,
            engine=self.engine,
            seals=RunSeals(lambda: on.secret_box),
            models=on.chat.models,
            tools=on.tool_pipeline.registry,
            pipeline=on.tool_pipeline,
            proposals=lambda: on.tools.confirmations.proposals,
            vaults=on.vaults,
            scopes=on.chat.scopes,
            skills=on.chat.skills,
            announcements=on.webhooks.announcements,
            audit=on.audit_log,
            clock=on.clock,
        )

    @cached_property
    def service(self) -> "RunService":
        """What people do with runs."""
        from archivolt.runs.service import RunService

        return RunService(self.support, self._on.chat.places)

    @cached_property
    def decisions(self) -> "RunDecisions":
        """What people decide on."""
        from archivolt.runs.deciding import RunDecisions

        return RunDecisions(self.support)

    @cached_property
    def agent_services(self) -> "AgentServices":
        """What the agent function stands on."""
        from archivolt.entrypoints.events.agent import AgentServices
        from archivolt.runs.calling import RunCalls
        from archivolt.runs.firing import Firings
        from archivolt.runs.resuming import RunSweep
        from archivolt.runs.stepping import RunSteps

        return AgentServices(
            steps=RunSteps(self.support, self._awaited, max_history=MAX_RUN_HISTORY),
            calls=RunCalls(self.support, self._awaited),
            sweep=RunSweep(self.support),
            firings=lambda: Firings(
                self.support,
                self.timer,
                self._on.admission.require,
                chat=self._on.settings.chat_enabled,
            ),
        )

    @cached_property
    def _runner(self) -> asyncio.Runner:
        return asyncio.Runner()

    def _awaited(self, coroutine: Coroutine[Any, Any, T]) -> T:
        return self._runner.run(coroutine)
