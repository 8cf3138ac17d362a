"""Rules about the source itself that no linter states."""

import ast
import os
import re
import subprocess
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.architecture.sources import (
    ROOT,
    code_files,
    function_files,
    name_of,
    repository_files,
    tree,
)

MAX_MODULE_LINES = 300
MAX_FUNCTION_LINES = 40
MAX_WIRING_LINES = 25
# Names that say nothing about what is inside.
EMPTY_NAMES = {"util", "utils", "helper", "helpers", "common", "misc", "manager", "managers"}

Function = ast.FunctionDef | ast.AsyncFunctionDef

# What makes stacks besides the one that tests share. Two of test_starting never get one started.
STARTERS = {"test_starting.py": 5, "test_real_notes.py": 1, "test_runs.py": 1}

# Written with classes of one character, so that this file does not break its own rule.
FORBIDDEN_TEXT = {
    "a package registry's host": re.compile(
        r"pypi[.]org|pythonhosted[.]org|npmjs[.](org|com)|yarnpkg[.]com|proxy[.]golang[.]org"
        r"|crates[.]io|deb[.]debian[.]org|repo1?[.]maven"
    ),
    "a path of one machine": re.compile(r"(?<![\w./:~-])/(root|work|home/\w+|Users/\w+)/"),
    "a private key": re.compile(r"-----BEGIN [A-Z ]*PRIVATE KEY-----"),
    "an access key": re.compile(r"\b(AKIA|ASIA)[0-9A-Z]{16}\b"),
}


def functions_in(module: ast.Module) -> Iterator[Function]:
    return (node for node in ast.walk(module) if isinstance(node, Function))


def length_without_docstring(function: Function) -> int:
    """Lines from `def` to the end: a full docstring is wanted, so it costs nothing."""
    assert function.end_lineno is not None
    lines = function.end_lineno - function.lineno + 1
    if ast.get_docstring(function, clean=False) is not None:
        docstring = function.body[0]
        assert docstring.end_lineno is not None
        lines -= docstring.end_lineno - docstring.lineno + 1
    return lines


def words(name: str) -> set[str]:
    """The words of a snake_case or CamelCase name, in small letters."""
    return {word.lower() for word in re.findall(r"[A-Z]?[a-z0-9]+|[A-Z]+(?![a-z])", name)}


def imported_modules(path: Path) -> set[str]:
    modules: set[str] = set()
    for node in ast.walk(tree(path)):
        if isinstance(node, ast.ImportFrom):
            modules.add(node.module or "")
        elif isinstance(node, ast.Import):
            modules.update(alias.name for alias in node.names)
    return modules


# One test for all modules: there are a thousand, and a test of each costs more than its look.
def test_every_module_says_what_it_is_for_and_fits_on_a_few_screens() -> None:
    sources = {path: path.read_text(encoding="utf-8") for path in code_files()}
    lengths = {name_of(path): len(source.splitlines()) for path, source in sources.items()}
    silent = [
        name_of(path)
        for path, source in sources.items()
        if source.strip() and not ast.get_docstring(tree(path))
    ]

    assert len(sources) > 600
    assert {name: n for name, n in lengths.items() if n > MAX_MODULE_LINES} == {}
    assert silent == []


def test_functions_are_short() -> None:
    lengths = {
        f"{name_of(path)}: {function.name}": length_without_docstring(function)
        for path in code_files()
        for function in functions_in(tree(path))
    }

    assert {name: n for name, n in lengths.items() if n > MAX_FUNCTION_LINES} == {}


def test_names_say_something() -> None:
    names = [
        (name_of(path), name)
        for path in code_files()
        for name in (
            *path.relative_to(ROOT).with_suffix("").parts,
            *(node.name for node in ast.walk(tree(path)) if isinstance(node, ast.ClassDef)),
        )
    ]

    assert [(path, name) for path, name in names if words(name) & EMPTY_NAMES] == []


def test_a_name_is_taken_apart_into_its_words() -> None:
    assert words("SessionManager") & EMPTY_NAMES
    assert words("http_utils") & EMPTY_NAMES
    assert words("HTTPHelpers") & EMPTY_NAMES
    assert not words("CommonmarkSplitter") & EMPTY_NAMES


@pytest.mark.parametrize("path", function_files(), ids=lambda path: path.parent.name)
def test_a_function_folder_is_only_wiring(path: Path) -> None:
    imported = imported_modules(path)
    entry_points = {name for name in imported if name.startswith("archivolt.entrypoints.")}

    assert len(path.read_text(encoding="utf-8").splitlines()) <= MAX_WIRING_LINES
    assert imported - entry_points == {"archivolt.bootstrap"}
    assert len(entry_points) == 1
    assert [file.name for file in path.parent.glob("*.py")] == ["app.py"]


def test_a_script_can_be_run() -> None:
    scripts = [path for path in repository_files() if path.read_bytes().startswith(b"#!")]

    assert scripts
    assert [name_of(path) for path in scripts if not os.access(path, os.X_OK)] == []


def test_no_file_holds_what_must_not_be_published() -> None:
    found: list[str] = []
    for path in repository_files():
        text = path.read_bytes().decode("utf-8", errors="replace")
        found += [
            f"{name_of(path)} holds {what}: {match.group()}"
            for what, pattern in FORBIDDEN_TEXT.items()
            if (match := pattern.search(text))
        ]

    assert found == []


@pytest.mark.parametrize(
    ("what", "text"),
    [
        ("a package registry's host", "https://files." + "pythonhosted" + ".org/packages/a.whl"),
        ("a path of one machine", 'open("' + "/home" + '/ann/notes.md")'),
        ("a private key", "-----BEGIN RSA " + "PRIVATE KEY-----"),
        ("an access key", "AKIA" + "A" * 16),
    ],
)
def test_what_must_not_be_published_is_recognised(what: str, text: str) -> None:
    assert FORBIDDEN_TEXT[what].search(text)


def test_ci_names_every_folder_of_tests() -> None:
    folders = {path.parent.name for path in (ROOT / "tests").glob("*/test_*.py")}
    folders |= {path.parents[1].name for path in (ROOT / "tests").glob("*/*/test_*.py")}
    script = (ROOT / ".ci/run").read_text(encoding="utf-8")
    assert {name for name in folders if f"tests/{name}" not in script} == set()


def test_ci_runs_every_test_of_a_part_once() -> None:
    script = (ROOT / ".ci/run").read_text(encoding="utf-8")
    lists = script[script.index("\napart=(") : script.index("\nwork_off()")]
    each = 'for part in "${parts[@]}"; do echo $part; done'
    said = subprocess.run(
        ["bash", "-euc", f"{lists}\n{each}"], cwd=ROOT, capture_output=True, text=True, check=True
    )
    run = Counter(name for part in said.stdout.splitlines() for name in modules_of(part.split()))

    parts = [
        name_of(path)
        for folder in ("unit", "contract", "entrypoints")
        for path in (ROOT / "tests" / folder).rglob("test_*.py")
    ]
    assert run == Counter(parts)


def modules_of(arguments: list[str]) -> Iterator[str]:
    """Yield the modules that pytest runs with some arguments."""
    ignored = [word.removeprefix("--ignore=") for word in arguments if word.startswith("--")]
    for place in (ROOT / word for word in arguments if not word.startswith("--")):
        for path in [place] if place.is_file() else place.rglob("test_*.py"):
            if not any(path.is_relative_to(ROOT / folder) for folder in ignored):
                yield name_of(path)


def test_few_tests_start_a_stack_of_their_own() -> None:
    """A start costs twenty seconds of a core: tests share one stack, but for those about starts."""
    starters = Counter(
        path.name
        for path in (ROOT / "tests/e2e").glob("test_*.py")
        for node in ast.walk(tree(path))
        if isinstance(node, ast.Call)
        and isinstance(node.func, ast.Name)
        and node.func.id in {"new_stack", "running", "Stack"}
    )

    assert starters == STARTERS
