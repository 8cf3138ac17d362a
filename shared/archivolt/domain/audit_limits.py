"""Numbers of the audit log: what is shown of it, how it is chained and how long it is kept."""

from typing import Final

# The audit log, as administrators see it.
AUDIT_DAYS: Final = 30
DEFAULT_AUDIT_ENTRIES: Final = 100
MAX_AUDIT_ENTRIES: Final = 500
# How long entries are kept (the CNIL recommends six months to a year), in how many chains a tenant
# writes, and how long after its end a day is sealed: no call that began in it still runs then.
AUDIT_KEPT_DAYS: Final = 365
AUDIT_LANES: Final = 16
AUDIT_SEAL_HOURS: Final = 2
