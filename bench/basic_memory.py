"""basic-memory, a program of others that indexes a folder of notes, in an environment of its own.

The environment is kept in the user's cache folder, never in the repository. Its embeddings are
off: what is compared is how soon words are found.
"""

import shutil
import subprocess
import sys
import tempfile
import time
import venv
from collections.abc import Mapping
from pathlib import Path
from typing import Final

from archivolt_local.environment import for_children

VERSION: Final = "0.24.1"
_LEAST_PYTHON: Final = (3, 12)
_INSTALL_SECONDS: Final = 600
_SYNC_SECONDS: Final = 3_600
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


def seconds_to_index(command: Path, folder: Path) -> float | None:
    """Return how long it takes to find a folder's notes by words, its start included.

    None (and a sentence) where it fails: what was measured before stands without it.
    """
    try:
        return _seconds_to_index(command, folder)
    except subprocess.CalledProcessError as error:
        said = f"{error.stdout}{error.stderr}"[-_SHOWN_CHARS:]
        print(f"basic-memory is left out: it failed:\n{said}", file=sys.stderr)
        return None


def _seconds_to_index(command: Path, folder: Path) -> float:
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
        _run(environment, command, "project", "add", "notes", notes)
        shutil.copytree(folder, notes, dirs_exist_ok=True)
        start = time.perf_counter()
        said = _run(environment, command, "reindex", "--search", "--project", "notes")
        taken = time.perf_counter() - start
    if " 0 failed" not in said:
        raise RuntimeError(f"basic-memory did not index everything: {said}")
    return taken


def _run(environment: Mapping[str, str], *command: str | Path) -> str:
    done = subprocess.run(
        command, env=environment, check=True, timeout=_SYNC_SECONDS, capture_output=True, text=True
    )
    return done.stdout
