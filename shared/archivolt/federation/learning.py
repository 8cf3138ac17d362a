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


def listed_by(server: McpServer, tools: Sequence[McpTool]) -> tuple[McpTool, ...]:
    """Return the tools of a list that a tenant wants of it.

    Raises:
        TooLargeError: `mcp_list_too_large`.

    """
    shown = exposed(tools, server.expose)
    size = len(json.dumps([asdict(tool) for tool in shown]))
    if len(shown) > MAX_MCP_TOOLS or size > MAX_MCP_LIST_BYTES:
        raise TooLargeError("mcp_list_too_large", server=server.id, tools=len(shown), size=size)
    return shown


def learnt(server: McpServer, tools: Sequence[McpTool], now: datetime) -> McpServer:
    """Return a server as it is known after it listed its tools.

    Raises:
        TooLargeError: `mcp_list_too_large`.

    """
    shown = listed_by(server, tools)
    agreed = server.tools if server.tools is not None else shown
    same = list_digest(agreed) == list_digest(shown)
    return replace(
        server,
        tools=agreed,
        offered=None if same else shown,
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
