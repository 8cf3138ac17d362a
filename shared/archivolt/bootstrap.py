"""The composition root: the only place that pairs a port with an adapter.

Each collaborator is built the first time it is asked for, and its module imported then, so that a
function pays for what it uses.
"""

from functools import cache, cached_property
from typing import TYPE_CHECKING

from archivolt.settings import Settings, load_settings

if TYPE_CHECKING:
    from archivolt.adapters.aws.clients import AwsClients
    from archivolt.adapters.dynamodb.table import DynamoTable
    from archivolt.ports.catalogue import Catalogue
    from archivolt.ports.clock import Clock
    from archivolt.ports.conversations import ConversationStore
    from archivolt.ports.files import FileStore
    from archivolt.ports.governance import AuditLog, RateCounter, TenantSettingsStore
    from archivolt.ports.vaults import VaultDirectory
    from archivolt.tools.rate_limit import RateLimit
    from archivolt.vaults.access import VaultService
    from archivolt.vaults.files import FileService


class Container:
    """Builds and keeps the collaborators of one execution environment."""

    def __init__(self, settings: Settings) -> None:
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

        return DynamoVaultDirectory(self._table("control_table"))

    @cached_property
    def file_store(self) -> "FileStore":
        """Documents."""
        from archivolt.adapters.s3.files import S3Files

        return S3Files(self.aws.s3, self.settings.required("documents_bucket"), self.clock)

    @cached_property
    def catalogue(self) -> "Catalogue":
        """The state of every document in the index."""
        from archivolt.adapters.dynamodb.catalogue import DynamoCatalogue

        return DynamoCatalogue(self._table("catalogue_table"), self.clock)

    @cached_property
    def tenant_settings(self) -> "TenantSettingsStore":
        """Each tenant's settings."""
        from archivolt.adapters.dynamodb.tenant_settings import DynamoTenantSettings

        return DynamoTenantSettings(self._table("control_table"))

    @cached_property
    def rate_counter(self) -> "RateCounter":
        """Calls per window."""
        from archivolt.adapters.dynamodb.rates import DynamoRateCounter

        return DynamoRateCounter(self._table("ledger_table"))

    @cached_property
    def audit_log(self) -> "AuditLog":
        """Who did what."""
        from archivolt.adapters.dynamodb.audit import DynamoAuditLog

        return DynamoAuditLog(self._table("audit_table"))

    @cached_property
    def conversations(self) -> "ConversationStore":
        """Conversations."""
        from archivolt.adapters.dynamodb.conversations import DynamoConversations

        return DynamoConversations(self._table("conversations_table"))

    @cached_property
    def vaults(self) -> "VaultService":
        """Who may use which vault."""
        from archivolt.vaults.access import VaultService

        return VaultService(self.vault_directory, self.catalogue, self.clock)

    @cached_property
    def files(self) -> "FileService":
        """The files of a vault."""
        from archivolt.vaults.files import FileService

        return FileService(
            self.file_store, max_read_bytes=self.settings.bookslm_max_tool_read_bytes
        )

    @cached_property
    def rate_limit(self) -> "RateLimit":
        """How often a token may call."""
        from archivolt.tools.rate_limit import RateLimit

        return RateLimit(
            counter=self.rate_counter,
            per_token=self.settings.archivolt_tool_rate_limit,
            per_tool=self.settings.archivolt_tool_rate_limit_per_tool,
            window=self.settings.archivolt_tool_rate_window,
        )

    def _table(self, setting: str) -> "DynamoTable":
        from archivolt.adapters.dynamodb.table import DynamoTable

        return DynamoTable(self.aws.dynamodb, self.settings.required(setting))


@cache
def container() -> Container:
    """Return the container of this execution environment."""
    return Container(load_settings())
