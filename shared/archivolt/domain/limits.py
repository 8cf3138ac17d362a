"""Every numeric limit, named, in one place (decision 27).

Sizes are in bytes unless a name says chars.
"""

from typing import Final

# Names and paths. An S3 key has at most 1,024 bytes of UTF-8; the prefix
# `vaults/{tenant}/{vault_id}/` takes at most 124 of them.
MAX_PATH_BYTES: Final = 900
MAX_NAME_BYTES: Final = 255
MAX_VAULT_NAME_CHARS: Final = 64

# Requests.
MAX_REQUEST_BYTES: Final = 6_000_000
MAX_INLINE_CONTENT_BYTES: Final = 5_000_000
# A Lambda function answers with at most 6 MB, and bytes travel as base64.
MAX_RAW_RESPONSE_BYTES: Final = 4_000_000
# A person's program takes more than a model does: as much as 6 MB hold when every character takes
# four bytes.
MAX_REST_RESULT_CHARS: Final = 1_400_000
# What one request may send to the store (S3 takes 5 GiB), and for how long it may begin to.
MAX_UPLOAD_BYTES: Final = 5_000_000_000
UPLOAD_SECONDS: Final = 900

# Reading (O12, O19, L13).
MAX_READ_BYTES: Final = 200_000
MAX_RESOURCE_BYTES: Final = 1_000_000
MAX_TOOL_RESULT_CHARS: Final = 8_000
MAX_TOOL_CALLS: Final = 40
MAX_ROUND_CALLS: Final = 40
MAX_CONTEXT_FILES: Final = 200
MAX_CONTEXT_TOTAL_CHARS: Final = 200_000
MAX_CONTEXT_FILE_CHARS: Final = 30_000

# Listing.
DEFAULT_LIST_LIMIT: Final = 200
MAX_LIST_LIMIT: Final = 1_000
RESOURCES_PAGE: Final = 100

# The agent loop (decisions 22 and 27).
MAX_LOOP_STEPS: Final = 12
MAX_REPEATED_CALLS: Final = 3
MAX_UNUSABLE_CALLS: Final = 3
MAX_FRUITLESS_ROUNDS: Final = 3
MAX_TURN_SECONDS: Final = 240

# Rate limits per window (decision 27, O67).
RATE_WINDOW_SECONDS: Final = 60
MAX_CALLS_PER_TOKEN: Final = 600
MAX_CALLS_PER_TOOL: Final = 300
# Half of what the front door lets through: no tenant keeps the others out.
MAX_CALLS_PER_TENANT: Final = 6_000

# Personal access tokens. They end, as their role is that of the day they were made.
MAX_PERSONAL_TOKENS: Final = 50
MAX_TOKEN_NAME_CHARS: Final = 100
MAX_TOKEN_VAULTS: Final = 100
DEFAULT_TOKEN_DAYS: Final = 90
MAX_TOKEN_DAYS: Final = 366

# OAuth for remote connectors. A grant ends, as its role is that of the day it was made.
OAUTH_CODE_SECONDS: Final = 60
OAUTH_ACCESS_SECONDS: Final = 3_600
OAUTH_GRANT_DAYS: Final = 90
MAX_OAUTH_GRANTS: Final = 50
# Renewed before they end, older access tokens go on being good for calls on their way.
MAX_ACCESS_TOKENS_PER_GRANT: Final = 5
MAX_REDIRECT_URIS: Final = 10
MAX_REDIRECT_URI_CHARS: Final = 1_000
MAX_CLIENT_ID_CHARS: Final = 1_000
MAX_CLIENT_NAME_CHARS: Final = 100
MAX_CLIENT_DOCUMENT_BYTES: Final = 5_120
CLIENT_DOCUMENT_SECONDS: Final = 5
CLIENT_DOCUMENT_KEPT_SECONDS: Final = 3_600
# A client that registered is forgotten unless somebody lets it in; then it outlives its grants.
UNUSED_CLIENT_SECONDS: Final = 86_400
USED_CLIENT_DAYS: Final = 400
MAX_OAUTH_BODY_BYTES: Final = 65_536
OAUTH_WINDOW_SECONDS: Final = 3_600
MAX_REGISTRATIONS: Final = 1_000
MAX_REGISTRATIONS_PER_ADDRESS: Final = 100
MAX_OAUTH_REQUESTS_PER_ADDRESS: Final = 6_000

# People in a browser.
BROWSER_SESSION_SECONDS: Final = 28_800
SIGN_IN_SECONDS: Final = 600
SIGN_IN_LINK_SECONDS: Final = 3_600
SIGN_IN_WINDOW_SECONDS: Final = 900
MAX_SIGN_INS_PER_NAME: Final = 10
MAX_SIGN_INS_PER_ADDRESS: Final = 50
MAX_SIGN_IN_RETURNS_PER_ADDRESS: Final = 300
MIN_PASSWORD_CHARS: Final = 10
MAX_PASSWORD_CHARS: Final = 200

# Confirmations (decisions 12 and 27). The lease outlasts the longest run of one tool: a function
# that answers in one piece ends within 29 seconds, and work of many files stops before that.
CONFIRMATION_SECONDS: Final = 600
CHAT_CONFIRMATION_SECONDS: Final = 86_400
CONFIRMATION_LEASE_SECONDS: Final = 60
# How long after its expiry a change that was begun in time may still be finished and told again.
CONFIRMATION_RESUME_SECONDS: Final = 3_600
CONFIRMATION_WAIT_SECONDS: Final = 20
MAX_CARRIED_CALL_BYTES: Final = 1_024
MAX_CONFIRMATION_TOKEN_CHARS: Final = 2_047
MAX_AWAITED_CHANGES: Final = 20
MAX_ERROR_DETAIL_CHARS: Final = 4_000
# Of a change that a person is asked about in a form of their client.
MAX_QUESTION_CHARS: Final = 4_000
MAX_PROMPT_ARGUMENT_CHARS: Final = 1_024
# MCP, "Completion": at most 100 values in an answer.
MAX_COMPLETIONS: Final = 100

# Changes of documents.
MAX_DIFF_LINES: Final = 200
MAX_FILE_DIFF_LINES: Final = 40
MAX_DIFF_LINE_CHARS: Final = 500
MAX_BACKUP_DIFF_LINES: Final = 20_000
# What is parsed, changed and parsed again in the time of one call.
MAX_FRONT_MATTER_CHARS: Final = 50_000
MAX_PROPERTY_CHANGES: Final = 100
MAX_APPEND_ATTEMPTS: Final = 8
MAX_REPLACED_FILES: Final = 1_000
MAX_REPLACED_BYTES: Final = 200_000_000
MAX_TREE_FILES: Final = 40_000
MAX_PARALLEL_FILES: Final = 16
# Work of many files stops after so long, and the next call goes on.
MAX_MANY_FILES_SECONDS: Final = 20
# Who began such work may still be at it, or about to call again, until it has been idle so long.
OPERATION_IDLE_SECONDS: Final = 600
MAX_SHOWN_FILES: Final = 50

# Search (R11, decision 19).
DEFAULT_TOP_K: Final = 5
MAX_TOP_K: Final = 50
MAX_QUERY_CHARS: Final = 2_000
MAX_EXCERPT_CHARS: Final = 1_200
DEFAULT_SEARCH_LIMIT: Final = 20
MAX_SEARCH_LIMIT: Final = 100
MAX_SEARCH_OFFSET: Final = 1_000
MAX_LISTED_OFFSET: Final = 100_000
FULLTEXT_EXCERPT_CHARS: Final = 300
MAX_MATCHED_LINES: Final = 5
MAX_SHOWN_LINKS: Final = 10
MAX_GLOBS: Final = 50
MAX_PATH_CANDIDATES: Final = 1_000
MAX_GRAPH_DEPTH: Final = 5
DEFAULT_GRAPH_NODES: Final = 50
MAX_GRAPH_NODES: Final = 1_000
DEFAULT_TAG_SUGGESTIONS: Final = 10
MAX_ATTENTION_COUNT: Final = 1_000
DEFAULT_ATTENTION: Final = 50
MAX_ATTENTION_PAGE: Final = 200
MAX_QUERY_TERMS: Final = 128
MAX_TERM_CHARS: Final = 64
MAX_PATTERN_CHARS: Final = 2_000
MAX_SCAN_SECONDS: Final = 10
MAX_SCAN_MATCHES: Final = 20
MAX_OCCURRENCES: Final = 10_000
MAX_REGEX_OCCURRENCES: Final = 50
MAX_SCANNED_CHARS: Final = 5_000_000

# Ingestion.
MAX_DOCUMENT_BYTES: Final = 100_000_000
MAX_EXTRACTED_CHARS: Final = 20_000_000
MAX_SHEET_CELLS: Final = 1_000_000
SMALL_PAGE_BYTES: Final = 1_000_000
MAX_EXTRACTION_BYTES: Final = 1_200_000_000
MAX_EXTRACTION_CPU_SECONDS: Final = 40
MAX_EXTRACTION_SECONDS: Final = 90
# Reading text in images takes a second or more a page; the last page may begin at the first bound.
MAX_OCR_SECONDS: Final = 60
MAX_OCR_IMAGE_SECONDS: Final = 25
MAX_OCR_PAGES: Final = 200
MAX_OCR_BYTES: Final = 4_000_000_000
MAX_OCR_CPU_SECONDS: Final = 200
MAX_IMAGE_POINTS: Final = 100_000_000
CHUNK_TOKENS: Final = 512
# How much of a passage the next one repeats, in whole sentences.
CHUNK_OVERLAP_TOKENS: Final = 64
MAX_HEADING_CHARS: Final = 200
LEXICAL_SHARDS: Final = 64
MAX_LEXICAL_CACHE_BYTES: Final = 300_000_000
# How long the last change of a deleted document is remembered.
TOMBSTONE_DAYS: Final = 14
MAX_DOCUMENT_TITLE_CHARS: Final = 300
MAX_TAGS: Final = 100
MAX_TAG_CHARS: Final = 64
# A synchronisation is held for a little longer than its function may run (900 seconds), and is left
# to the daily one when it has run out of time so often.
SYNC_LEASE_SECONDS: Final = 960
MAX_SYNC_RUNS: Final = 50
# Who asks again for the index of a vault to be rebuilt meanwhile, is told that it is under way.
REBUILD_SECONDS: Final = 960

# Chat.
MAX_MESSAGE_CHARS: Final = 100_000
MAX_TITLE_CHARS: Final = 120
CHAT_MAX_TOKENS: Final = 4_096
# The least of what providers take; as base64 it is a third more.
MAX_IMAGE_BYTES: Final = 3_750_000
MAX_MESSAGE_IMAGES: Final = 10
MAX_IMAGE_ADDRESS_CHARS: Final = 6_000_000
MAX_HISTORY_CHARS: Final = 100_000
# How long, and how much of, the texts of contexts are kept in memory (O13).
CONTEXT_TEXT_SECONDS: Final = 300
MAX_KEPT_CONTEXT_CHARS: Final = 5_000_000
MAX_HISTORY_MESSAGES: Final = 200
# Of a model that nobody described.
DEFAULT_CONTEXT_TOKENS: Final = 128_000
# Whatever a model's window: below this no turn with tools makes sense.
MIN_CONTEXT_TOKENS: Final = 4_000
MAX_EDITOR_WISH_CHARS: Final = 2_000
MAX_SKILLS: Final = 50
MAX_SKILL_ID_CHARS: Final = 60
MAX_SKILL_TITLE_CHARS: Final = 80
MAX_SKILL_DESCRIPTION_CHARS: Final = 300
MAX_SKILL_PROMPT_CHARS: Final = 20_000
MAX_SKILL_KEYWORDS: Final = 50
MAX_SKILL_KEYWORD_CHARS: Final = 60
MAX_SUMMARY_TOKENS: Final = 1_000
MAX_CITATIONS: Final = 20
MAX_PARALLEL_TOOLS: Final = 8
# How long after its last possible moment a turn that never ended still holds its conversation.
TURN_GRACE_SECONDS: Final = 30
HEARTBEAT_SECONDS: Final = 15
# How often a turn looks whether its person wants it ended, and after how long one that pays no heed
# is taken for dead.
STOP_LOOK_SECONDS: Final = 1
STOP_PATIENCE_SECONDS: Final = 60
DEFAULT_CONVERSATIONS: Final = 50
MAX_CONVERSATIONS: Final = 200
MAX_SEARCHED_CONVERSATIONS: Final = 100

# Code that is read for mistakes, in a child process (decision 64).
MAX_CHECKED_CODE_BYTES: Final = 1_000_000
MAX_CODE_CHECK_BYTES: Final = 512_000_000
MAX_CODE_CHECK_CPU_SECONDS: Final = 3
MAX_CODE_CHECK_SECONDS: Final = 10
MAX_CODE_ERRORS: Final = 20
# How large a text may be for what its grammar does not know to be looked for piece by piece.
MAX_GRAMMAR_GAP_BYTES: Final = 300_000
MAX_CODE_CORRECTIONS: Final = 1

# Calls to hosts that are not ours (decision 25). A function's answer has to end within 300 seconds.
MAX_OUTBOUND_BYTES: Final = 32_000_000
MAX_OUTBOUND_SECONDS: Final = 280

# How long what is over is remembered: answers to a repeated apply, changes of many files.
PROPOSAL_KEPT_DAYS: Final = 7
OPERATION_KEPT_DAYS: Final = 14

# Pages of the web (O63, O64). All of a call has to end within a function's 29 seconds.
MAX_WEB_PAGE_BYTES: Final = 5_000_000
MAX_WEB_HOP_SECONDS: Final = 8
MAX_WEB_SECONDS: Final = 20
MAX_WEB_REDIRECTS: Final = 5
DEFAULT_WEB_RESULTS: Final = 5
MAX_WEB_RESULTS: Final = 20
MAX_WEB_RESULT_PAGE: Final = 20
MAX_WEB_QUERY_CHARS: Final = 400
MAX_WEB_EXCERPT_CHARS: Final = 500

# How long a key that its provider refused is not sent again; another key is sent at once.
REFUSED_KEY_SECONDS: Final = 300
# How long a search asks which documents have no vectors yet in the collection of a new member.
NEW_MEMBER_DAYS: Final = 7
# How long what gave a search no answer in time is not asked again (decision 93).
SILENCE_SECONDS: Final = 30
# What takes as long to say that it cannot answer gave none in time either.
LONG_REFUSAL_SECONDS: Final = 2

# For how many tenants a worker keeps credentials and connections at hand.
MAX_TENANTS_AT_HAND: Final = 16

# Settings.
MAX_PROVIDER_NAME_CHARS: Final = 40
MAX_MODEL_NAME_CHARS: Final = 200
MAX_NAMED_PROVIDERS: Final = 30
MAX_URL_CHARS: Final = 2_000
MAX_API_KEY_CHARS: Final = 1_000
MAX_ACCOUNT_CHARS: Final = 64
MAX_CHAT_TOKENS_PER_REQUEST: Final = 200_000
