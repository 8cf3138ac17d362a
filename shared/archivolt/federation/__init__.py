"""MCP servers of others: which a tenant uses, what they are called, how they are called."""
