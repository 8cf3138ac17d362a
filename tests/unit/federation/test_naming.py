"""Names of others' tools: valid with every provider, unique, the same wherever they are made."""

import re

from hypothesis import given
from hypothesis import strategies as st

from archivolt.domain.federation_limits import (
    MAX_MCP_ID_CHARS,
)
from archivolt.federation.naming import offered_name
from archivolt.tools.catalogue import native_tools

VALID = re.compile(r"[A-Za-z_][A-Za-z0-9_-]{0,63}")
IDS = st.from_regex(rf"[a-z0-9]{{1,{MAX_MCP_ID_CHARS}}}", fullmatch=True)


@given(IDS, st.text(max_size=140))
def test_every_name_is_one_that_every_provider_takes(server: str, tool: str) -> None:
    assert VALID.fullmatch(offered_name(server, tool))
    assert offered_name(server, tool) == offered_name(server, tool)


def test_a_name_that_fits_is_kept_as_it_is() -> None:
    assert offered_name("fetch", "fetch") == "mcp_fetch_fetch"
    assert offered_name("a-b", "read_file") == "mcp_a-b_read_file"


def test_names_that_would_meet_stay_apart() -> None:
    long = "a" * 80
    tools = ["search.code", "search_code", "search/code", "é", "è", "", long, long + "b"]

    names = [offered_name(server, tool) for server in ("ours", "theirs") for tool in tools]

    assert len(set(names)) == len(names)
    assert not {tool.name for tool in native_tools()} & set(names)
