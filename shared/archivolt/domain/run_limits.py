"""The limits of agent runs, beside `limits`."""

from typing import Final

from archivolt.domain.limits import CHAT_CONFIRMATION_SECONDS

# Agent runs (decision 21). An execution is renewed long before AWS ends it at 25,000 events.
DEFAULT_RUN_STEPS: Final = 50
MAX_RUN_STEPS: Final = 500
DEFAULT_RUN_TOOL_CALLS: Final = 200
MAX_RUN_TOOL_CALLS: Final = 2_000
DEFAULT_RUN_MINUTES: Final = 60
MAX_RUN_MINUTES: Final = 10_080
MAX_RUN_MICRO_DOLLARS: Final = 1_000_000_000
MAX_RUN_VAULTS: Final = 50
MAX_OPEN_RUNS: Final = 20
# One that is not over was active since: a step takes minutes, and waiting for people a day.
OPEN_RUN_DAYS: Final = 3
MAX_RUN_HISTORY: Final = 12_000
# How long a provider may be down before a run gives up.
RUN_PROVIDER_DOWN_SECONDS: Final = 3_600
# How often a call is tried again, for some minutes, before the model is told what is down.
RUN_CALL_RETRIES: Final = 6
# For how long people may decide on a change. What was agreed to at the last moment can still be
# made two days later, should the engine have been away.
RUN_APPROVAL_SECONDS: Final = CHAT_CONFIRMATION_SECONDS
RUN_PROPOSAL_SECONDS: Final = RUN_APPROVAL_SECONDS + 2 * 86_400
# The engine's own clock may be a little ahead of ours.
RUN_APPROVAL_GRACE_SECONDS: Final = 5
# Who looks at a run that has been quiet for so long has it gone on with if nobody works on it.
RUN_QUIET_SECONDS: Final = 60
# What is sealed of one call is one item; DynamoDB takes 400 KB.
MAX_RUN_SEALED_CHARS: Final = 350_000
RUN_STATE_KEPT_DAYS: Final = 60
DEFAULT_RUNS: Final = 50
MAX_RUNS: Final = 200
DEFAULT_RUN_EVENTS: Final = 200
MAX_RUN_EVENTS: Final = 1_000
RUN_EVENTS_POLL_SECONDS: Final = 1.0
# A stream of events ends by itself before its function is stopped; who listens comes back.
RUN_EVENTS_STREAM_SECONDS: Final = 240
MAX_IDEMPOTENCY_KEY_CHARS: Final = 255
