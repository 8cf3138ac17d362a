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
# Between two requests of ours: progress, logs, requests of theirs.
MAX_MCP_MESSAGES: Final = 5_000
# Tools of a list in one piece, blocks of a result.
MAX_MCP_PARTS: Final = 10_000
# Of JSON, in a message of a program or between two requests of ours: each costs 400 bytes.
MAX_MCP_VALUES: Final = 200_000
# How often a stream that broke off is taken up again meanwhile.
MAX_MCP_RESUMED: Final = 100
MAX_MCP_TEXT_CHARS: Final = 1_000_000
MAX_MCP_QUESTIONS: Final = 10
# Of all of a call, with the server's own mark: they are kept until somebody answers.
MAX_MCP_QUESTION_CHARS: Final = 50_000
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
# Signing in to them (OAuth). A document of theirs, a token, an address within it, a scope.
MAX_OAUTH_ANSWER_BYTES: Final = 64_000
OAUTH_SECONDS: Final = 8
OAUTH_CONNECT_SECONDS: Final = 5
# What a person waits for at once: a function's 29 seconds, less six for a connection to end.
MCP_WAIT_SECONDS: Final = 20
# With less than that left of a call no token is renewed any more: who is cut off meanwhile may
# have lost the old one. And nothing is begun anew for a moment.
MCP_RENEW_LEAST_SECONDS: Final = 8
MCP_LEAST_SECONDS: Final = 2
# With less than that left, half a call's, that a server took too long says nothing of it.
MCP_FAIR_SECONDS: Final = 15
MAX_OAUTH_TOKEN_CHARS: Final = 16_000
MAX_OAUTH_SCOPE_CHARS: Final = 2_000
MAX_CHALLENGE_CHARS: Final = 8_000
MAX_OAUTH_TOKEN_SECONDS: Final = 366 * 24 * 3_600
MAX_CLIENT_ID_CHARS: Final = 2_000
MCP_SIGN_IN_SECONDS: Final = 600
# A token is renewed while it is still good: a call may take half a minute. Some last for a minute.
MCP_RENEW_AHEAD_SECONDS: Final = 30
# Who renews one has so long; whoever waits for them looks again so often, and so many times.
MCP_RENEW_SECONDS: Final = 20
MCP_RENEW_LOOKS: Final = 30
MCP_RENEW_PAUSE_SECONDS: Final = 0.2
# A client that we registered, before anybody was let in as it, and after (some servers forget).
MCP_NEW_CLIENT_SECONDS: Final = 3_600
MCP_CLIENT_SECONDS: Final = 30 * 24 * 3_600
