"""The scripts that set a machine up: which Python they take, and when they have nothing to do."""

import subprocess
import sys
from pathlib import Path

import pytest

from scripts import install
from scripts.install import STAMP, Environment

FIND_PYTHON = install.ROOT / "scripts/find_python"
SYSTEM_PATH = "/usr/bin:/bin"
THIS = f"{sys.version_info.major}.{sys.version_info.minor}"


def find_python(
    folder: Path, *versions: str, python: str | None = None
) -> subprocess.CompletedProcess[str]:
    """Run the script with the folder first on PATH and an empty home."""
    environment = {"PATH": f"{folder}:{SYSTEM_PATH}", "HOME": str(folder)}
    if python is not None:
        environment["PYTHON"] = python
    return subprocess.run(
        [FIND_PYTHON, *versions], env=environment, capture_output=True, text=True, check=False
    )


def executable(path: Path, script: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"#!/bin/sh\n{script}\n", encoding="utf-8")
    path.chmod(0o755)


def test_a_shim_that_runs_nothing_is_passed_over(tmp_path: Path) -> None:
    executable(tmp_path / f"python{THIS}", 'echo "command not found" >&2; exit 127')
    kept_by_pyenv = tmp_path / f".pyenv/versions/{THIS}.0/bin/python{THIS}"
    executable(kept_by_pyenv, f'exec "{sys.executable}" "$@"')

    found = find_python(tmp_path, THIS)

    assert found.returncode == 0, found.stderr
    assert install.python_version(Path(found.stdout.strip())) == THIS


def test_no_python_is_one_clear_sentence(tmp_path: Path) -> None:
    found = find_python(tmp_path, "3.99")

    assert found.returncode == 1
    assert found.stdout == ""
    assert found.stderr.startswith("No working Python 3.99 was found: install one")
    assert len(found.stderr.splitlines()) == 1


def test_a_chosen_python_is_never_silently_replaced(tmp_path: Path) -> None:
    executable(tmp_path / "python-of-mine", "exit 1")

    found = find_python(tmp_path, python="python-of-mine")

    assert found.returncode == 1
    assert "PYTHON=python-of-mine does not run" in found.stderr


def test_a_chosen_python_is_taken(tmp_path: Path) -> None:
    found = find_python(tmp_path, python=sys.executable)

    assert found.stdout.strip() == sys.executable


def test_make_run_hands_names_with_spaces_on_as_they_were_written(tmp_path: Path) -> None:
    for name in ("find_python", "fetch_dynamodb_local"):
        executable(tmp_path / "scripts" / name, f"echo {sys.executable}")
    (tmp_path / "scripts/install.py").touch()
    executable(
        tmp_path / ".venv/bin/archivolt", 'echo "$@"; echo "$PORT"; echo "$DATA"; echo "$VAULTS"'
    )
    vaults = 'Notes=~/notes "Team docs=/srv/team docs"'

    made = subprocess.run(
        ["make", "--file", install.ROOT / "Makefile", "run", f"VAULTS={vaults}", "PORT=9000"],
        cwd=tmp_path,
        env={"PATH": SYSTEM_PATH, "DATA": "/srv/data"},
        capture_output=True,
        text=True,
        check=True,
    )

    assert made.stdout.splitlines()[-4:] == ["up", "9000", "/srv/data", vaults]


@pytest.fixture
def environment(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Environment:
    monkeypatch.setattr(install, "ROOT", tmp_path)
    (tmp_path / "small.txt").write_text("a==1")
    (tmp_path / "large.txt").write_text("a==1\nb==2")
    return Environment(tmp_path / "venv", "small.txt", also_satisfied_by=("large.txt",))


def stamp_as_made_from(environment: Environment, requirements: str) -> None:
    environment.folder.mkdir(exist_ok=True)
    install.stamp(environment, requirements)


def test_nothing_is_done_while_the_pins_stand(environment: Environment) -> None:
    assert not install.is_current(environment)

    stamp_as_made_from(environment, "small.txt")

    assert install.is_current(environment)


def test_an_environment_with_more_is_enough(environment: Environment) -> None:
    stamp_as_made_from(environment, "large.txt")

    assert install.is_current(environment)


def test_other_pins_are_installed(environment: Environment) -> None:
    stamp_as_made_from(environment, "small.txt")

    (install.ROOT / "small.txt").write_text("a==2")

    assert not install.is_current(environment)


def test_an_unreadable_stamp_is_no_stamp(environment: Environment) -> None:
    stamp_as_made_from(environment, "small.txt")

    (environment.folder / STAMP).write_text("{")

    assert not install.is_current(environment)


def test_a_python_that_does_not_run_has_no_version(tmp_path: Path) -> None:
    executable(tmp_path / "python", "exit 127")

    assert install.python_version(tmp_path / "python") is None
    assert install.python_version(tmp_path / "absent") is None
    assert install.python_version(Path(sys.executable)) == THIS
