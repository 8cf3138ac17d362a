"""Every dependency is pinned, with hashes, to one version wherever it is used."""

import json
import re
import tomllib
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from tests.architecture.sources import ROOT, name_of

LAYER = ROOT / "layers/dependencies/requirements.txt"
LOCAL = ROOT / "requirements/local.txt"
DEV = ROOT / "requirements/dev.txt"
TOOLS = [
    ROOT / f"requirements/{name}.txt"
    for name in ("ministack", "sam", "uv", "fastmcp", "mcp-servers", "search-peers")
]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
EXTRAS: dict[str, list[str]] = PROJECT["optional-dependencies"]


def entries(path: Path) -> list[str]:
    """The file's requirements, each on one line with its hashes."""
    text = re.sub(r"^#.*\n", "", path.read_text(encoding="utf-8"), flags=re.MULTILINE)
    return [line for line in text.replace("\\\n", " ").splitlines() if line.strip()]


def pins(path: Path) -> dict[str, list[Requirement]]:
    """The pinned requirements by name; one name can have a version for each Python."""
    found: dict[str, list[Requirement]] = {}
    for entry in entries(path):
        requirement = Requirement(entry.split("--hash=")[0])
        found.setdefault(canonicalize_name(requirement.name), []).append(requirement)
    return found


def named(requirements: list[str]) -> list[Requirement]:
    return [Requirement(text) for text in requirements]


@pytest.mark.parametrize("path", [LAYER, LOCAL, DEV, *TOOLS], ids=name_of)
def test_every_pin_is_exact_and_has_a_hash(path: Path) -> None:
    loose = [
        entry
        for entry in entries(path)
        if not re.match(r"[a-z0-9-]+==\S+ (; .+ )? *--hash=sha256:[0-9a-f]{64}\b", entry)
    ]

    assert entries(path)
    assert loose == []


@pytest.mark.parametrize(
    ("path", "wanted"),
    [
        (LAYER, PROJECT["dependencies"]),
        (LOCAL, PROJECT["dependencies"] + EXTRAS["local"]),
        (DEV, PROJECT["dependencies"] + [text for extra in EXTRAS.values() for text in extra]),
        *((tool, tool.with_suffix(".in").read_text().splitlines()) for tool in TOOLS),
    ],
    ids=["layer", "local", "dev", *(tool.stem for tool in TOOLS)],
)
def test_every_dependency_is_pinned_to_a_version_it_allows(path: Path, wanted: list[str]) -> None:
    pinned = pins(path)
    for requirement in named(wanted):
        versions = [
            specifier.version
            for pin in pinned.get(canonicalize_name(requirement.name), [])
            for specifier in pin.specifier
        ]

        assert versions, f"{requirement.name} is not pinned: run `make lock`"
        assert all(requirement.specifier.contains(version) for version in versions)


@pytest.mark.parametrize("path", [LAYER, LOCAL], ids=name_of)
def test_what_is_deployed_is_what_is_tested(path: Path) -> None:
    tested = {str(pin) for group in pins(DEV).values() for pin in group}

    assert {str(pin) for group in pins(path).values() for pin in group} <= tested


def test_the_layer_holds_nothing_of_the_stack_on_one_machine() -> None:
    local_only = {canonicalize_name(requirement.name) for requirement in named(EXTRAS["local"])}

    assert not local_only & pins(LAYER).keys()


def test_every_node_package_has_a_hash_and_no_address() -> None:
    lock = json.loads((ROOT / "package-lock.json").read_text(encoding="utf-8"))
    packages = {name: entry for name, entry in lock["packages"].items() if name}

    assert packages
    assert [name for name, entry in packages.items() if "integrity" not in entry] == []
    assert [name for name, entry in packages.items() if "resolved" in entry] == []


def test_every_node_client_is_named_by_its_exact_version() -> None:
    wanted = json.loads((ROOT / "package.json").read_text(encoding="utf-8"))["devDependencies"]

    exact = re.compile(r"\d+\.\d+\.\d+(-[a-z]+\.\d+)?")
    assert all(exact.fullmatch(version) for version in wanted.values())
