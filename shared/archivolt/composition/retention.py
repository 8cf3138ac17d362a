"""What removes data: by age, and by request."""

from functools import cached_property
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from archivolt.adapters.dynamodb.table import DynamoTable
    from archivolt.bootstrap import Container
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
            DynamoConversationAges(self._table("conversations_table"), self._on.clock),
            self._on.tenant_settings,
            DynamoSweepPlace(self._table("control_table")),
            self._on.clock,
        )

    def _table(self, setting: str) -> "DynamoTable":
        from archivolt.adapters.dynamodb.table import DynamoTable

        return DynamoTable(self._on.aws.dynamodb, self._on.settings.required(setting))
