"""Lets the emulator's state machines call the stack's functions, and wait as AWS does.

Imported by `emulator_process`, in the emulator's own virtual environment. The emulator would run
functions itself; here they run in the stack's own host, where errors keep their names: state
machines try again by them. Besides, two things that it does not know of tasks that wait for a
token: a timeout that is told by a path, and that a call that fails fails the task.
"""

# ruff: noqa: SLF001  the emulator has no other way in

# Its imports are in that other environment, and have no types there.
# pyright: reportMissingImports=false, reportUnknownVariableType=false
# pyright: reportUnknownMemberType=false, reportUnknownArgumentType=false

import json
import threading
import urllib.request
from collections.abc import Callable
from typing import Any

from ministack.services import scheduler, stepfunctions

# Longer than any function may take: the host ends those that take too long.
_SECONDS = 930
Json = dict[str, Any]


def call_functions_at(address: str) -> None:
    """Have state machines call functions at an address of the stack's own host."""

    def call(function: str, event: object) -> object:
        name = function.rpartition(":function:")[2].partition(":")[0]
        return _called(f"{address}/{name}", event)

    stepfunctions._call_lambda = call
    # Timers are fired by the stack's own clock (`events/timers.py`).
    scheduler._tick_schedules = lambda: None
    _follow_timeout_paths()
    _fail_with_calls(call)


def _called(url: str, event: object) -> object:
    body = json.dumps(event).encode()
    request = urllib.request.Request(url, data=body, method="POST")  # noqa: S310  our own host
    try:
        with urllib.request.urlopen(request, timeout=_SECONDS) as answer:  # noqa: S310  our own host
            outcome = json.loads(answer.read() or b"null")
            failed = answer.headers.get("X-Function-Error")
    except OSError as error:
        raise stepfunctions._ExecutionError("Lambda.SdkClientException", str(error)) from error
    if failed:
        kind = outcome.get("errorType", "Lambda.Unknown")
        raise stepfunctions._ExecutionError(kind, json.dumps(outcome))
    return outcome


def _follow_timeout_paths() -> None:
    """Have tasks follow `TimeoutSecondsPath`, as a whole number of seconds."""
    run: Callable[..., Any] = stepfunctions._execute_task

    def follow(state: Json, given: object, execution: object, ctx: Json) -> object:
        path = state.get("TimeoutSecondsPath")
        if path:
            state = {**state, "TimeoutSeconds": stepfunctions._resolve_path(path, given)}
        return run(state, given, execution, ctx)

    stepfunctions._execute_task = follow


def _fail_with_calls(call: Callable[[str, object], object]) -> None:
    """Have a task that waits for a token fail when the call fails that was to hand it on."""
    wait: Callable[..., Any] = stepfunctions._invoke_with_callback

    def waiting(resource: str, given: Json, token: str, state: Json) -> object:
        if "lambda:invoke" not in resource:
            return wait(resource, given, token, state)
        told = threading.Event()
        record: Json = {"event": told, "result": None, "error": None, "heartbeat": None}
        stepfunctions._task_tokens[token] = record
        try:
            call(given["FunctionName"], given["Payload"])
            if not told.wait(state.get("TimeoutSeconds", 99_999)):
                raise stepfunctions._ExecutionError(
                    "States.Timeout", "Nobody gave the token back in time"
                )
        finally:
            stepfunctions._task_tokens.pop(token, None)
        if record["error"]:
            error = record["error"]
            raise stepfunctions._ExecutionError(
                error.get("Error", "TaskFailed"), error.get("Cause", "")
            )
        return json.loads(record["result"] or "{}")

    stepfunctions._invoke_with_callback = waiting
