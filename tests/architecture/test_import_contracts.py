"""Each import contract is broken once, in a copy, to see that it would be noticed."""

import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from tests.architecture.sources import ROOT

PYPROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
CONTRACTS = [contract["name"] for contract in PYPROJECT["tool"]["importlinter"]["contracts"]]
PACKAGES = ("shared/archivolt", "infra/local/archivolt_local")

# Contract, a module that breaks it, what the module holds.
VIOLATIONS = [
    ("Dependencies point inwards", "archivolt/domain/stray.py", "import archivolt.ports"),
    ("Dependencies point inwards", "archivolt/stray/__init__.py", '"""A room of its own."""'),
    ("Adapters know ports and domain only", "archivolt/adapters/stray.py", "import archivolt.chat"),
    (
        "Only the composition root reads settings",
        "archivolt/chat/stray.py",
        "import archivolt.settings",
    ),
    ("Capabilities know no technology", "archivolt/vaults/stray.py", "import boto3"),
    (
        "MCP stays in its entry point and in its adapter",
        "archivolt/entrypoints/http/stray.py",
        "import mcp",
    ),
    ("Entry points do not talk to AWS", "archivolt/entrypoints/events/stray.py", "import botocore"),
    (
        "The product does not know the stack on one machine",
        "archivolt/adapters/stray.py",
        "import archivolt_local",
    ),
]


@pytest.fixture
def copy(tmp_path: Path) -> Path:
    # What others compile at this moment comes and goes.
    compiled = shutil.ignore_patterns("__pycache__")
    for package in PACKAGES:
        shutil.copytree(ROOT / package, tmp_path / Path(package).name, ignore=compiled)
    shutil.copy(ROOT / "pyproject.toml", tmp_path)
    return tmp_path


def broken_contracts(copy: Path) -> tuple[int, str]:
    """Exit code and report of import-linter on the copy, which hides the installed packages."""
    command = [Path(sys.executable).with_name("lint-imports"), "--no-cache", "--no-logo"]
    environment = {"PYTHONPATH": str(copy), "COLUMNS": "200", "NO_COLOR": "1"}
    run = subprocess.run(
        command, cwd=copy, env=environment, capture_output=True, text=True, check=False
    )
    return run.returncode, run.stdout + run.stderr


@pytest.mark.parametrize(("contract", "module", "source"), VIOLATIONS)
def test_a_violation_breaks_the_contract(
    copy: Path, contract: str, module: str, source: str
) -> None:
    path = copy / module
    path.parent.mkdir(exist_ok=True)
    path.write_text(source + "\n", encoding="utf-8")

    code, report = broken_contracts(copy)

    assert code == 1, report
    assert f"{contract} BROKEN" in report


def test_the_copy_itself_breaks_nothing(copy: Path) -> None:
    code, report = broken_contracts(copy)

    assert code == 0, report


def test_every_contract_is_broken_once() -> None:
    assert {contract for contract, _, _ in VIOLATIONS} == set(CONTRACTS)
