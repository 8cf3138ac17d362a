"""The limits of tenants and their people."""

from typing import Final

# For so long a process believes what it read of them: no suspension is in force later.
STANDING_SECONDS: Final = 5
# Whoever was welcome so long ago may have a question read while they are looked at again.
BEGINNING_SECONDS: Final = 900
MAX_TENANT_NAME_CHARS: Final = 100
DEFAULT_TENANTS: Final = 50
MAX_TENANTS: Final = 100
MAX_TENANT_CALLS: Final = 10_000_000
