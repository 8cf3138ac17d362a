"""What the REST routes stand on."""

from collections.abc import Callable
from dataclasses import dataclass

from archivolt.chat.key_tests import KeyTests
from archivolt.chat.model_choices import ModelChoices
from archivolt.domain.identity import Principal, TokenKind
from archivolt.domain.tool import Surface
from archivolt.federation.accounts import McpAccounts
from archivolt.federation.servers import McpServers
from archivolt.governance.audit import AuditService
from archivolt.governance.erasure import Erasures
from archivolt.governance.oauth.connections import Connections
from archivolt.governance.own_settings import OwnSettings
from archivolt.governance.personal_tokens import PersonalTokens
from archivolt.governance.settings import SettingsService
from archivolt.governance.tenants import Tenants
from archivolt.governance.webhooks import Webhooks
from archivolt.ingestion.sync_requests import RebuildRequests
from archivolt.ports.governance import TokenVerifier
from archivolt.ports.operations import OperationStore
from archivolt.tools.approvals import ApprovalService
from archivolt.tools.by_hand import ByHand
from archivolt.tools.hand_changes import ChangesByHand
from archivolt.tools.pipeline import ToolPipeline
from archivolt.vaults.access import VaultService
from archivolt.vaults.files import FileService
from archivolt.vaults.index_state import IndexReports
from archivolt.vaults.uploads import UploadService


@dataclass(frozen=True, slots=True, kw_only=True)
class RestServices:
    """The collaborators of the tools function; `allowed_origins` as in the settings."""

    token_verifier: TokenVerifier
    pipeline: ToolPipeline
    by_hand: ByHand
    changes: ChangesByHand
    uploads: UploadService
    operations: OperationStore
    vaults: VaultService
    files: FileService
    index: IndexReports
    rebuilds: RebuildRequests
    tenant_settings: SettingsService
    own_settings: OwnSettings
    tenants: Tenants
    audit: AuditService
    tokens: PersonalTokens
    connections: Connections
    approvals: ApprovalService
    erasures: Erasures
    model_choices: Callable[[], ModelChoices]
    key_tests: Callable[[], KeyTests]
    mcp_servers: McpServers
    mcp_accounts: Callable[[], McpAccounts]
    webhooks: Callable[[], Webhooks]
    allowed_origins: str = ""


ServicesOf = Callable[[], RestServices]
"""Gives the services when a request needs them: routes are made without."""


def surface_of(principal: Principal) -> Surface:
    """Return the surface a caller's token is for: programs reach no more here than over MCP."""
    return Surface.IN_APP if principal.kind is TokenKind.INTERACTIVE else Surface.MCP
