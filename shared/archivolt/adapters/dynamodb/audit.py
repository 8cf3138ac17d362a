"""Who did what, in the audit table: one partition per tenant and day, in order of time."""

import uuid
from datetime import UTC

from archivolt.adapters.dynamodb.table import DynamoTable
from archivolt.adapters.dynamodb.writes import ABSENT, Put
from archivolt.ports.governance import AuditEntry


class DynamoAuditLog:
    """An `AuditLog` in the audit table; its role may add items and no more."""

    def __init__(self, table: DynamoTable) -> None:
        self._table = table

    def append(self, entry: AuditEntry) -> None:
        """Add an entry."""
        at = entry.at.astimezone(UTC)
        principal = entry.principal
        self._table.write(
            Put(
                item={
                    "pk": f"TENANT#{principal.tenant}#{at:%Y-%m-%d}",
                    "sk": f"{at:%H:%M:%S.%f}#{uuid.uuid4()}",
                    "tenant": principal.tenant,
                    "user": principal.user,
                    "role": principal.role.value,
                    "token_id": principal.token_id,
                    "token_kind": principal.kind.value,
                    "action": entry.action,
                    "at": at.isoformat(),
                    "outcome": entry.outcome,
                    "surface": entry.surface,
                    "milliseconds": entry.milliseconds,
                    "arguments_digest": entry.arguments_digest,
                    "vault": entry.vault,
                    "path": entry.path,
                    "details": entry.details,
                },
                condition=ABSENT,
            )
        )
