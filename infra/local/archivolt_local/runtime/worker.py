"""One execution environment: a process of Amazon's runtime client and the Runtime API it asks.

Reference: AWS Lambda developer guide, "Using the Lambda runtime API". One invocation at a time; a
worker that timed out or ended is never used again.
"""

import asyncio
import json
import sys
import uuid
from collections.abc import Awaitable, Mapping
from dataclasses import dataclass, replace

from archivolt.ports.clock import Clock
from archivolt_local.addresses import LOOPBACK
from archivolt_local.children import Child, Command, start_child
from archivolt_local.loopback_http import HttpRequest, HttpResponse, port_of, serve_loopback
from archivolt_local.provisioning.deployment import DeployedFunction

_API = "/2018-06-01/runtime/"
_INIT_SECONDS = 60.0
# What Lambda takes as a synchronous payload, in both directions (Lambda quotas).
MAX_PAYLOAD = 6_291_456


@dataclass(frozen=True)
class Outcome:
    """What an invocation came to: the function's JSON, or the JSON of an error when `failed`."""

    payload: bytes
    failed: bool = False


def failure(kind: str, message: str) -> Outcome:
    """Return the outcome of an invocation that Lambda itself ends."""
    return Outcome(json.dumps({"errorType": kind, "errorMessage": message}).encode(), failed=True)


class Worker:
    """A started environment."""

    def __init__(self, function: DeployedFunction, clock: Clock) -> None:
        self._function = function
        self._clock = clock
        self._events: asyncio.Queue[tuple[str, bytes, float] | None] = asyncio.Queue()
        self._outcome: asyncio.Future[Outcome] | None = None
        self._request_id = ""
        self._ready = asyncio.Event()
        self._init_error: Outcome | None = None
        self._server: asyncio.Server | None = None
        self._child: Child | None = None
        self._sound = True

    @property
    def usable(self) -> bool:
        """Whether it may take another invocation."""
        return self._sound and self._child is not None and self._child.alive

    def discard(self) -> None:
        """Never use it again."""
        self._sound = False

    async def start(self, command: Command) -> None:
        """Start the process; `command` lacks only where the Runtime API is."""
        self._server = await serve_loopback(self._answer)
        address = f"{LOOPBACK}:{port_of(self._server)}"
        environment = {**command.environment, "AWS_LAMBDA_RUNTIME_API": address}
        self._child = await start_child(replace(command, environment=environment))

    async def wait_ready(self) -> Outcome | None:
        """Wait until the handler is imported; return the error if it cannot be."""
        ended = await self._first(self._ready.wait(), _INIT_SECONDS)
        if self._init_error is not None:
            return self._init_error
        if ended is not None:
            return ended
        return None

    async def invoke(self, payload: bytes) -> Outcome:
        """Run the handler on one event."""
        error = await self.wait_ready()
        if error is not None:
            self._sound = False
            return error
        self._request_id = str(uuid.uuid4())
        self._outcome = asyncio.get_running_loop().create_future()
        deadline = self._clock.now().timestamp() + self._function.timeout
        await self._events.put((self._request_id, payload, deadline))
        ended = await self._first(asyncio.shield(self._outcome), self._function.timeout)
        if ended is not None:
            self._sound = False
            return ended
        return self._outcome.result()

    async def _first(self, awaited: Awaitable[object], seconds: float) -> Outcome | None:
        """Wait for `awaited`, the process's end, or the time limit; None when `awaited` came."""
        if self._child is None:
            raise RuntimeError("not started")
        wanted = asyncio.ensure_future(awaited)
        death = asyncio.ensure_future(self._child.process.wait())
        done, waiting = await asyncio.wait(
            {wanted, death}, timeout=seconds, return_when=asyncio.FIRST_COMPLETED
        )
        for task in waiting:
            task.cancel()
        if wanted in done:
            return None
        about = f"RequestId: {self._request_id} Error: "
        if death in done:
            status = self._child.process.returncode
            return failure(
                "Runtime.ExitError", f"{about}Runtime exited with error: status {status}"
            )
        return failure("Sandbox.Timedout", f"{about}Task timed out after {seconds:.2f} seconds")

    async def _answer(self, request: HttpRequest) -> HttpResponse:
        action = request.path.removeprefix(_API)
        if action == "invocation/next":
            return await self._next()
        if action == "init/error":
            self._init_error = Outcome(request.body, failed=True)
            self._ready.set()
        elif action == f"invocation/{self._request_id}/response":
            self._responded(request.body)
        elif action == f"invocation/{self._request_id}/error":
            self._settle(Outcome(request.body, failed=True))
        return HttpResponse(202)

    async def _next(self) -> HttpResponse:
        self._ready.set()
        event = await self._events.get()
        if event is None:
            raise ConnectionAbortedError
        request_id, payload, deadline = event
        headers: Mapping[str, str] = {
            "Lambda-Runtime-Aws-Request-Id": request_id,
            "Lambda-Runtime-Deadline-Ms": str(int(deadline * 1000)),
            "Lambda-Runtime-Invoked-Function-Arn": self._function.arn,
            "Content-Type": "application/json",
        }
        return HttpResponse(200, payload, headers)

    def _responded(self, body: bytes) -> None:
        if len(body) <= MAX_PAYLOAD:
            self._settle(Outcome(body))
            return
        # Said to the caller alone: the runtime client ends when it is told.
        message = (
            f"Response payload size exceeded maximum allowed payload size ({MAX_PAYLOAD} bytes)."
        )
        self._settle(failure("Function.ResponseSizeTooLarge", message))

    def _settle(self, outcome: Outcome) -> None:
        if self._outcome is not None and not self._outcome.done():
            self._outcome.set_result(outcome)

    async def stop(self) -> None:
        """End the process at once: between invocations it holds nothing."""
        self._sound = False
        self._events.put_nowait(None)
        if self._server is not None:
            self._server.close()
        if self._child is not None:
            self._child.kill()
            await self._child.process.wait()


def runtime_client(handler: str) -> list[str]:
    """Return the command that runs Amazon's runtime client on a handler."""
    return [sys.executable, "-m", "awslambdaric", handler]
