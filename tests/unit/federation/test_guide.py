"""The guide to MCP servers of others says what the code does."""

import json
import re
from pathlib import Path

from archivolt.domain.federation import PROXY_PLACE, McpStatus
from archivolt.domain.federation_limits import (
    MAX_MCP_ANSWER_BYTES,
    MAX_MCP_ID_CHARS,
    MAX_OUTSIDE_TOOLS,
    MCP_CALL_SECONDS,
    MCP_IDLE_SECONDS,
)
from archivolt.federation.catalogue import CATALOGUE
from archivolt.federation.changes import McpChange
from archivolt.settings import Settings

GUIDE = (Path(__file__).parents[3] / "docs" / "mcp-servers.md").read_text(encoding="utf-8")


def test_the_table_is_the_catalogue() -> None:
    table = GUIDE.partition("| Server |")[2].partition("\n\n")[0]
    rows = [[cell.strip() for cell in row.split("|")[1:-1]] for row in table.splitlines()[2:]]

    assert [row[0].split("`")[1] for row in rows] == list(CATALOGUE)
    for row, entry in zip(rows, CATALOGUE.values(), strict=True):
        hidden = ("--proxy-url", PROXY_PLACE)
        command = " ".join([entry.command, *(a for a in entry.arguments if a not in hidden)])
        assert (f"`{command}`" in row[2]) is bool(entry.command)
        assert (f"`{entry.url}`" in row[3]) is bool(entry.url)


def test_the_example_is_what_the_endpoint_takes() -> None:
    [example] = re.findall(r"^```json\n(.*?)^```$", GUIDE, re.MULTILINE | re.DOTALL)

    assert McpChange.model_validate(json.loads(example)).enabled


def test_what_is_named_is_there() -> None:
    assert all(f"`{status}`" in GUIDE for status in McpStatus)
    named = set(re.findall(r"`([A-Z]+_[A-Z_]+)(?:=\w+)?`", GUIDE))
    assert {name.lower() for name in named} <= set(Settings.model_fields)
    for said in (
        f"1 to {MAX_MCP_ID_CHARS} small letters",
        f"at most {MAX_OUTSIDE_TOOLS} over all",
        f"A call has {MCP_CALL_SECONDS} seconds",
        f"{MAX_MCP_ANSWER_BYTES // 1_000_000} MB at most",
    ):
        assert said in " ".join(GUIDE.split())
    assert MCP_IDLE_SECONDS == 5 * 60
