"""The remote MCP endpoint."""
