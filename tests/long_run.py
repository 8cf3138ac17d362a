"""A run of many steps on a running stack, somebody who agrees to its changes, and who kills.

What the run does follows from what its model is shown alone: asked again after a crash, it says the
same, and whatever happens the run has to end alike.
"""

import os
import random
import signal
import threading
import time
from collections.abc import Callable, Generator
from contextlib import ExitStack, closing, contextmanager, suppress
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any, Final

import httpx2

from archivolt.domain.identity import Role
from tests.e2e.stack import Stack, wait_until
from tests.fakes.openai_server import Reply, calls, openai_server, says

RUNS: Final = "/api/v1/agent/runs"
_PAGE: Final = 40


@dataclass(frozen=True, kw_only=True)
class LongRun:
    """Its steps, and those at which it changes something; `seconds` is how long an answer takes."""

    steps: int = 40
    changes: tuple[int, ...] = (9, 19, 29)
    seconds: float = 0.0

    def think(self, asked: dict[str, Any]) -> Reply:
        """Return what the model says next: a look at another page of the book, or a change."""
        time.sleep(self.seconds)
        said = [message for message in asked["messages"] if message["role"] == "assistant"]
        number = len(said)
        vault = _vault_in(asked)
        if number in self.changes:
            change = {"vault": vault, "path": "log.md", "content": f"- {number}\n"}
            return calls(("append_to_file", change))
        if number < self.steps - 1:
            page = {"vault": vault, "path": "book.md", "offset": number * _PAGE, "limit": _PAGE}
            return calls(("read_file", page))
        return says("Done.")

    @property
    def calls(self) -> list[str]:
        """The tools that it calls, one after the other."""
        steps = range(self.steps - 1)
        return ["append_to_file" if step in self.changes else "read_file" for step in steps]

    @property
    def log(self) -> str:
        """What its changes leave behind, each made once."""
        return "# Log\n" + "".join(f"- {number}\n" for number in self.changes)

    @property
    def book(self) -> str:
        """A book with another text at each page."""
        pages = (f"page {number} ".ljust(_PAGE, ".") for number in range(self.steps))
        return "".join(pages)


@dataclass
class Caller:
    """A tenant of its own on a stack, whose provider is the scripted model."""

    stack: Stack
    tenant: str
    script: LongRun
    vault: str = "work"
    lost: list[str] = field(default_factory=list[str])

    def http(self) -> httpx2.Client:
        """Return a client of the tenant's administrator."""
        return self.stack.client(
            self.stack.token("ada", tenant=self.tenant, role=Role.TENANT_ADMIN)
        )

    @cached_property
    def client(self) -> httpx2.Client:
        """One of the caller's own: to make one costs more than to ask with it."""
        return self.http()

    def prepare(self, base_url: str) -> None:
        """Set the provider and write what the run reads and changes."""
        settings = {
            "chat_provider": "openai",
            "chat_base_url": base_url,
            "chat_model": "m-1",
            "chat_model_prices": {"m-1": {"input": 1, "output": 2}},
            "chat_api_key": "not-a-real-key",
        }
        place = f"/api/v1/tenants/{self.tenant}/settings"
        self.client.put(place, json=settings).raise_for_status()
        self.client.post("/api/v1/vaults", json={"name": self.vault}).raise_for_status()
        for path, content in (("book.md", self.script.book), ("log.md", "# Log\n")):
            body = {"path": path, "content": content}
            self.client.post(f"/api/v1/file/{self.vault}", json=body).raise_for_status()

    def start(self, key: str, **more: Any) -> str:  # noqa: ANN401  the body's fields
        """Start a run, as often as it takes to be told that it is started; return its id."""
        body = {"goal": f"Work in {self.vault}.", "idempotency_key": key, **more}
        answer = self.patiently("POST", RUNS, json=body)
        return answer["id"]

    def patiently(self, method: str, path: str, **more: Any) -> dict[str, Any]:  # noqa: ANN401  JSON
        """Ask until the stack answers: it may just be starting."""
        while True:
            with suppress(httpx2.TransportError):
                answer = self.client.request(method, path, **more)
                if answer.status_code < 500:
                    return answer.json()
                self.lost.append(answer.text)
            time.sleep(0.2)

    def see_through(
        self,
        run_id: str,
        seconds: float,
        look: Callable[[dict[str, Any]], None] | None = None,
        *,
        every: float = 0.1,
    ) -> dict[str, Any]:
        """Agree to every change of a run until it is over, and return it.

        `look` sees it first; `every` is the pause between two looks.
        """
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            run = self.patiently("GET", f"{RUNS}/{run_id}")
            if look is not None:
                look(run)
            if run["status"] in {"completed", "stopped", "failed", "cancelled"}:
                return run
            for approval in run["approvals"]:
                place = f"{RUNS}/{run_id}/approvals/{approval['id']}"
                self.patiently("POST", place, json={"decision": "approve"})
            time.sleep(every)
        raise TimeoutError(self.patiently("GET", f"{RUNS}/{run_id}"))

    def log(self) -> str:
        """Return what the changes left behind."""
        return self.patiently("GET", f"/api/v1/file/{self.vault}?path=log.md")["content"]


class Engine:
    """The engine of a stack, which is killed a number of times at most, whoever wants it.

    After that the whole stack is started again; meanwhile nobody kills anything else.
    """

    def __init__(self, stack: Stack, *, most: int = 1) -> None:
        self._stack = stack
        self._left = most
        self.calm = threading.RLock()
        self.kills = 0

    def kill(self) -> None:
        """Kill the emulator: the stack ends with it, and somebody starts it again."""
        with self.calm:
            if self._left == 0:
                return
            self._left -= 1
            engines = [p for p in self._stack.processes() if b"emulator_process.py" in _command(p)]
            for pid in engines:
                os.kill(pid, signal.SIGKILL)
            process = self._stack.process
            assert process is not None
            wait_until(lambda: process.poll() is not None, 60)
            wait_until(lambda: not self._stack.processes(), 60)
            self._stack.start()
            self.kills += 1


class Killer:
    """Kills the agent's workers as a run comes to some of its steps, and once the engine.

    The moments are the seed's.
    """

    def __init__(
        self, stack: Stack, script: LongRun, seed: int, *, workers: int, engine: Engine
    ) -> None:
        self._stack = stack
        self._engine = engine
        self._chance = random.Random(seed)  # noqa: S311  the same moments each time
        engine_at, *worker_at = self._chance.sample(range(1, script.steps), workers + 1)
        self._engine_at, self._worker_at = {engine_at}, set(worker_at)
        self.workers = 0

    def look(self, run: dict[str, Any]) -> None:
        """Kill what is to be killed by now."""
        reached = {step for step in self._engine_at | self._worker_at if step <= run["steps"]}
        if not reached:
            return
        time.sleep(self._chance.uniform(0, 0.5))
        with self._engine.calm:
            if reached & self._engine_at:
                self._engine.kill()
            else:
                self._kill_worker()
        self._engine_at -= reached
        self._worker_at -= reached

    def _kill_worker(self) -> None:
        workers = [pid for pid in self._stack.processes() if _works_for_agent(pid)]
        if workers:
            with suppress(ProcessLookupError):
                os.kill(self._chance.choice(workers), signal.SIGKILL)
                self.workers += 1


@contextmanager
def caller(stack: Stack, tenant: str, script: LongRun, *, provider: str = "") -> Generator[Caller]:
    """Give a tenant of its own with the scripted model behind its provider.

    `provider` is where that answers already, for callers with one script.
    """
    with ExitStack() as servers:
        made = Caller(stack, tenant, script)
        made.prepare(provider or servers.enter_context(openai_server(thinks=script.think)).base_url)
        with closing(made.client):
            yield made


def _vault_in(asked: dict[str, Any]) -> str:
    """Return the vault that the goal names."""
    [goal] = [message for message in asked["messages"] if message["role"] == "user"]
    text = goal["content"]
    words = text if isinstance(text, str) else text[0]["text"]
    return words.removeprefix("Work in ").removesuffix(".")


def _works_for_agent(pid: int) -> bool:
    with suppress(OSError):
        in_folder = Path(f"/proc/{pid}/cwd").resolve().name == "agent"
        return in_folder and b"awslambdaric" in _command(pid)
    return False


def _command(pid: int) -> bytes:
    with suppress(OSError):
        return Path(f"/proc/{pid}/cmdline").read_bytes()
    return b""
