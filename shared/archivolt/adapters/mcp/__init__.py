"""MCP servers of others, spoken to with the official SDK, which is imported at the first call."""
