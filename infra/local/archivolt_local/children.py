"""The processes of the stack: each one logs to its own file and dies with the stack."""

import asyncio
import os
import signal
import sys
from asyncio.subprocess import Process
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

_GUARD = Path(__file__).with_name("guard.py")
_MAX_LOG_BYTES = 5_000_000


@dataclass(frozen=True, kw_only=True)
class Command:
    """What to run. `death_signal` is what it gets if the stack is killed.

    `kept` are file descriptors it inherits; `log` gets its output, None leaves it on the terminal.
    """

    name: str
    arguments: Sequence[str]
    environment: Mapping[str, str]
    log: Path | None = None
    folder: Path | None = None
    death_signal: signal.Signals = signal.SIGKILL
    kept: Sequence[int] = field(default=())


class Child:
    """One running process."""

    def __init__(self, command: Command, process: Process) -> None:
        self.command = command
        self.process = process

    @property
    def alive(self) -> bool:
        """Whether it still runs."""
        return self.process.returncode is None

    async def stop(self, patience: float = 10.0) -> None:
        """Ask it to end, and end it when it does not within `patience` seconds."""
        if not self.alive:
            return
        self.process.terminate()
        try:
            await asyncio.wait_for(self.process.wait(), patience)
        except TimeoutError:
            self.kill()
            await self.process.wait()

    def kill(self) -> None:
        """End it at once."""
        if self.alive:
            self.process.kill()


async def start_child(command: Command, *, read_output: bool = False) -> Child:
    """Start a process; it must be called from the main thread, whose end it would not survive."""
    guarded = [
        sys.executable, "-I", "-S", str(_GUARD), str(int(command.death_signal)), str(os.getpid()),
        *command.arguments,
    ]  # fmt: skip
    log = open_log(command.log) if command.log else None
    try:
        process = await asyncio.create_subprocess_exec(
            *guarded,
            env=dict(command.environment),
            cwd=command.folder,
            stdin=asyncio.subprocess.DEVNULL,
            stdout=asyncio.subprocess.PIPE if read_output else log,
            stderr=log,
            pass_fds=tuple(command.kept),
            start_new_session=True,
        )
    finally:
        if log is not None:
            os.close(log)
    return Child(command, process)


def open_log(path: Path) -> int:
    """Open a log to append to; one that has grown large is first put aside as `….old`."""
    path.parent.mkdir(parents=True, exist_ok=True)
    if path.exists() and path.stat().st_size > _MAX_LOG_BYTES:
        path.replace(path.with_suffix(".old"))
    return os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
