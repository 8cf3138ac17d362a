"""The version that clients are told is the one that is released."""

import tomllib

import archivolt
from tests.architecture.sources import ROOT


def test_the_package_and_the_project_have_one_version() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]

    assert archivolt.__version__ == project["version"]
