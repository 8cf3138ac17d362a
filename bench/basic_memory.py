"""basic-memory, a program of others that indexes a folder of notes, in an environment of its own.

The environment is kept in the user's cache folder, never in the repository. Its embeddings are
off: what is compared is how soon words are found.
"""

import shutil
import sqlite3
import subprocess
import sys
import tempfile
import time
import venv
from collections.abc import Mapping
from contextlib import closing, suppress
from pathlib import Path
from typing import Final

from archivolt_local.environment import for_children

VERSION: Final = "0.24.1"
_LEAST_PYTHON: Final = (3, 12)
_INSTALL_SECONDS: Final = 600
_SHOWN_CHARS: Final = 2_000


def installed() -> Path | None:
    """Return its command, installed now if it was not; None (and a sentence) where it cannot be."""
    if sys.version_info < _LEAST_PYTHON:
        print("basic-memory is left out: it needs Python 3.12", file=sys.stderr)
        return None
    python = f"{sys.version_info.major}.{sys.version_info.minor}"
    folder = Path.home() / ".cache" / "archivolt-bench" / f"basic-memory-{VERSION}-{python}"
    command = folder / "bin" / "basic-memory"
    try:
        if not command.exists():
            venv.create(folder, with_pip=True, clear=True)
            subprocess.run(
                [folder / "bin" / "pip", "install", "--quiet", f"basic-memory=={VERSION}"],
                check=True,
                timeout=_INSTALL_SECONDS,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
            )
    except (OSError, subprocess.SubprocessError) as error:
        print(f"basic-memory is left out: it cannot be installed ({error})", file=sys.stderr)
        return None
    return command


def rate_of_indexing(command: Path, folder: Path, *, seconds: float) -> float | None:
    """Return how many of a folder's notes are found by words a second, its start included.

    It stops when all are, or when the time is over. None (and a sentence) where it fails: what was
    measured before stands without it.
    """
    try:
        return _rate_of_indexing(command, folder, seconds)
    except (subprocess.SubprocessError, sqlite3.Error) as error:
        said = f"{error}\n{getattr(error, 'stdout', '')}{getattr(error, 'stderr', '')}"
        print(f"basic-memory is left out: it failed:\n{said[-_SHOWN_CHARS:]}", file=sys.stderr)
        return None


def _rate_of_indexing(command: Path, folder: Path, seconds: float) -> float:
    with tempfile.TemporaryDirectory() as home:
        environment = {
            **for_children(),
            "HOME": home,
            "BASIC_MEMORY_HOME": f"{home}/main",
            "BASIC_MEMORY_CONFIG_DIR": f"{home}/settings",
            "BASIC_MEMORY_SEMANTIC_SEARCH_ENABLED": "false",
        }
        # The project is made first: what is measured is the folder, not the making of a database.
        notes = Path(home, "notes")
        notes.mkdir()
        add = [command, "project", "add", "notes", notes]
        subprocess.run(add, env=environment, check=True, timeout=seconds, capture_output=True)
        shutil.copytree(folder, notes, dirs_exist_ok=True)
        database = Path(home, "settings", "memory.db")
        start = time.perf_counter()
        with suppress(subprocess.TimeoutExpired):
            _index(command, environment, database, until=start + seconds)
        return _found(database) / (time.perf_counter() - start)


def _index(command: Path, environment: Mapping[str, str], database: Path, *, until: float) -> None:
    """Have a folder indexed, again and again as long as notes fail and others do not.

    On a busy machine its own tasks wait for each other at its database for longer than they may:
    it gives up notes, tells how many, ends with an error, and takes them up when asked again.

    Raises:
        subprocess.TimeoutExpired: The time is over.
        subprocess.CalledProcessError: It fails altogether.

    """
    asked = [command, "reindex", "--search", "--project", "notes"]
    found = 0
    while True:
        left = max(until - time.perf_counter(), 0)
        done = subprocess.run(
            asked, env=environment, check=False, timeout=left, capture_output=True, text=True
        )
        before, found = found, _found(database)
        if done.returncode == 0:
            return
        if found == before:
            done.check_returncode()


def _found(database: Path) -> int:
    """Return how many notes its index of words has."""
    address = f"{database.as_uri()}?mode=ro"
    with closing(sqlite3.connect(address, uri=True)) as connection:
        ((found,),) = connection.execute(
            "SELECT count(DISTINCT file_path) FROM search_index WHERE type = 'entity'"
        )
    return int(found)
