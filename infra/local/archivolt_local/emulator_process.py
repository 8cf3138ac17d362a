"""Runs the AWS emulator and saves its state every few seconds.

Executed by path, in the emulator's own virtual environment: standard library and ministack only.
usage: emulator_process.py HOST:PORT
ministack saves its state at shutdown; between, this saves it through a private call, for the one
version it was tried with, and teaches that one more of IAM, of state machines and of what a stop
leaves in work. With another version the state is saved at shutdown only.
"""

# Its imports are in that other environment, and have no types there.
# pyright: reportMissingImports=false, reportUnknownVariableType=false
# pyright: reportUnknownMemberType=false, reportUnknownArgumentType=false

import asyncio
import os
import sys
import time
from importlib.metadata import version

import emulator_conditions
import emulator_functions
import emulator_queues
import ministack.app as emulator
from hypercorn.asyncio import serve
from hypercorn.config import Config
from ministack.core.persistence import save_all

TRIED_VERSION = "1.5.33"
_SECONDS_BETWEEN = 3.0
_SHARE_OF_TIME = 20


async def _save_now_and_then() -> None:
    """Save in the event loop's thread: the emulator changes its state there and nowhere else."""
    pause = _SECONDS_BETWEEN
    while True:
        await asyncio.sleep(pause)
        started = time.monotonic()
        save_all(emulator._build_persistence_save_dict())  # noqa: SLF001  see above
        pause = max(_SECONDS_BETWEEN, _SHARE_OF_TIME * (time.monotonic() - started))


async def _run() -> None:
    config = Config()
    config.bind = [sys.argv[1]]
    config.keep_alive_timeout = 75
    config.loglevel = "WARNING"
    saving, app = None, emulator.app
    if version("ministack") == TRIED_VERSION:
        saving = asyncio.create_task(_save_now_and_then())
        emulator_conditions.tell_leading_keys()
        emulator_queues.deliver_what_was_in_work()
        # Not an argument: the address holds a secret, and arguments are for everybody to see.
        address = os.environ.get("ARCHIVOLT_FUNCTIONS", "")  # noqa: TID251  the emulator's own
        emulator_functions.call_functions_at(address)
        app = emulator_conditions.refusing_absence(app)
    await serve(app, config)
    if saving is not None:
        saving.cancel()


asyncio.run(_run())
