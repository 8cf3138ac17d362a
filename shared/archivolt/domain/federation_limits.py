"""Numeric limits of MCP servers of others (decision 27)."""

from typing import Final

# MCP servers of others. A call ends within a function's 29 seconds where one answers in one piece.
MAX_TOOL_NAME_CHARS: Final = 64
MAX_MCP_SERVERS: Final = 20
MAX_MCP_ID_CHARS: Final = 20
MAX_MCP_TITLE_CHARS: Final = 60
MAX_MCP_COMMAND_CHARS: Final = 500
MAX_MCP_ARGUMENTS: Final = 50
MAX_MCP_PARAMETERS: Final = 20
MAX_MCP_PARAMETER_CHARS: Final = 4_000
MAX_MCP_TOOLS: Final = 128
MAX_MCP_LIST_BYTES: Final = 128_000
MAX_MCP_DESCRIPTION_CHARS: Final = 2_000
# Of a preview of 8,000 with its token; a long argument gives way, never another one's name.
MAX_PREVIEWED_ARGUMENTS_CHARS: Final = 4_000
MIN_PREVIEWED_ARGUMENT_CHARS: Final = 100
MAX_MCP_ANSWER_BYTES: Final = 8_000_000
MAX_MCP_TEXT_CHARS: Final = 1_000_000
MAX_MCP_QUESTIONS: Final = 10
# A provider takes 128 tools at most, the product's own among them.
MAX_OUTSIDE_TOOLS: Final = 90
MAX_OUTSIDE_CALLS: Final = 32
MAX_MCP_LINKS: Final = 32
MAX_PROXIED_BYTES: Final = 20_000_000
MAX_PROXIED_SECONDS: Final = 60
MCP_CONNECT_SECONDS: Final = 20
MCP_CALL_SECONDS: Final = 30
MCP_IDLE_SECONDS: Final = 300
MCP_RECONNECTS: Final = 2
MCP_FIRST_PAUSE_SECONDS: Final = 0.25
