"""The limits of scheduled runs, beside `run_limits`."""

from typing import Final

MAX_SCHEDULES: Final = 20
MAX_SCHEDULE_NAME_CHARS: Final = 100
MAX_EXPRESSION_CHARS: Final = 256
MAX_TIME_ZONE_CHARS: Final = 64
# Two firings are never closer than this: each starts a run that asks a model.
MIN_SCHEDULE_MINUTES: Final = 15
# How far ahead a moment may be; cron is not looked for further either.
MAX_SCHEDULE_YEARS: Final = 5
# How many moments of a cron expression are looked at to tell how close they come.
LOOKED_AT_FIRINGS: Final = 64
MAX_PERMISSIONS: Final = 10
MAX_PERMISSION_DAYS: Final = 90
MAX_PERMISSION_USES: Final = 10_000
MAX_PERMITTED_TOOLS: Final = 20
# A firing that could not be delivered is tried again for an hour, and is no use after that.
FIRING_RETRIES: Final = 20
FIRING_SECONDS: Final = 3_600
