"""Every function of the deployment, ready to be called, and what calls it besides requests."""

import asyncio
import os
from collections.abc import Coroutine
from typing import TYPE_CHECKING, Any

from archivolt.ports.clock import Clock
from archivolt_local.emulator import ROOT_CREDENTIALS
from archivolt_local.events.queue_poller import QueuePoller
from archivolt_local.events.schedule import call_regularly
from archivolt_local.events.timers import Timers, TimersClient
from archivolt_local.gateway.streaming import StreamingProxy
from archivolt_local.places import DataFolder
from archivolt_local.problems import StartError
from archivolt_local.provisioning.deployment import DeployedFunction, Deployment
from archivolt_local.runtime.credentials import RoleCredentials
from archivolt_local.runtime.environment import (
    LocalServices,
    aws_variables,
    function_environment,
    worker_command,
)
from archivolt_local.runtime.pool import FunctionPool
from archivolt_local.web_app import WebApp, is_web_app

if TYPE_CHECKING:
    from types_boto3_sqs import SQSClient

# On AWS a function has as many environments as there are calls at a time; here memory and cores
# are a person's own. A queue is worked off by one worker for every two cores.
_WORKERS_FOR_REQUESTS = 4
_WORKERS_FOR_A_QUEUE = max(1, min(4, (os.cpu_count() or 1) // 2))


class Functions:
    """The pools and web apps of a deployment, by function name."""

    def __init__(
        self,
        deployment: Deployment,
        services: LocalServices,
        credentials: RoleCredentials,
        data: DataFolder,
        clock: Clock,
    ) -> None:
        self._deployment = deployment
        self._services = services
        self._data = data
        self._clock = clock
        self._pools: dict[str, FunctionPool] = {}
        self._apps: dict[str, WebApp] = {}
        self._pollers: list[QueuePoller] = []
        self._timers: Timers
        for name, function in deployment.functions.items():
            identity = credentials.environment(name, function.role)
            self._add(function, function_environment(function, services, identity))

    def _add(self, function: DeployedFunction, environment: dict[str, str]) -> None:
        if is_web_app(function):
            scratch = self._data.scratch / function.short_name
            app = WebApp(function, environment, self._data.logs, scratch)
            self._apps[function.name] = app
            return
        queues = [item for item in self._deployment.event_sources if item.function == function.name]
        self._pools[function.name] = FunctionPool(
            function,
            worker_command(
                function,
                environment,
                self._data.logs,
                behind=function.name in self._deployment.called_by_machines,
            ),
            self._clock,
            limit=self._workers(function.name, len(queues)),
            scratch=self._data.scratch,
        )

    def _workers(self, name: str, queues: int) -> int:
        # What runs by the clock may take long, and no queue has to wait for it.
        others = sum(item.function == name for item in self._deployment.schedules)
        if name in self._deployment.called_by_machines:
            others += _WORKERS_FOR_REQUESTS
        return queues * _WORKERS_FOR_A_QUEUE + others or _WORKERS_FOR_REQUESTS

    def pool(self, name: str) -> FunctionPool:
        """Return the workers of a function."""
        return self._pools[name]

    def app(self, name: str) -> StreamingProxy:
        """Return the way to a web app."""
        return self._apps[name].proxy

    def queue_of(self, short_name: str) -> str:
        """Return the name of the queue that feeds the function in a folder."""
        return next(
            source.queue_name
            for source in self._deployment.event_sources
            if self._pools[source.function].function.short_name == short_name
        )

    async def start(self, sqs: "SQSClient", timers: TimersClient) -> None:
        """Start web apps and one worker of each function.

        Raises:
            StartError: A function cannot be imported, or an app does not come up.

        """
        starts = [app.start() for app in self._apps.values()]
        await asyncio.gather(*starts, *(self._warm_up(pool) for pool in self._pools.values()))
        self._pollers = [
            QueuePoller(source, sqs, self._pools[source.function])
            for source in self._deployment.event_sources
            for _ in range(_WORKERS_FOR_A_QUEUE)
        ]
        self._timers = Timers(self._deployment.timer_groups, timers, self.pool, self._clock)

    async def _warm_up(self, pool: FunctionPool) -> None:
        error = await pool.warm_up()
        if error is not None:
            reason = error.payload.decode(errors="replace")[:500]
            raise StartError(f"The function {pool.function.short_name} does not start: {reason}")

    def work(self) -> list[Coroutine[Any, Any, None]]:
        """Return what has to run while the stack does: queues, clocks, apps kept alive."""
        schedules = [
            call_regularly(schedule, self._pools[schedule.function], self._clock)
            for schedule in self._deployment.schedules
        ]
        pollers = [poller.run() for poller in self._pollers]
        apps = (app.keep_alive() for app in self._apps.values())
        return [*schedules, *pollers, *apps, self._timers.run()]

    def maintenance_environment(self) -> dict[str, str]:
        """Return the environment for the stack's own product code: every right, every setting."""
        function = next(iter(self._deployment.functions.values()))
        return {
            **function_environment(function, self._services, {}),
            **aws_variables(self._services, ROOT_CREDENTIALS),
            "TMPDIR": str(self._data.scratch),
        }

    async def stop(self) -> None:
        """Stop every process."""
        pools = (pool.stop() for pool in self._pools.values())
        await asyncio.gather(*pools, *(app.stop() for app in self._apps.values()))
