"""The numeric limits of metering and budgets; all others are in `archivolt.domain.limits`."""

from typing import Final

# A call is over well before its reservation expires: a function runs 300 seconds at most.
RESERVATION_SECONDS: Final = 360
BUDGET_WARNING_PERCENT: Final = 80
# How many lost reservations one request ends, while it waits.
MAX_SWEPT: Final = 100
# And the daily run.
MAX_SWEPT_A_RUN: Final = 20_000
MAX_BUDGET_DOLLARS: Final = 1_000_000_000
MAX_DAILY_TOKENS: Final = 1_000_000_000_000
MAX_PRICED_MODELS: Final = 100
