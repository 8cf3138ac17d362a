"""A function pool that answers from a script and remembers what it was given."""

import json
from collections.abc import Callable
from typing import Any

from archivolt_local.runtime.worker import Outcome


class ScriptedPool:
    """Answers every event with what `answer` makes of it."""

    def __init__(self, answer: Callable[[dict[str, Any]], Outcome]) -> None:
        self._answer = answer
        self.events: list[dict[str, Any]] = []

    async def invoke(self, payload: bytes) -> Outcome:
        event = json.loads(payload)
        self.events.append(event)
        return self._answer(event)


def answering(value: object) -> Outcome:
    """Return a success with `value` as JSON."""
    return Outcome(json.dumps(value).encode())


def failing(kind: str, message: str) -> Outcome:
    """Return a failure as the runtime client reports an exception."""
    return Outcome(json.dumps({"errorType": kind, "errorMessage": message}).encode(), failed=True)
