"""The processes that stand in for AWS and Qdrant, started side by side."""

import asyncio
import signal
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

from archivolt_local.addresses import LOOPBACK, free_port
from archivolt_local.children import Child, Command, start_child
from archivolt_local.data_lock import DataLock
from archivolt_local.emulator import start_emulator, wait_until_answers
from archivolt_local.environment import for_children
from archivolt_local.places import DataFolder
from archivolt_local.private_files import read_json
from archivolt_local.problems import StartError
from archivolt_local.tables import dynamodb_local

TablesChoice = Literal["auto", "ministack", "dynamodb-local"]


@dataclass(frozen=True, kw_only=True)
class Services:
    """Where each service answers, and its process. `tables` names what keeps the tables."""

    aws_url: str
    tables_url: str
    vectors_url: str
    tables: str
    children: tuple[Child, ...]

    async def stop(self) -> None:
        """Stop them all; each writes what it holds."""
        await asyncio.gather(*(child.stop() for child in self.children))


async def start_services(
    data: DataFolder, lock: DataLock, tables: TablesChoice, *, functions: str
) -> Services:
    """Start everything the functions stand on; `functions` is where state machines call them.

    Raises:
        StartError: One of them does not start.

    """
    before = read_json(data.stack)
    kept_by = choose_tables(tables, before)
    started: list[Child] = []
    try:
        aws_port = free_port(_port(before, "aws_port"))
        started.append(await start_emulator(data, aws_port, lock, functions=functions))
        vectors_url = await _start_vectors(data, lock, _port(before, "vectors_port"), started)
        aws_url = f"http://{LOOPBACK}:{aws_port}"
        tables_url = aws_url
        if kept_by == "dynamodb-local":
            tables_url = await _start_tables(data, lock, started)
    except BaseException:
        await asyncio.gather(*(child.stop() for child in started))
        raise
    return Services(
        aws_url=aws_url,
        tables_url=tables_url,
        vectors_url=vectors_url,
        tables=kept_by,
        children=tuple(started),
    )


def choose_tables(choice: TablesChoice, before: Mapping[str, Any]) -> str:
    """Return what keeps the tables: what kept them before, else DynamoDB Local where it can run.

    Raises:
        StartError: What was asked for, or what holds the data already, cannot run here.

    """
    known = str(before.get("tables") or "")
    wanted = known or ("" if choice == "auto" else choice)
    if choice not in {"auto", wanted}:
        raise StartError(
            f"This data folder keeps its tables in {known}; TABLES={choice} needs another folder."
        )
    if not wanted:
        wanted = "dynamodb-local" if dynamodb_local.is_available() else "ministack"
    if wanted == "dynamodb-local" and not dynamodb_local.is_available():
        raise StartError(
            "DynamoDB Local cannot run here: it needs Java, unshare and "
            "`scripts/fetch_dynamodb_local`; TABLES=ministack goes without."
        )
    return wanted


def _port(before: Mapping[str, Any], name: str) -> int:
    value = before.get(name)
    return value if isinstance(value, int) else 0


async def _start_vectors(
    data: DataFolder, lock: DataLock, preferred: int, started: list[Child]
) -> str:
    port = free_port(preferred)
    command = [sys.executable, "-m", "archivolt_local.vectors.server"]
    child = await start_child(
        Command(
            name="vector store",
            arguments=[*command, str(data.vectors), str(port), str(data.keys)],
            environment=for_children(),
            log=data.logs / "vectors.log",
            death_signal=signal.SIGTERM,
            kept=[lock.descriptor],
        )
    )
    started.append(child)
    await wait_until_answers(child, f"http://{LOOPBACK}:{port}/healthz")
    return f"http://{LOOPBACK}:{port}"


async def _start_tables(data: DataFolder, lock: DataLock, started: list[Child]) -> str:
    data.tables.mkdir(parents=True, exist_ok=True)
    server = dynamodb_local.TableServer.on_loopback(0, data.tables)
    with server.listening:
        url = server.url
        child = await start_child(
            Command(
                name="table server",
                arguments=server.arguments(),
                environment=server.environment(),
                log=data.logs / "tables.log",
                # It leaves a file about itself where it is started.
                folder=data.tables,
                kept=[server.listening.fileno(), lock.descriptor],
            )
        )
    started.append(child)
    await wait_until_answers(child, url)
    return url
