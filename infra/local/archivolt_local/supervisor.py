"""Starts the stack's parts in order, keeps them running, and stops them in reverse."""

import asyncio
import contextlib
import shutil
import signal
from collections.abc import AsyncGenerator, Mapping
from contextlib import AsyncExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

import httpx2

from archivolt.adapters.system.clock import SystemClock
from archivolt_local.addresses import LOOPBACK, reserve
from archivolt_local.children import Child
from archivolt_local.data_lock import DataLock
from archivolt_local.environment import product_settings
from archivolt_local.functions import Functions
from archivolt_local.gateway.api import ApiDefinition
from archivolt_local.gateway.front_door import FrontDoor
from archivolt_local.gateway.server import serve_front_door
from archivolt_local.keys import StackKeys, load_or_make_keys
from archivolt_local.mirror.child import MirrorOrder, Mirrors
from archivolt_local.places import DataFolder
from archivolt_local.private_files import write_private_json
from archivolt_local.problems import StartError
from archivolt_local.provisioning.clients import StackClients
from archivolt_local.provisioning.deployment import Deployment, deploy
from archivolt_local.runtime.credentials import RoleCredentials
from archivolt_local.runtime.environment import LocalServices
from archivolt_local.runtime.invocations import InvocationHost
from archivolt_local.services import Services, TablesChoice, start_services
from archivolt_local.tokens import (
    LOCAL_ISSUER,
    LOCAL_TENANT,
    LOCAL_USER,
    TokenSubject,
    issue_token,
    sign_in_link,
)


@dataclass(frozen=True, kw_only=True)
class StackOptions:
    """What a person asked for. `vaults` are the folders to mirror, by the vault's name."""

    port: int
    data: DataFolder
    vaults: Mapping[str, Path]
    tables: TablesChoice
    template: Path

    @property
    def url(self) -> str:
        """Where people connect."""
        return f"http://{LOOPBACK}:{self.port}"


async def run_stack(options: StackOptions) -> None:
    """Run the stack until SIGINT or SIGTERM.

    Raises:
        StartError: It cannot start, or a part of it ended by itself.

    """
    running = asyncio.ensure_future(_run(options))
    loop = asyncio.get_running_loop()
    for number in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(number, running.cancel)
    try:
        with contextlib.suppress(asyncio.CancelledError):
            await running
    except BaseExceptionGroup as group:
        raise _first_of(group) from group


async def _run(options: StackOptions) -> None:
    reserved = reserve(options.port)
    with contextlib.closing(reserved):
        lock = DataLock.acquire(options.data.lock)
        async with AsyncExitStack() as cleanup:
            cleanup.callback(lock.release)
            stack = Stack(options, lock)
            await stack.start(cleanup)
            await serve_front_door(stack.front_door, reserved, stack.serving())


class Stack:
    """The parts of a running stack."""

    front_door: FrontDoor

    def __init__(self, options: StackOptions, lock: DataLock) -> None:
        self._options = options
        self._lock = lock
        self._clock = SystemClock()
        self._keys = load_or_make_keys(options.data)
        self._services: Services
        self._functions: Functions
        self._local: LocalServices

    async def start(self, cleanup: AsyncExitStack) -> None:
        """Start everything but the front door; `cleanup` learns how to stop each part."""
        options = self._options
        shutil.rmtree(options.data.scratch, ignore_errors=True)
        _say("Starting the services …")
        invocations = InvocationHost()
        address = await invocations.start()
        cleanup.callback(invocations.stop)
        self._services = await start_services(
            options.data, self._lock, options.tables, functions=address
        )
        cleanup.push_async_callback(self._services.stop)
        _say("Deploying template.yaml …")
        aws = StackClients(self._services.aws_url, self._services.tables_url)
        deployment = await asyncio.to_thread(
            deploy, options.template, parameters(options, self._services, self._keys), aws
        )
        self._local = local_services(self._services, self._keys)
        credentials = RoleCredentials(aws.roles, self._clock)
        await credentials.start()
        cleanup.callback(credentials.stop)
        self._functions = Functions(deployment, self._local, credentials, options.data, self._clock)
        cleanup.push_async_callback(self._functions.stop)
        self._record(deployment)
        _say("Starting the functions …")
        await self._functions.start(aws.queues, aws.timers)
        invocations.serve(self._functions.pool)
        self.front_door = FrontDoor(
            ApiDefinition(deployment.api), self._functions.pool, self._functions.app, self._clock
        )

    @contextlib.asynccontextmanager
    async def serving(self) -> AsyncGenerator[None]:
        """What happens while requests are served: events, mirrors, watching; announce it."""
        await _check_health(self._options.url, self._options.data.logs)
        mirrors = self._mirrors()
        async with asyncio.TaskGroup() as tasks:
            jobs = [tasks.create_task(work) for work in self._functions.work()]
            jobs += [tasks.create_task(_must_live(child)) for child in self._services.children]
            jobs.append(tasks.create_task(mirrors.keep_running()))
            try:
                await mirrors.vaults_exist()
                self._announce()
                yield
            finally:
                for job in jobs:
                    job.cancel()

    def _announce(self) -> None:
        connection = {
            "url": self._options.url,
            "tenant": LOCAL_TENANT,
            "user": LOCAL_USER,
            "token": issue_token(TokenSubject(), self._keys.signing, self._clock),
        }
        write_private_json(self._options.data.connection, connection)
        _say(f"Archivolt is ready: {self._options.url}")
        _say(f"Address and token for programs: {self._options.data.connection}")
        link = sign_in_link(self._options.url, TokenSubject(), self._keys.signing, self._clock)
        _say(f"To sign in in a browser, once and within an hour: {link}")

    def _mirrors(self) -> Mirrors:
        order = MirrorOrder(
            vaults=self._options.vaults,
            queue=self._functions.queue_of("indexing"),
            data=self._options.data,
        )
        return Mirrors(order, self._functions.maintenance_environment())

    def _record(self, deployment: Deployment) -> None:
        aws_port = int(self._services.aws_url.rpartition(":")[2])
        vectors_port = int(self._services.vectors_url.rpartition(":")[2])
        record: dict[str, Any] = {
            "url": self._options.url,
            "tables": self._services.tables,
            "aws_port": aws_port,
            "vectors_port": vectors_port,
            "tables_url": self._services.tables_url,
            "queues": [source.queue_name for source in deployment.event_sources],
            "environment": self._functions.maintenance_environment(),
        }
        write_private_json(self._options.data.stack, record)


def _first_of(group: BaseExceptionGroup[BaseException]) -> BaseException:
    first = group.exceptions[0]
    if isinstance(first, BaseExceptionGroup):
        return _first_of(cast("BaseExceptionGroup[BaseException]", first))
    return first


async def _check_health(url: str, logs: Path) -> None:
    async with httpx2.AsyncClient(timeout=60, trust_env=False) as client:
        answer = await client.get(f"{url}/healthz")
    if not answer.is_success:
        raise StartError(f"The stack answers {answer.status_code}; its logs are in {logs}.")


async def _must_live(child: Child) -> None:
    await child.process.wait()
    raise StartError(f"The {child.command.name} ended by itself; its log is {child.command.log}.")


def parameters(options: StackOptions, services: Services, keys: StackKeys) -> dict[str, str]:
    """Return the template's parameters for this machine."""
    return {
        "PublicUrl": options.url,
        "AuthIssuer": LOCAL_ISSUER,
        "AuthJwksUrl": f"{options.url}/no-identity-provider",
        "QdrantUrl": services.vectors_url,
        "QdrantApiKey": keys.vectors,
        # The template sets this one from a parameter, which wins over what the shell gives.
        "ChatEnabled": product_settings().get("CHAT_ENABLED") or "true",
    }


def local_services(services: Services, keys: StackKeys) -> LocalServices:
    """Return where the functions find everything, and what differs from a deployment."""
    return LocalServices(
        aws_url=services.aws_url,
        tables_url=services.tables_url,
        defaults={
            "OUTBOUND_ALLOWED_HOSTS": "127.0.0.1,localhost,::1",
            "ARCHIVOLT_MCP_STDIO": "true",
            **product_settings(),
        },
        overrides={
            "AUTH_LOCAL_KEY": keys.signing,
            "AUTH_JWKS_URL": "",
            "USER_STORE_ENCRYPTION_KEY": keys.encryption,
            "KMS_KEY_ID": "",
        },
    )


def _say(line: str) -> None:
    print(line, flush=True)
