"""The vault that every user has of their own (R24): its id and name follow from who they are."""

import hashlib
import re
from typing import Final

from archivolt.domain.identity import TenantId, UserId
from archivolt.domain.vault import VaultId, VaultRef

PERSONAL_NAME: Final = "Notes"
_ID_CHARS: Final = 32
_SHORT_CHARS: Final = 12
# A user id that a person reads; what else an identity provider gives (a number, a UUID) is longer
# than any name, or has signs that no path should.
_READABLE: Final = re.compile(r"[\w.@+-]{1,32}")


def personal_vault(tenant: TenantId, user: UserId) -> VaultRef:
    """Return where a user's personal vault is: whoever makes it, and however often, it is one."""
    digest = hashlib.sha256(f"personal/{tenant}/{user}".encode()).hexdigest()
    return VaultRef(tenant=tenant, id=VaultId(digest[:_ID_CHARS]))


def personal_names(tenant: TenantId, user: UserId) -> list[str]:
    """Return the names it may have, the best first: in a tenant, each name is one vault's."""
    by_id = personal_vault(tenant, user).id
    readable = [f"{PERSONAL_NAME}-{user}"] if _READABLE.fullmatch(user) else []
    return [*readable, f"{PERSONAL_NAME}-{by_id[:_SHORT_CHARS]}", f"{PERSONAL_NAME}-{by_id}"]
