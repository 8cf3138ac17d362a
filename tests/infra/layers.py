"""The two layers as this machine can import them, and the ones that SAM built for AWS."""

import hashlib
import platform
import shutil
import subprocess
import sys
from importlib.metadata import distributions
from pathlib import Path

ROOT = Path(__file__).parents[2]
REQUIREMENTS = ROOT / "layers/dependencies/requirements.txt"
CODE = ROOT / "shared"
BUILD = ROOT / ".aws-sam/build"
HOST_LAYERS = ROOT / ".tools/layers"


def host_dependencies() -> Path:
    """The dependency layer for this machine and Python, built at most once per set of pins."""
    kind = f"{sys.version_info.major}.{sys.version_info.minor} {platform.machine()}".encode()
    digest = hashlib.sha256(REQUIREMENTS.read_bytes() + kind).hexdigest()[:16]
    layer = HOST_LAYERS / digest
    if not layer.exists():
        unfinished = HOST_LAYERS / f"{digest}.unfinished"
        shutil.rmtree(unfinished, ignore_errors=True)
        command = [sys.executable, "-m", "pip", "install", "-qq", "--require-hashes", "--no-deps"]
        subprocess.run([*command, "-r", REQUIREMENTS, "--target", unfinished], check=True)
        unfinished.rename(layer)
    return layer


def distributions_in(folder: Path) -> set[str]:
    """`name==version` of everything installed there."""
    return {f"{found.name.lower()}=={found.version}" for found in distributions(path=[str(folder)])}


def size_of(folder: Path) -> int:
    """Bytes of all files under the folder, as AWS counts an unzipped package."""
    return sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())


def import_in_fresh_process(program: str, *folders: Path) -> str:
    """Run a program that sees the standard library and these folders alone, with no environment.

    Returns:
        What it printed.

    """
    setup = "import sys; sys.path[:0] = sys.argv[1:]; sys.dont_write_bytecode = True\n"
    command = [sys.executable, "-I", "-S", "-c", setup + program, *folders]
    run = subprocess.run(command, env={}, capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stderr
    return run.stdout
