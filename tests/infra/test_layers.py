"""What is deployed can be imported, fits, and is the same on AWS's processor as here.

The tests of the build need `make build` to have run on today's pins; CI runs it first.
"""

import sys
from pathlib import Path

import pytest

from tests.infra.layers import (
    BUILD,
    CODE,
    REQUIREMENTS,
    ROOT,
    distributions_in,
    host_dependencies,
    import_in_fresh_process,
    size_of,
)

FUNCTIONS = sorted(path.parent for path in (ROOT / "functions").glob("*/app.py"))
# AWS's limit for a function with its layers, and what we leave for the web adapter's layer.
LIMIT = 262_144_000
WEB_ADAPTER = 20_000_000
# The flags of byte code that is valid whatever its source's date (PEP 552).
NEVER_CHECKED = (0b01).to_bytes(4, "little")


@pytest.fixture(scope="session")
def dependencies() -> Path:
    return host_dependencies()


@pytest.fixture(scope="session")
def built_dependencies() -> Path:
    layer = BUILD / "DependenciesLayer/python"
    built_from = layer / "requirements.txt"
    if not built_from.exists() or built_from.read_bytes() != REQUIREMENTS.read_bytes():
        pytest.skip("there is no build of today's pins: run `make build`")
    return layer


@pytest.mark.parametrize("function", FUNCTIONS, ids=lambda path: path.name)
def test_a_handler_is_imported_from_the_layers_without_an_environment(
    dependencies: Path, function: Path
) -> None:
    program = "import app; print(callable(getattr(app, 'handler', None) or app.app))"

    assert import_in_fresh_process(program, function, CODE, dependencies) == "True\n"


def test_the_layer_for_aws_holds_the_same_distributions(
    dependencies: Path, built_dependencies: Path
) -> None:
    if sys.version_info[:2] != (3, 13):
        pytest.skip("AWS runs Python 3.13, for which other versions are pinned")

    assert distributions_in(built_dependencies) == distributions_in(dependencies)


def test_the_layer_for_aws_holds_no_library_of_another_processor(built_dependencies: Path) -> None:
    libraries = [path.name for path in built_dependencies.rglob("*.so")]

    assert libraries
    assert [name for name in libraries if "x86_64" in name] == []


def test_a_function_with_its_layers_fits(built_dependencies: Path) -> None:
    functions = [path.parent for path in BUILD.glob("*/app.py")]
    largest = max(size_of(function) for function in functions)
    layers = size_of(built_dependencies) + size_of(BUILD / "CodeLayer")

    assert largest + layers + WEB_ADAPTER < LIMIT


def test_everything_built_is_compiled_once_and_for_all(built_dependencies: Path) -> None:
    code = BUILD / "CodeLayer"
    compiled = list(code.rglob("*.pyc"))

    assert compiled
    assert len(compiled) == len(list(code.rglob("*.py")))
    assert {path.read_bytes()[4:8] for path in compiled} == {NEVER_CHECKED}
    assert any(built_dependencies.rglob("fastapi/__pycache__/*.pyc"))
