"""One stack at a time on one data folder.

The lock's file descriptor is inherited by the processes that write data: while one of them still
winds up, the folder stays locked, even when the stack itself was killed.
"""

import fcntl
import os
import time
from pathlib import Path

from archivolt_local.problems import StartError

_WIND_UP_SECONDS = 20.0


class DataLock:
    """Holds DATA for this process and those that inherit `descriptor`."""

    def __init__(self, descriptor: int) -> None:
        self.descriptor = descriptor

    @classmethod
    def acquire(cls, path: Path, *, wait: float = _WIND_UP_SECONDS) -> "DataLock":
        """Take the lock; when its owner is dead, wait for its last processes to end.

        Raises:
            StartError: Another stack runs on this folder.

        """
        path.parent.mkdir(parents=True, exist_ok=True)
        descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        deadline = time.monotonic() + wait
        while not _try_lock(descriptor):
            if _owner_lives(descriptor) or time.monotonic() > deadline:
                os.close(descriptor)
                raise StartError(f"Another Archivolt already runs on {path.parent}; stop it first.")
            time.sleep(0.1)
        os.ftruncate(descriptor, 0)
        os.pwrite(descriptor, str(os.getpid()).encode("ascii"), 0)
        return cls(descriptor)

    def release(self) -> None:
        """Let another stack have the folder."""
        os.ftruncate(self.descriptor, 0)
        os.close(self.descriptor)


def _try_lock(descriptor: int) -> bool:
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def _owner_lives(descriptor: int) -> bool:
    owner = os.pread(descriptor, 32, 0).strip()
    if not owner.isdigit():
        return False
    try:
        os.kill(int(owner), 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True
