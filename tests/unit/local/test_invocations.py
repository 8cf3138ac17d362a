"""Functions called for the emulator's state machines: by who knows the address alone."""

import asyncio
from typing import TYPE_CHECKING

import httpx2

from archivolt_local.runtime.invocations import FAILED, InvocationHost
from archivolt_local.runtime.worker import Outcome, failure

if TYPE_CHECKING:
    from archivolt_local.runtime.pool import FunctionPool


class _Pool:
    """Answers what it was given, as a function would."""

    def __init__(self, outcome: Outcome) -> None:
        self._outcome = outcome
        self.payloads: list[bytes] = []

    async def invoke(self, payload: bytes) -> Outcome:
        self.payloads.append(payload)
        return self._outcome


async def _ask(path: str, outcome: Outcome | None) -> httpx2.Response:
    host = InvocationHost()
    address = await host.start()
    if outcome is not None:
        pools: dict[str, FunctionPool] = {"agent": _Pool(outcome)}  # pyright: ignore[reportAssignmentType]  a fake
        host.serve(pools.__getitem__)
    base = address if path.startswith("/") else address.rpartition("/")[0] + "/"
    try:
        async with httpx2.AsyncClient(trust_env=False) as client:
            return await client.post(base + path, content=b'{"do": "step"}')
    finally:
        host.stop()


OVER = Outcome(b'{"next": "over"}')


def answer(path: str, outcome: Outcome | None = OVER) -> httpx2.Response:
    return asyncio.run(_ask(path, outcome))


def test_a_function_is_called_by_its_name() -> None:
    answered = answer("/agent")

    assert (answered.status_code, answered.json()) == (200, {"next": "over"})
    assert FAILED not in answered.headers


def test_an_error_keeps_its_name() -> None:
    answered = answer("/agent", failure("UnavailableError", "unavailable: …"))

    assert answered.json()["errorType"] == "UnavailableError"
    assert answered.headers[FAILED] == "Unhandled"


def test_who_does_not_know_the_address_calls_nothing() -> None:
    assert answer("guessed/agent").status_code == 403


def test_what_is_not_there_is_not_found() -> None:
    assert answer("/nobody").status_code == 404


def test_nothing_is_called_before_the_functions_are_ready() -> None:
    assert answer("/agent", None).status_code == 503
