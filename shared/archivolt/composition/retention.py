"""What removes data: by age, and by request."""

from functools import cached_property
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from archivolt.bootstrap import Container
    from archivolt.composition.audit import AuditContainer
    from archivolt.governance.retention import RetentionSweep


class RetentionContainer:
    """Builds and keeps its collaborators."""

    def __init__(self, container: "Container") -> None:
        self._on = container

    @cached_property
    def sweep(self) -> "RetentionSweep":
        """Purges the conversations that are over age."""
        from archivolt.adapters.dynamodb.conversation_ages import (
            DynamoConversationAges,
            DynamoSweepPlace,
        )
        from archivolt.governance.retention import RetentionSweep

        return RetentionSweep(
            DynamoConversationAges(self._on.table("conversations_table"), self._on.clock),
            self._on.tenant_settings,
            DynamoSweepPlace(self._on.table("control_table")),
            self._on.clock,
        )

    @cached_property
    def audit(self) -> "AuditContainer":
        """The audit log as it is exported and checked."""
        from archivolt.composition.audit import AuditContainer

        return AuditContainer(self._on)
