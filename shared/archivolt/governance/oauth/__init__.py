"""The authorization server in front of MCP: who may connect, and what a person lets them do."""
