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
_NEEDS_NOBODY = ("indexed", "pending")


def read_status(data: DataFolder) -> dict[str, Any]:
    """Return the stack's state: `url`, `data`, `tables`, `vaults`, `queues`.

    Raises:
        StartError: No stack runs on this folder, or it does not answer.

    """
    stack = running_stack(data)
    about = {"url": stack["url"], "data": str(data.root), "tables": stack["tables"]}
    return {**about, **ask(stack, "archivolt_local.status_report", *stack["queues"])}


def redrive_dead_letters(data: DataFolder) -> list[dict[str, Any]]:
    """Move dead letters back to their queues; return `name`, `waiting`, `moved`, `stayed` of each.

    Raises:
        StartError: As for `read_status`.

    """
    stack = running_stack(data)
    return ask(stack, "archivolt_local.redrive_queues", *stack["queues"])


def reindex_vaults(data: DataFolder, *, tenant: str, vault: str) -> list[dict[str, Any]]:
    """Have indexes made anew; return `tenant`, `name` and `status` of each vault.

    Raises:
        StartError: As for `read_status`.

    """
    return ask(running_stack(data), "archivolt_local.reindex_vaults", tenant, vault)


def purge_conversations(data: DataFolder, *, dry: bool) -> dict[str, Any]:
    """Run the daily purge, or only count what it would remove; return the counts.

    Raises:
        StartError: As for `read_status`.

    """
    return ask(running_stack(data), "archivolt_local.purge_conversations", *["dry"][:dry])


def verify_audit(data: DataFolder, *, tenant: str) -> list[dict[str, Any]]:
    """Check the audit log of a tenant, or of all ("").

    Raises:
        StartError: As for `read_status`.

    """
    return ask(running_stack(data), "archivolt_local.verify_audit", tenant)


def running_stack(data: DataFolder) -> dict[str, Any]:
    """Return what the running stack wrote about itself.

    Raises:
        StartError: None runs on this folder.

    """
    stack = read_json(data.stack)
    if not stack or not _is_running(data):
        raise StartError(f"No stack runs on {data.root}; start one with `archivolt up`.")
    return stack


def ask(stack: dict[str, Any], module: str, *arguments: str, told: str = "") -> Any:  # noqa: ANN401
    """Run a module with the stack's environment, and return the JSON that it prints.

    Raises:
        StartError: It fails.

    """
    try:
        answer = subprocess.run(
            [sys.executable, "-m", module, *arguments],
            env=stack["environment"],
            input=told.encode(),
            capture_output=True,
            timeout=_SECONDS,
            check=True,
        )
    except (subprocess.CalledProcessError, subprocess.TimeoutExpired) as error:
        raise StartError("The stack does not tell its state; it may be starting.") from error
    # What the product logs on the way comes before.
    return json.loads(answer.stdout.splitlines()[-1])


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
        lines += _index_of(vault)
    lines += [] if status["vaults"] else ["  no vaults"]
    lines.append("")
    for queue in status["queues"]:
        dead = queue["dead"]
        gave_up = f", {dead} given up: `archivolt redrive` has them tried again" if dead else ""
        work = f"{queue['waiting']} waiting, {queue['in_work']} in work"
        lines.append(f"  {queue['name']}: {work}{gave_up}")
    return "\n".join(lines)


def _index_of(vault: dict[str, Any]) -> list[str]:
    """Return what else is to be told of a vault's index."""
    lines = [f"    compared with its documents: {vault['last_sync'] or 'never'}"]
    if vault["rebuild"]:
        done, since = vault["rebuild"]["done"], vault["rebuild"]["since"]
        lines.append(f"    being made anew since {since}: {done} files done")
    lines += [f"    {one['state']}: {one['path']} ({one['reason']})" for one in vault["attention"]]
    states = vault["states"].items()
    unread = sum(number for state, number in states if state not in _NEEDS_NOBODY)
    if unread > len(vault["attention"]):
        lines.append(f"    and {unread - len(vault['attention'])} more")
    return lines


def describe_reindex(vaults: list[dict[str, Any]]) -> str:
    """Return what became of a request to make indexes anew as text for a terminal."""
    lines = [f"{one['tenant']}/{one['name']}: {one['status']}" for one in vaults]
    return "\n".join(lines) or "There is no such vault."


def describe_redrive(queues: list[dict[str, Any]]) -> str:
    """Return what became of dead letters as text for a terminal."""
    lines: list[str] = []
    for queue in queues:
        stayed = f", {queue['stayed']} could not be sent and stayed" if queue["stayed"] else ""
        lines.append(f"{queue['name']}: {queue['waiting']} waiting, {queue['moved']} moved{stayed}")
    return "\n".join(lines)
