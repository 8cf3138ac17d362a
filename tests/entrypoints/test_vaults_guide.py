"""The vaults guide says what the code does; its commands are run by the end-to-end tests."""

import re

import pytest

from archivolt.domain import limits
from archivolt.domain.messages import MESSAGES
from archivolt.domain.tool import Surface
from archivolt.domain.vault import VaultRole
from archivolt.entrypoints.http.tools_app import create_tools_app
from archivolt.tools.catalogue import native_tools
from tests.guide import VAULTS_GUIDE, examples

GUIDE = VAULTS_GUIDE.read_text(encoding="utf-8")
TOOLS = {spec.name for spec in native_tools().specs(Surface.IN_APP)}
SEARCHES = GUIDE.partition("| To find |")[2].partition("\n\n")[0]


def routes() -> set[tuple[str, str]]:
    """Return method and path of every route, vaults and tools as `*`."""
    paths = create_tools_app(lambda: pytest.fail("no service is needed")).openapi()["paths"]
    return {
        (method.upper(), re.sub(r"\{\w+\}", "*", path.removeprefix("/api/v1/")))
        for path, methods in paths.items()
        for method in methods
    }


def commands() -> set[tuple[str, str]]:
    """Return method and path of every call of the examples, in the form of `routes`."""
    text = "\n".join(example.text for example in examples(VAULTS_GUIDE, "sh"))
    called = re.findall(r"call ([A-Z]+) ['\"]?([^\s?'\"]+)", text)
    named = [(method, path.replace("Garden", "*")) for method, path in called]
    return {
        (method, re.sub(r"(?<=tools/)\w+|(?<=members/)\w+", "*", path)) for method, path in named
    }


def test_every_command_is_a_route() -> None:
    assert len(commands()) > 15
    assert commands() <= routes()


def test_the_addresses_and_tools_for_finding_are_those_that_exist() -> None:
    addresses = re.findall(r"`GET ([^`]+)`", SEARCHES)
    tools = set(re.findall(r"\| `(\w+)` \|", SEARCHES))

    assert {("GET", re.sub(r"\{\w+\}", "*", path)) for path in addresses} <= routes()
    assert tools <= TOOLS
    assert len(tools) == SEARCHES.count("\n| ")


def test_the_codes_are_those_that_are_given() -> None:
    answers = GUIDE.partition("| Answer to apply |")[2].partition("\n\n")[0]
    codes = set(re.findall(r"^\| `(\w+)` \|", answers, re.MULTILINE))
    codes |= set(re.findall(r"\(`([a-z]+_[a-z_]+)`\)", GUIDE)) - {"case_sensitive", "compare_with"}

    assert {"file_exists", "operation_unfinished"} <= codes
    assert codes <= MESSAGES.keys()


def test_the_roles_and_numbers_are_those_in_force() -> None:
    roles = GUIDE.partition("| Role |")[2].partition("\n\n")[0]

    assert re.findall(r"\| `(\w+)` \|", roles) == list(VaultRole)
    assert f"at most {limits.MAX_INLINE_CONTENT_BYTES:,} bytes" in GUIDE
    assert f"Up to {limits.MAX_REPLACED_FILES:,} files" in GUIDE
    assert f"some {limits.MAX_MANY_FILES_SECONDS} seconds" in GUIDE
    assert limits.CONFIRMATION_SECONDS == 600
    assert "ten minutes are over" in GUIDE
