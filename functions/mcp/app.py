"""The MCP function: `POST /mcp` and the metadata that leads to a token."""

from archivolt.bootstrap import container
from archivolt.entrypoints.mcp.app import create_handler

handler = create_handler(lambda: container().mcp_services)
