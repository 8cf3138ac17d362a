"""Processes of the stack end with it, whatever ends it."""

import asyncio
import os
import select
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from archivolt_local.children import Command, open_log, start_child
from archivolt_local.environment import for_children

PARENT = """
import asyncio, sys
from pathlib import Path
from archivolt_local.children import Command, start_child
from archivolt_local.environment import for_children

async def main():
    waiting = ["tail", "-f", "/dev/null"]
    child = await start_child(Command(name="c", arguments=waiting, environment=for_children()))
    print(child.process.pid, flush=True)
    await asyncio.Event().wait()

asyncio.run(main())
"""

STUBBORN = """
import signal
signal.signal(signal.SIGTERM, signal.SIG_IGN)
print("up", flush=True)
while True:
    signal.pause()
"""


@pytest.fixture
def parent() -> Iterator["subprocess.Popen[str]"]:
    with subprocess.Popen(
        [sys.executable, "-c", PARENT], stdout=subprocess.PIPE, text=True, env=for_children()
    ) as process:
        yield process
        process.kill()


@pytest.mark.skipif(sys.platform != "linux", reason="the kernel's death signal is Linux's")
def test_a_child_dies_with_a_parent_that_was_killed(parent: "subprocess.Popen[str]") -> None:
    assert parent.stdout is not None
    child = int(parent.stdout.readline())
    watched = os.pidfd_open(child)
    parent.kill()
    parent.wait()
    # Readable once the process has ended.
    events = _wait_readable(watched, seconds=10)
    os.close(watched)
    assert events


def _wait_readable(descriptor: int, *, seconds: float) -> bool:
    readable, _, _ = select.select([descriptor], [], [], seconds)
    return bool(readable)


@pytest.mark.anyio
async def test_a_child_that_ignores_the_polite_signal_is_ended(tmp_path: Path) -> None:
    child = await start_child(
        Command(
            name="stubborn",
            arguments=[sys.executable, "-c", STUBBORN],
            environment=for_children(),
        ),
        read_output=True,
    )
    assert child.process.stdout is not None
    assert await child.process.stdout.readline() == b"up\n"
    await child.stop(patience=0.1)
    assert child.process.returncode == -signal.SIGKILL


@pytest.mark.anyio
async def test_a_child_gets_the_environment_it_was_given_and_no_other(tmp_path: Path) -> None:
    log = tmp_path / "child.log"
    child = await start_child(
        Command(name="env", arguments=["env"], environment={"ONLY": "this"}, log=log)
    )
    await asyncio.wait_for(child.process.wait(), 10)
    names = {line.partition("=")[0] for line in log.read_text().splitlines()}
    # Python itself adds the last one in a C locale.
    assert names - {"LC_CTYPE"} == {"ONLY"}


def test_a_log_that_grew_large_is_put_aside(tmp_path: Path) -> None:
    log = tmp_path / "child.log"
    log.write_bytes(b"x" * 5_000_001)
    os.close(open_log(log))
    assert log.stat().st_size == 0
    assert (tmp_path / "child.old").stat().st_size == 5_000_001
