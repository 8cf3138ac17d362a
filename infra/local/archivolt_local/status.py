"""The state of a running stack, for a person or a program."""

import fcntl
import json
import subprocess
import sys
from typing import Any

from archivolt_local.places import DataFolder
from archivolt_local.private_files import read_json
from archivolt_local.problems import StartError

_SECONDS = 60


def read_status(data: DataFolder) -> dict[str, Any]:
    """Return the stack's state: `url`, `data`, `tables`, `vaults`, `queues`.

    Raises:
        StartError: No stack runs on this folder, or it does not answer.

    """
    stack = _running_stack(data)
    about = {"url": stack["url"], "data": str(data.root), "tables": stack["tables"]}
    return {**about, **_ask(stack, "archivolt_local.status_report")}


def redrive_dead_letters(data: DataFolder) -> list[dict[str, Any]]:
    """Move dead letters back to their queues; return `name`, `waiting`, `moved`, `stayed` of each.

    Raises:
        StartError: As for `read_status`.

    """
    return _ask(_running_stack(data), "archivolt_local.redrive_queues")


def _running_stack(data: DataFolder) -> dict[str, Any]:
    stack = read_json(data.stack)
    if not stack or not _is_running(data):
        raise StartError(f"No stack runs on {data.root}; start one with `archivolt up`.")
    return stack


def _ask(stack: dict[str, Any], module: str) -> Any:  # noqa: ANN401  JSON of either module
    try:
        answer = subprocess.run(
            [sys.executable, "-m", module, *stack["queues"]],
            env=stack["environment"],
            capture_output=True,
            timeout=_SECONDS,
            check=True,
        )
    except (subprocess.CalledProcessError, subprocess.TimeoutExpired) as error:
        raise StartError("The stack does not tell its state; it may be starting.") from error
    return json.loads(answer.stdout)


def _is_running(data: DataFolder) -> bool:
    try:
        with data.lock.open("rb") as lock:
            fcntl.flock(lock, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    except OSError:
        return False
    return False


def describe(status: dict[str, Any]) -> str:
    """Return a state as text for a terminal."""
    lines = [f"Archivolt at {status['url']}"]
    lines += [f"Data in {status['data']} (tables in {status['tables']})", ""]
    for vault in status["vaults"]:
        states = ", ".join(f"{number} {state}" for state, number in vault["states"].items())
        lines.append(f"  {vault['tenant']}/{vault['name']}: {vault['files']} files ({states})")
    lines += [] if status["vaults"] else ["  no vaults"]
    lines.append("")
    for queue in status["queues"]:
        lines.append(f"  {queue['name']}: {queue['waiting']} waiting, {queue['in_work']} in work")
    return "\n".join(lines)


def describe_redrive(queues: list[dict[str, Any]]) -> str:
    """Return what became of dead letters as text for a terminal."""
    lines: list[str] = []
    for queue in queues:
        stayed = f", {queue['stayed']} could not be sent and stayed" if queue["stayed"] else ""
        lines.append(f"{queue['name']}: {queue['waiting']} waiting, {queue['moved']} moved{stayed}")
    return "\n".join(lines)
