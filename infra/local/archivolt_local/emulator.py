"""The AWS emulator (ministack) as a process of the stack: S3, SQS, EventBridge, IAM, STS, KMS."""

import asyncio
import signal
from pathlib import Path

import httpx2

from archivolt_local.addresses import LOOPBACK
from archivolt_local.children import Child, Command, start_child
from archivolt_local.data_lock import DataLock
from archivolt_local.environment import for_children
from archivolt_local.places import MINISTACK_PYTHON, DataFolder
from archivolt_local.problems import StartError

REGION = "us-east-1"
ROOT_CREDENTIALS = {"AWS_ACCESS_KEY_ID": "test", "AWS_SECRET_ACCESS_KEY": "test"}
_START_SECONDS = 60.0


async def start_emulator(
    data: DataFolder, port: int, lock: DataLock | None, *, functions: str = ""
) -> Child:
    """Start the emulator on the loopback with its state in DATA, checking IAM policies.

    `functions` is the address at which its state machines call functions; "" where there are none.

    Raises:
        StartError: It is not installed, or does not come up.

    """
    if not MINISTACK_PYTHON.exists():
        raise StartError("The AWS emulator is not installed; run `make setup` first.")
    state, objects = data.emulator / "state", data.emulator / "s3"
    for folder in (state, objects):
        folder.mkdir(parents=True, exist_ok=True)
    command = Command(
        name="emulator",
        arguments=[
            str(MINISTACK_PYTHON),
            "-W",
            "ignore",
            str(Path(__file__).with_name("emulator_process.py")),
            f"{LOOPBACK}:{port}",
        ],
        environment=for_children()
        | _settings(port, state, objects)
        | {"ARCHIVOLT_FUNCTIONS": functions},
        log=data.logs / "emulator.log",
        # It saves its state on SIGTERM, so that even `kill -9` of the stack loses nothing here.
        death_signal=signal.SIGTERM,
        kept=[lock.descriptor] if lock else [],
    )
    child = await start_child(command)
    await wait_until_answers(child, f"http://{LOOPBACK}:{port}/_ministack/health")
    return child


def _settings(port: int, state: Path, objects: Path) -> dict[str, str]:
    return {
        "BIND_HOST": LOOPBACK,
        "GATEWAY_PORT": str(port),
        "MINISTACK_HOST": LOOPBACK,
        "IOT_MTLS_ENABLED": "0",
        "SFTP_ENABLED": "0",
        "AUTH": "true",
        "LOG_LEVEL": "WARNING",
        "PERSIST_STATE": "1",
        "S3_PERSIST": "1",
        "STATE_DIR": str(state),
        "S3_DATA_DIR": str(objects),
        "DOCKER_HOST": "unix:///nonexistent",
    }


async def wait_until_answers(child: Child, url: str) -> None:
    """Wait until `url` answers at all.

    Raises:
        StartError: The process ended, or took too long.

    """
    name, log = child.command.name, child.command.log
    async with httpx2.AsyncClient(timeout=2.0, trust_env=False) as client:
        for _ in range(int(_START_SECONDS / 0.05)):
            if not child.alive:
                raise StartError(f"The {name} could not start; its log is {log}.")
            try:
                await client.get(url)
            except httpx2.TransportError:
                await asyncio.sleep(0.05)
            else:
                return
    child.kill()
    raise StartError(f"The {name} did not answer in {_START_SECONDS:.0f} seconds; see {log}.")
