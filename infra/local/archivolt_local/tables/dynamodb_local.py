"""Amazon's DynamoDB Local as a process: for the running stack, and for contract tests.

It needs Java, the jar that `scripts/fetch_dynamodb_local` brings, and the right to make a network
namespace; `is_available` tells whether all three are there.
"""

import shutil
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Generator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from archivolt_local.addresses import LOOPBACK
from archivolt_local.environment import for_children
from archivolt_local.places import DYNAMODB_LOCAL

_PROCESS = Path(__file__).with_name("namespace_process.py")
_START_SECONDS = 60.0
_PROBE_SECONDS = 20


@cache
def is_available() -> bool:
    """Tell whether DynamoDB Local can run here."""
    if not (DYNAMODB_LOCAL / "DynamoDBLocal.jar").exists():
        return False
    return _works(["java", "-version"]) and _works(["unshare", "-rn", "true"])


def _works(command: list[str]) -> bool:
    if shutil.which(command[0]) is None:
        return False
    try:
        probe = subprocess.run(command, capture_output=True, timeout=_PROBE_SECONDS, check=False)
    except (OSError, subprocess.TimeoutExpired):
        return False
    return probe.returncode == 0


@dataclass(frozen=True)
class TableServer:
    """How to run one DynamoDB Local on a listening socket; `database` None keeps it in memory."""

    listening: socket.socket
    database: Path | None

    @classmethod
    def on_loopback(cls, port: int, database: Path | None) -> "TableServer":
        """Listen on 127.0.0.1, on a free port when `port` is 0."""
        listening = socket.socket()
        listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listening.bind((LOOPBACK, port))
        listening.listen(128)
        return cls(listening, database)

    @property
    def url(self) -> str:
        """Where it answers."""
        return f"http://{LOOPBACK}:{self.listening.getsockname()[1]}"

    def arguments(self) -> list[str]:
        """Return the command; it has to inherit the listening socket."""
        keeping = ["-inMemory"] if self.database is None else ["-dbPath", str(self.database)]
        return [
            "unshare", "-rn", sys.executable, "-I", str(_PROCESS), str(self.listening.fileno()),
            "java", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-Xmx512m",
            f"-Djava.library.path={DYNAMODB_LOCAL / 'DynamoDBLocal_lib'}",
            "-jar", str(DYNAMODB_LOCAL / "DynamoDBLocal.jar"),
            "-sharedDb", "-disableTelemetry", "-port", "8000", *keeping,
        ]  # fmt: skip

    def environment(self) -> Mapping[str, str]:
        """Return what the command's environment has to be."""
        return for_children()


@contextmanager
def dynamodb_local(database: Path | None = None) -> Generator[str]:
    """Run one for the duration of the block and yield its address (for tests)."""
    server = TableServer.on_loopback(0, database)
    with server.listening:
        process = subprocess.Popen(
            server.arguments(),
            env=dict(server.environment()),
            cwd=DYNAMODB_LOCAL,
            pass_fds=[server.listening.fileno()],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        try:
            wait_until_serving(server.url)
            yield server.url
        finally:
            process.terminate()
            process.wait()


def wait_until_serving(url: str) -> None:
    """Wait until the server answers HTTP.

    Raises:
        TimeoutError: It does not within a minute.

    """
    deadline = time.monotonic() + _START_SECONDS
    while time.monotonic() < deadline:
        try:
            with urllib.request.urlopen(url, timeout=2.0):  # noqa: S310  our own loopback address
                return
        except urllib.error.HTTPError:
            return
        except OSError:
            time.sleep(0.05)
    raise TimeoutError(f"DynamoDB Local does not answer at {url}")
