"""How long conversations are kept (S19). They age from their last use.

Days are of 24 hours, in UTC: neither the clock's change in spring nor a leap day moves the end.
"""

from datetime import datetime, timedelta
from typing import Final

RETENTION_DAYS: Final = (30, 60, 90, 180)
"""What a tenant may choose from, beside `UNLIMITED`."""
DEFAULT_RETENTION_DAYS: Final = 90
UNLIMITED: Final = 0


def kept_since(now: datetime, days: int) -> datetime | None:
    """Return the last use before which a conversation is over age; None if none ever is."""
    return None if days == UNLIMITED else now - timedelta(days=days)


def may_be_over_age(last_use: datetime, now: datetime) -> bool:
    """Tell whether a last use is so long ago that the tenant's choice has to be looked up."""
    return last_use < now - timedelta(days=min(RETENTION_DAYS))
