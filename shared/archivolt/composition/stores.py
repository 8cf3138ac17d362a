"""Where data is kept: the stores that several parts stand on."""

from functools import cached_property
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from archivolt.adapters.aws.clients import AwsClients
    from archivolt.adapters.dynamodb.table import DynamoTable
    from archivolt.ports.audit import AuditLog
    from archivolt.ports.catalogue import Catalogue
    from archivolt.ports.clock import Clock
    from archivolt.ports.confirmations import ConfirmationStore
    from archivolt.ports.conversations import ConversationStore
    from archivolt.ports.files import FileStore
    from archivolt.ports.governance import RateCounter, TenantSettingsStore, UserSettingsStore
    from archivolt.ports.ledger import Ledger, UsageEvents
    from archivolt.ports.operations import OperationStore
    from archivolt.ports.vaults import VaultDirectory
    from archivolt.settings import Settings


class Stores:
    """Builds and keeps the stores of one execution environment."""

    def __init__(self, settings: "Settings") -> None:
        self.settings = settings

    @cached_property
    def clock(self) -> "Clock":
        """The real time."""
        from archivolt.adapters.system.clock import SystemClock

        return SystemClock()

    @cached_property
    def aws(self) -> "AwsClients":
        """The clients of AWS services."""
        from archivolt.adapters.aws.clients import AwsClients

        return AwsClients(path_style=bool(self.settings.aws_endpoint_url))

    @cached_property
    def vault_directory(self) -> "VaultDirectory":
        """Vaults and members."""
        from archivolt.adapters.dynamodb.vaults import DynamoVaultDirectory

        return DynamoVaultDirectory(self.table("control_table"))

    @cached_property
    def file_store(self) -> "FileStore":
        """Documents."""
        from archivolt.adapters.s3.files import S3Files

        return S3Files(self.aws.s3, self.settings.required("documents_bucket"), self.clock)

    @cached_property
    def ledger(self) -> "Ledger":
        """What was used, and what is set aside."""
        from archivolt.adapters.dynamodb.ledger import DynamoLedger

        return DynamoLedger(self.table("ledger_table"))

    @cached_property
    def usage_events(self) -> "UsageEvents":
        """Who is told of usage."""
        from archivolt.adapters.eventbridge.usage_events import EventBridgeUsage

        return EventBridgeUsage(self.aws.events, self.settings.usage_event_bus)

    @cached_property
    def catalogue(self) -> "Catalogue":
        """The state of every document in the index."""
        from archivolt.adapters.dynamodb.catalogue import DynamoCatalogue

        return DynamoCatalogue(self.table("catalogue_table"), self.clock)

    @cached_property
    def tenant_settings(self) -> "TenantSettingsStore":
        """Each tenant's settings."""
        from archivolt.adapters.dynamodb.tenant_settings import DynamoTenantSettings

        return DynamoTenantSettings(self.table("control_table"))

    @cached_property
    def user_settings(self) -> "UserSettingsStore":
        """Each user's own settings."""
        from archivolt.adapters.dynamodb.user_settings import DynamoUserSettings

        return DynamoUserSettings(self.table("control_table"))

    @cached_property
    def rate_counter(self) -> "RateCounter":
        """Calls per window."""
        from archivolt.adapters.dynamodb.rates import DynamoRateCounter

        return DynamoRateCounter(self.table("ledger_table"))

    @cached_property
    def audit_log(self) -> "AuditLog":
        """Who did what."""
        from archivolt.adapters.dynamodb.audit import DynamoAuditLog

        return DynamoAuditLog(self.table("audit_table"))

    @cached_property
    def conversations(self) -> "ConversationStore":
        """Conversations that are not over age."""
        from archivolt.adapters.dynamodb.conversations import DynamoConversations
        from archivolt.governance.kept_conversations import KeptConversations

        kept = DynamoConversations(self.table("conversations_table"))
        return KeptConversations(kept, self.tenant_settings, self.clock)

    @cached_property
    def confirmations(self) -> "ConfirmationStore":
        """Proposals that wait for their confirmation."""
        from archivolt.adapters.dynamodb.confirmations import DynamoConfirmations

        return DynamoConfirmations(self.table("confirmations_table"))

    @cached_property
    def operations(self) -> "OperationStore":
        """Changes of many files."""
        from archivolt.adapters.dynamodb.operations import DynamoOperations

        return DynamoOperations(
            self.table("control_table"), self.aws.s3, self.settings.required("documents_bucket")
        )

    def table(self, setting: str) -> "DynamoTable":
        """Return the table that a setting names."""
        from archivolt.adapters.dynamodb.table import DynamoTable

        return DynamoTable(self.aws.dynamodb, self.settings.required(setting))
