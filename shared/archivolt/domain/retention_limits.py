"""The limits of keeping, erasing and taking home, beside `limits`."""

from typing import Final

# The daily purge: how many conversations one run removes at most, and for how long one that is
# being removed takes no turn.
MAX_PURGED_A_RUN: Final = 20_000
PURGE_HOLD_SECONDS: Final = 900

# Erasures: how long one process holds one, how long what began before may still leave something
# (an upload, a daily comparison), and after how many walks that found something we say so.
ERASURE_LEASE_SECONDS: Final = 960
ERASURE_SETTLE_SECONDS: Final = 1_200
MAX_ERASURE_RUNS: Final = 6
# For how long calls may still begin under a name that is erased: clocks differ, and what is asked
# for takes its moment.
ERASED_NAME_SECONDS: Final = 60
MAX_RECEIPTS: Final = 100

# All that is held of a person, taken home: a streamed answer ends at 200 MB (AWS Lambda, "Quotas").
MAX_EXPORTED_BYTES: Final = 150_000_000
MAX_EXPORTED_MONTHS: Final = 13
