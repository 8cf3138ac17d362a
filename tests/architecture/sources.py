"""The repository's own files, for tests that read them instead of running them."""

import ast
import subprocess
from functools import cache
from pathlib import Path

ROOT = Path(__file__).parents[2]
CODE_FOLDERS = ("shared", "infra", "functions", "scripts", "bench")


@cache
def code_files() -> tuple[Path, ...]:
    """Every Python module of the product and its tools, tests excepted."""
    return tuple(
        sorted(
            path
            for folder in CODE_FOLDERS
            for path in (ROOT / folder).rglob("*.py")
            if "__pycache__" not in path.parts
        )
    )


@cache
def function_files() -> tuple[Path, ...]:
    """The module of each deployed function."""
    return tuple(sorted((ROOT / "functions").glob("*/app.py")))


@cache
def repository_files() -> tuple[Path, ...]:
    """Every file that is committed, or would be by `git add --all`."""
    command = ["git", "ls-files", "--cached", "--others", "--exclude-standard", "-z"]
    listed = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    paths = (ROOT / name for name in listed.stdout.split("\0") if name)
    return tuple(sorted(path for path in paths if path.is_file()))


@cache
def tree(path: Path) -> ast.Module:
    """The module's syntax tree."""
    return ast.parse(path.read_text(encoding="utf-8"), filename=str(path))


def name_of(path: Path) -> str:
    """A file's name as people write it: relative to the repository."""
    return str(path.relative_to(ROOT))
