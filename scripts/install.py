"""Create the repository's virtual environments from pinned requirements with hashes.

Runs on a bare Python (standard library only), because it is what installs everything else.
Each environment carries a stamp: what it was made from. Nothing is done while the stamp holds, and
an interrupted install leaves no stamp. It knows nothing about the product's code.
"""

from __future__ import annotations

import argparse
import fcntl
import hashlib
import json
import shutil
import subprocess
import sys
import tomllib
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Generator

ROOT = Path(__file__).resolve().parent.parent
TOOLS = ROOT / ".tools"
STAMP = "installed.json"


@dataclass(frozen=True)
class Environment:
    """A virtual environment: its folder, the pins it is made from, whether it holds the project.

    `also_satisfied_by` names pins that hold all of `requirements` and more.
    """

    folder: Path
    requirements: str
    project: bool = False
    also_satisfied_by: tuple[str, ...] = ()

    @property
    def python(self) -> Path:
        """The environment's interpreter."""
        return self.folder / "bin" / "python"


def environments(venv: Path) -> dict[str, Environment]:
    """Every environment by the name that the command line takes."""
    local, dev = "requirements/local.txt", "requirements/dev.txt"
    project = {
        "run": Environment(venv, local, project=True, also_satisfied_by=(dev,)),
        "dev": Environment(venv, dev, project=True),
    }
    tools = {
        name: Environment(TOOLS / name, f"requirements/{name}.txt")
        for name in ("ministack", "sam", "uv", "fastmcp", "mcp-servers", "search-peers")
    }
    return project | tools


def digest_of(requirements: str, *, project: bool) -> str:
    """Hash what an environment is made from: its pins and how the project is packaged."""
    digest = hashlib.sha256((ROOT / requirements).read_bytes())
    if project:
        with (ROOT / "pyproject.toml").open("rb") as file:
            metadata = tomllib.load(file)
        packaging = [metadata["project"], metadata["build-system"], metadata["tool"]["hatch"]]
        digest.update(json.dumps(packaging, sort_keys=True).encode())
    return digest.hexdigest()


def python_version(python: Path) -> str | None:
    """`3.13` of an interpreter that runs; None of one that is absent or broken."""
    ask = "import sys; print('%d.%d' % sys.version_info[:2])"
    try:
        answer = subprocess.run([python, "-c", ask], capture_output=True, text=True, check=True)
    except (OSError, subprocess.CalledProcessError):
        return None
    return answer.stdout.strip()


def is_current(environment: Environment) -> bool:
    """Whether the stamp says that the environment was made from today's files."""
    try:
        made_from = json.loads((environment.folder / STAMP).read_text())
    except (OSError, ValueError):
        return False
    return any(
        made_from == {"pins": pins, "digest": digest_of(pins, project=environment.project)}
        for pins in (environment.requirements, *environment.also_satisfied_by)
    )


def stamp(environment: Environment, pins: str) -> None:
    """Note that the environment was made from these pins as they are now."""
    made_from = {"pins": pins, "digest": digest_of(pins, project=environment.project)}
    (environment.folder / STAMP).write_text(json.dumps(made_from))


def pip_install(environment: Environment, *arguments: str) -> None:
    """Run pip in the environment; -qq, since mirrors a person has configured warn at length."""
    command = [environment.python, "-m", "pip", "--disable-pip-version-check", "install", "-qq"]
    subprocess.run([*command, *arguments], cwd=ROOT, check=True)


def make(environment: Environment) -> None:
    """Create or complete the environment and stamp it."""
    print(f"Installing {environment.requirements} …", file=sys.stderr, flush=True)
    (environment.folder / STAMP).unlink(missing_ok=True)
    if not environment.python.exists():
        subprocess.run([sys.executable, "-m", "venv", environment.folder], check=True)
    pip_install(environment, "--require-hashes", "-r", environment.requirements)
    if environment.project:
        pip_install(environment, "--no-deps", "--no-build-isolation", "-e", ".")
    stamp(environment, environment.requirements)


@contextmanager
def only_one_at_a_time(folder: Path) -> Generator[None]:
    """Two `make` commands at once install one after the other."""
    TOOLS.mkdir(exist_ok=True)
    with (TOOLS / f"{folder.name.lstrip('.')}.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def ensure(environment: Environment, *, same_python: bool) -> None:
    """Make the environment unless it is current; a broken interpreter means a new start.

    With `same_python`, the project's environment is made anew when it is of another Python version.
    """
    with only_one_at_a_time(environment.folder):
        version = python_version(environment.python)
        exact = same_python and environment.project
        wanted = "{}.{}".format(*sys.version_info[:2]) if exact else version
        if environment.folder.exists() and (version is None or version != wanted):
            shutil.rmtree(environment.folder)
        if not is_current(environment):
            make(environment)


def main() -> int:
    """Make the environments named on the command line; 0 when all of them stand."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="+", choices=sorted(environments(Path())), metavar="NAME")
    parser.add_argument("--venv", type=Path, default=Path(".venv"))
    parser.add_argument("--same-python", action="store_true")
    options = parser.parse_args()
    known = environments(ROOT / options.venv)
    try:
        for name in options.names:
            ensure(known[name], same_python=options.same_python)
    except subprocess.CalledProcessError as error:
        failed = " ".join(str(part) for part in error.cmd[:6])
        print(f"Setting up failed at: {failed} … (its own words are above).", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
