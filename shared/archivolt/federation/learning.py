"""What is learnt of a server when it is asked: its tools, or why it does not answer.

A list is agreed to once. From then on another one is kept beside it and none is offered, until an
administrator agrees: a server may not become another one behind the people who use it.
"""

import json
from collections.abc import Sequence
from dataclasses import asdict, replace
from datetime import datetime

from archivolt.domain.errors import ArchivoltError, TooLargeError
from archivolt.domain.federation import McpServer, McpTool, exposed, list_digest
from archivolt.domain.federation_limits import (
    MAX_MCP_LIST_BYTES,
    MAX_MCP_TOOLS,
)


def _fits(tools: Sequence[McpTool]) -> bool:
    return len(tools) <= MAX_MCP_TOOLS and _size(tools) <= MAX_MCP_LIST_BYTES


def _size(tools: Sequence[McpTool]) -> int:
    return len(json.dumps([asdict(tool) for tool in tools]))


def learnt(server: McpServer, tools: Sequence[McpTool], now: datetime) -> McpServer:
    """Return a server as it is known after it listed its tools.

    All that it lists is agreed to at first, so that what is exposed later is what was listed then;
    compared is what is exposed. Of a list that is too large that alone is kept.

    Raises:
        TooLargeError: `mcp_list_too_large`: even what is exposed of it.

    """
    listed, wanted = exposed(tools, ()), exposed(tools, server.expose)
    if not _fits(wanted):
        size = _size(wanted)
        raise TooLargeError("mcp_list_too_large", server=server.id, tools=len(wanted), size=size)
    if server.tools is None:
        server = replace(server, tools=listed if _fits(listed) else wanted)
    same = list_digest(server.wanted) == list_digest(wanted)
    return replace(
        server,
        offered=None if same else wanted,
        problem="",
        problem_details={},
        checked_at=now,
    )


def failed(server: McpServer, error: ArchivoltError, now: datetime) -> McpServer:
    """Return a server as it is known after it did not answer."""
    details = {
        name: value if isinstance(value, int) else str(value)
        for name, value in error.details.items()
    }
    return replace(server, problem=error.code, problem_details=details, checked_at=now)
