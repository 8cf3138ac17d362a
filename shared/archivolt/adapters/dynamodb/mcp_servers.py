"""The MCP servers that tenants configured, in the control table.

MCP#{tenant}    SERVER#{id}    a server, with the tools it listed
"""

import json
from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

from boto3.dynamodb.conditions import Attr

from archivolt.adapters.dynamodb.moments import from_number, to_number
from archivolt.adapters.dynamodb.table import (
    ConditionFailedError,
    DynamoTable,
    StoredItem,
    is_key_text,
)
from archivolt.adapters.dynamodb.values import Value
from archivolt.adapters.dynamodb.writes import PRESENT, Delete, Key, Put, Update
from archivolt.domain.federation import McpClientSettings, McpServer, McpTool, McpTransport
from archivolt.domain.identity import TenantId
from archivolt.domain.packing import packed, unpacked


class DynamoMcpServers:
    """An `McpServerStore` in the control table."""

    def __init__(self, table: DynamoTable) -> None:
        self._table = table

    def of_tenant(self, tenant: TenantId) -> list[McpServer]:
        """Return a tenant's servers by their ids."""
        return [_server(item) for item in self._table.items(_key(tenant, "").pk)]

    def save(self, tenant: TenantId, server: McpServer) -> None:
        """Keep a server."""
        item: dict[str, Value] = {
            **_key(tenant, server.id)._asdict(),
            "id": server.id,
            "title": server.title,
            "enabled": server.enabled,
            "transport": server.transport.value,
            "command": server.command,
            "arguments": list(server.arguments),
            "url": server.url,
            "plain": dict(server.plain),
            "sealed": dict(server.sealed),
            "fingerprints": dict(server.fingerprints),
            "oauth": asdict(server.oauth),
            "expose": list(server.expose),
            "link": server.link,
            **_learnt(server),
        }
        self._table.write(Put(item=item))

    def note(self, tenant: TenantId, server: McpServer) -> bool:
        """Keep what was learnt of a server, if it is still the same and turned on."""
        same = (
            Attr("link").eq(server.link)
            & Attr("expose").eq(list(server.expose))
            & Attr("enabled").eq(True)
        )
        key = _key(tenant, server.id)
        try:
            self._table.update(Update(key=key, set=_learnt(server), condition=same))
        except ConditionFailedError:
            return False
        return True

    def delete(self, tenant: TenantId, server_id: str) -> bool:
        """Remove a server."""
        if not is_key_text(server_id):
            return False
        try:
            self._table.write(Delete(key=_key(tenant, server_id), condition=PRESENT))
        except ConditionFailedError:
            return False
        return True


def _key(tenant: TenantId, server_id: str) -> Key:
    return Key(f"MCP#{tenant}", f"SERVER#{server_id}")


def _learnt(server: McpServer) -> dict[str, Value]:
    return {
        "tools": _written(server.tools),
        "offered": _written(server.offered),
        "problem": server.problem,
        "problem_details": dict(server.problem_details),
        "checked_at": to_number(server.checked_at) if server.checked_at else None,
    }


def _written(tools: Sequence[McpTool] | None) -> str | None:
    return None if tools is None else packed(json.dumps([asdict(tool) for tool in tools]))


def _read(text: str | None) -> tuple[McpTool, ...] | None:
    if text is None:
        return None
    listed: list[dict[str, Any]] = json.loads(unpacked(text))
    return tuple(McpTool(**tool) for tool in listed)


def _server(item: StoredItem) -> McpServer:
    checked_at = item["checked_at"]
    return McpServer(
        id=item["id"],
        title=item["title"],
        enabled=item["enabled"],
        transport=McpTransport(item["transport"]),
        command=item["command"],
        arguments=tuple(item["arguments"]),
        url=item["url"],
        plain=item["plain"],
        sealed=item["sealed"],
        fingerprints=item["fingerprints"],
        oauth=McpClientSettings(**item.get("oauth", {})),
        expose=tuple(item["expose"]),
        tools=_read(item["tools"]),
        offered=_read(item["offered"]),
        problem=item["problem"],
        problem_details=item["problem_details"],
        checked_at=None if checked_at is None else from_number(int(checked_at)),
    )
