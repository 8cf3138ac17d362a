"""The warm workers of one function: as many side by side as it was given, the last used first."""

import asyncio
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from archivolt.ports.clock import Clock
from archivolt_local.children import Command
from archivolt_local.provisioning.deployment import DeployedFunction
from archivolt_local.runtime.worker import MAX_PAYLOAD, Outcome, Worker, failure


class FunctionPool:
    """Invokes a function. `limit` is how many invocations run at a time; others wait their turn."""

    def __init__(
        self,
        function: DeployedFunction,
        command: Command,
        clock: Clock,
        *,
        limit: int,
        scratch: Path,
    ) -> None:
        self.function = function
        self._command = command
        self._clock = clock
        self._free_slots = list(range(limit))
        self._scratch = scratch
        self._turn = asyncio.Semaphore(limit)
        self._idle: list[tuple[int, Worker]] = []
        self._busy: set[Worker] = set()
        self._closed = False

    async def warm_up(self) -> Outcome | None:
        """Start one worker ahead of its first event; return the error if its handler fails."""
        async with self._turn:
            slot, worker = await self._take()
            error = await worker.wait_ready()
            await self._give_back(slot, worker)
            return error

    async def invoke(self, payload: bytes) -> Outcome:
        """Run the function on one event."""
        if len(payload) > MAX_PAYLOAD:
            message = f"{len(payload)} byte payload is too large for the Invoke operation"
            return failure("RequestTooLargeException", message)
        async with self._turn:
            if self._closed:
                return failure("ServiceException", "The stack is stopping.")
            slot, worker = await self._take()
            try:
                return await worker.invoke(payload)
            except asyncio.CancelledError:
                worker.discard()
                raise
            finally:
                await self._give_back(slot, worker)

    async def _take(self) -> tuple[int, Worker]:
        while self._idle:
            slot, worker = self._idle.pop()
            if worker.usable:
                self._busy.add(worker)
                return slot, worker
            self._free_slots.append(slot)
            await worker.stop()
        slot = self._free_slots.pop(0)
        worker = Worker(self.function, self._clock)
        self._busy.add(worker)
        await worker.start(self._in_slot(slot))
        return slot, worker

    def _in_slot(self, slot: int) -> Command:
        scratch = self._scratch / f"{self.function.short_name}-{slot}"
        scratch.mkdir(parents=True, exist_ok=True)
        return replace(
            self._command, environment={**self._command.environment, "TMPDIR": str(scratch)}
        )

    async def _give_back(self, slot: int, worker: Worker) -> None:
        self._busy.discard(worker)
        if worker.usable and not self._closed:
            self._idle.append((slot, worker))
            return
        self._free_slots.append(slot)
        await worker.stop()

    async def stop(self) -> None:
        """End every worker, busy ones too: what they were doing is delivered again."""
        self._closed = True
        workers = [worker for _, worker in self._idle] + list(self._busy)
        self._idle.clear()
        await asyncio.gather(*(worker.stop() for worker in workers))


Pools = Callable[[str], FunctionPool]
