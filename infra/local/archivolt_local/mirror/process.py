"""The process that mirrors folders into vaults: `python -m archivolt_local.mirror.process CONFIG`.

CONFIG is a JSON object: `vaults` (folder by vault name), `queue` (the indexing queue's name),
`records` (where the manifests are), `mark` (a file to make once every vault exists). The
environment is a function's, with every right.
"""

import asyncio
import json
import sys
from collections.abc import AsyncIterator
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from watchfiles import awatch  # pyright: ignore[reportUnknownVariableType]  partly annotated

from archivolt.bootstrap import Container
from archivolt.domain.errors import NotFoundError
from archivolt.domain.identity import Principal, Role, TenantId, UserId
from archivolt.domain.vault import VaultRef
from archivolt.settings import load_settings
from archivolt_local.json_values import JsonObject
from archivolt_local.mirror.folder import MirroredFolder
from archivolt_local.mirror.manifest import Manifest
from archivolt_local.mirror.mirror import VaultMirror
from archivolt_local.mirror.progress import Progress, tell_progress
from archivolt_local.mirror.writer import VaultWriter
from archivolt_local.provisioning.clients import StackClients
from archivolt_local.tokens import LOCAL_TENANT, LOCAL_USER

if TYPE_CHECKING:
    from types_boto3_sqs import SQSClient

_SECONDS_BETWEEN_FULL_LOOKS = 300.0
_QUIET_MS = 50
_LONGEST_WAIT_MS = 400

OWNER = Principal(
    tenant=TenantId(LOCAL_TENANT),
    user=UserId(LOCAL_USER),
    role=Role.TENANT_ADMIN,
    token_id="mirror",  # noqa: S106  a name in logs
)


class MirrorProcess:
    """What the mirrors share: the product, the indexing queue's name, the manifests' folder."""

    def __init__(self, container: Container, queue: str, records: Path) -> None:
        self._container = container
        self._queue = queue
        self._records = records

    async def mirror(self, name: str, ref: VaultRef, root: Path) -> None:
        """Mirror one folder for ever."""
        folder = MirroredFolder(root)
        manifest = Manifest.of_vault(self._records, ref.id)
        writer = VaultWriter(ref, self._container.file_store, manifest)
        mirror = VaultMirror(folder, writer, manifest, self._waiting, lambda line: say(name, line))
        async with asyncio.TaskGroup() as tasks:
            tasks.create_task(mirror.follow(changes_in(folder.root)))
            tasks.create_task(mirror.work())
            files = await mirror.look_at_everything()
            tasks.create_task(self._tell_progress(name, ref, files, mirror))
            while True:
                await asyncio.sleep(_SECONDS_BETWEEN_FULL_LOOKS)
                await mirror.look_at_everything()

    def vault(self, name: str) -> VaultRef:
        """Return where a vault is, creating it if need be."""
        service = self._container.vaults
        try:
            return service.access(OWNER, name).vault.ref
        except NotFoundError:
            service.create(OWNER, name)
            return service.access(OWNER, name).vault.ref

    def _waiting(self) -> int:
        names = ("ApproximateNumberOfMessages", "ApproximateNumberOfMessagesNotVisible")
        sqs, url = self._indexing_queue
        found = sqs.get_queue_attributes(QueueUrl=url, AttributeNames=list(names))["Attributes"]
        return sum(int(found[name]) for name in names)

    @cached_property
    def _indexing_queue(self) -> "tuple[SQSClient, str]":
        address = self._container.settings.aws_endpoint_url
        sqs = StackClients(address, address).queues
        return sqs, sqs.get_queue_url(QueueName=self._queue)["QueueUrl"]

    async def _tell_progress(
        self, name: str, ref: VaultRef, files: int, mirror: VaultMirror
    ) -> None:
        def look() -> Progress:
            counts = self._container.catalogue.counts(ref)
            return Progress(vault=name, files=files, left=mirror.backlog, counts=counts)

        await tell_progress(look, lambda line: print(line, flush=True))


async def changes_in(root: Path) -> AsyncIterator[list[Path]]:
    """Yield the places where something changed, soon after it did."""
    watching = awatch(root, watch_filter=None, step=_QUIET_MS, debounce=_LONGEST_WAIT_MS)
    async for changes in watching:
        yield [Path(place) for _, place in changes]


def say(vault: str, line: str) -> None:
    """Tell a person something about a vault's mirror."""
    print(f"Vault {vault}: {line}", flush=True)


async def _run(config: JsonObject) -> None:
    container = Container(load_settings())
    process = MirrorProcess(container, config["queue"], Path(config["records"]))
    folders: dict[str, str] = config["vaults"]
    refs = {name: await asyncio.to_thread(process.vault, name) for name in folders}
    await asyncio.to_thread(Path(config["mark"]).touch)
    async with asyncio.TaskGroup() as tasks:
        for name, folder in folders.items():
            tasks.create_task(process.mirror(name, refs[name], Path(folder)))


if __name__ == "__main__":
    asyncio.run(_run(json.loads(sys.argv[1])))
