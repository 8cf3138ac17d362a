"""A stack on this machine as a person runs it: `archivolt up` in a process of its own."""

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Generator, Mapping
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx2

from archivolt.adapters.system.clock import SystemClock
from archivolt.domain.identity import Role
from archivolt_local.addresses import free_port
from archivolt_local.environment import for_children
from archivolt_local.places import DataFolder
from archivolt_local.private_files import read_json
from archivolt_local.provisioning.clients import StackClients
from archivolt_local.tokens import LOCAL_AUDIENCE, TokenSubject, issue_token

START_SECONDS = 180
STOP_SECONDS = 60


@dataclass
class Stack:
    """One data folder, and the stack that runs on it between `start` and `stop` or `kill`.

    `tables` is the TABLES of the environment; "ministack" makes the emulator check the rights of
    roles on tables too, which DynamoDB Local does not.
    """

    root: Path
    vaults: Mapping[str, Path] = field(default_factory=dict[str, Path])
    tables: str = "auto"
    port: int = field(default_factory=free_port)
    process: subprocess.Popen[bytes] | None = None
    printed_before: int = 0

    @property
    def data(self) -> DataFolder:
        return DataFolder(self.root / "data")

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    @property
    def output(self) -> str:
        """Everything the command printed so far."""
        file = self.root / "output.txt"
        return file.read_text(encoding="utf-8") if file.exists() else ""

    def command(self, *arguments: str) -> list[str]:
        """Return an `archivolt` command on this stack's data."""
        program = [sys.executable, "-m", "archivolt_local.cli"]
        return [*program, *arguments, "--data", str(self.data.root)]

    def launch(self) -> subprocess.Popen[bytes]:
        """Run `archivolt up` without waiting for anything."""
        self.root.mkdir(parents=True, exist_ok=True)
        self.printed_before = len(self.output)
        vaults = [f"--vault={name}={folder}" for name, folder in self.vaults.items()]
        with (self.root / "output.txt").open("ab") as output:
            self.process = subprocess.Popen(
                self.command("up", "--port", str(self.port), *vaults),
                # An erasure waits for what began before: here that ends with its test.
                env={**for_children(), "TABLES": self.tables, "ERASURE_SETTLE_SECONDS": "2"},
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
            )
        return self.process

    def start(self) -> "Stack":
        """Run `archivolt up` and wait until requests are served."""
        process = self.launch()
        wait_until(lambda: self._ready() or process.poll() is not None, START_SECONDS)
        assert process.poll() is None, self.output
        return self

    def _ready(self) -> bool:
        since_launch = self.output[self.printed_before :]
        return f"Archivolt is ready: {self.url}\n" in since_launch

    def stop(self, number: signal.Signals = signal.SIGTERM) -> int:
        """End it with a signal and return its exit status."""
        assert self.process is not None
        self.process.send_signal(number)
        return self.process.wait(STOP_SECONDS)

    def kill(self) -> None:
        """End it as a power cut would; what it started ends by itself."""
        self.stop(signal.SIGKILL)
        wait_until(lambda: not self.processes(), STOP_SECONDS)

    def processes(self) -> list[int]:
        """Return the processes that still have something of this data folder open or in mind."""
        mark = str(self.data.root).encode()
        return [pid for pid in _pids() if pid != os.getpid() and mark in _words_of(pid)]

    def token(
        self,
        user: str = "admin",
        *,
        tenant: str = "local",
        role: Role = Role.TENANT_ADMIN,
        audience: str = LOCAL_AUDIENCE,
    ) -> str:
        """Return a token that the stack accepts."""
        signing = str(read_json(self.data.keys)["signing"])
        subject = TokenSubject(tenant=tenant, user=user, role=role)
        return issue_token(subject, signing, SystemClock(), audience=audience)

    def client(self, token: str | None = None) -> httpx2.Client:
        """Return an HTTP client; as the local administrator unless another token is given."""
        headers = {"Authorization": f"Bearer {self.token() if token is None else token}"}
        return httpx2.Client(base_url=self.url, headers=headers, timeout=60, trust_env=False)

    @property
    def connection(self) -> dict[str, Any]:
        """What the stack wrote for programs that want to connect."""
        return json.loads(self.data.connection.read_text(encoding="utf-8"))

    @property
    def aws(self) -> StackClients:
        """The stack's AWS clients, with every right."""
        known = read_json(self.data.stack)
        return StackClients(f"http://127.0.0.1:{known['aws_port']}", known["tables_url"])

    def status(self) -> dict[str, Any]:
        """Return what `archivolt status --json` says."""
        command = self.command("status", "--json")
        done = subprocess.run(command, env=for_children(), capture_output=True, check=True)
        return json.loads(done.stdout)

    def vault_status(self, name: str, of: httpx2.Client | None = None) -> dict[str, Any]:
        """Return how far a vault is indexed, and the states that its documents are in.

        As the local administrator unless a client of somebody else is given; empty while there is
        no such vault. The command that tells of everything is a process: it is too dear to wait by.
        """
        with nullcontext(of) if of else self.client() as client:
            answer = client.get(f"/api/v1/vault/{name}/index")
        if answer.status_code == 404:
            return {}
        assert answer.status_code == 200, answer.text
        said: dict[str, Any] = answer.json()
        return said | {"states": {state: n for state, n in said["states"].items() if n}}

    def search(self, question: str, **arguments: object) -> list[dict[str, Any]]:
        """Return the hits of `search_documents` for the local administrator."""
        with self.client() as client:
            body = {"q": question, **arguments}
            answer = client.post("/api/v1/tools/search_documents", json=body)
        assert answer.status_code == 200, answer.text
        return answer.json()["result"]["hits"]


@contextmanager
def running(stack: Stack) -> Generator[Stack]:
    """Start a stack and stop it at the end, whatever happened."""
    try:
        yield stack.start()
    finally:
        if stack.process is not None and stack.process.poll() is None:
            stack.stop()


def wait_until(condition: Callable[[], bool], seconds: float = 60, *, every: float = 0.05) -> None:
    """Wait for something that another process does, and fail when it does not come.

    `every`: seconds between two looks; more for a look that costs the machine much.
    """
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, f"it did not come in {seconds} seconds"
        time.sleep(every)


def _pids() -> list[int]:
    return [int(folder.name) for folder in Path("/proc").iterdir() if folder.name.isdigit()]


def _words_of(pid: int) -> bytes:
    words = b""
    for name in ("cmdline", "environ"):
        try:
            words += Path(f"/proc/{pid}/{name}").read_bytes()
        except OSError:
            continue
    return words
