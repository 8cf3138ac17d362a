"""What calls the tools: the pipeline, and the routes in front of it."""

from functools import cached_property
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from archivolt.adapters.code_check.isolated import IsolatedCodeChecker
    from archivolt.adapters.dynamodb.signing_key import DynamoSigningKey
    from archivolt.adapters.http.web_pages import HttpWebPages
    from archivolt.adapters.searxng.search import SearxngSearch
    from archivolt.bootstrap import Container
    from archivolt.composition.documents import DocumentsContainer
    from archivolt.composition.federation import FederationContainer
    from archivolt.entrypoints.browser.services import BrowserServices
    from archivolt.entrypoints.http.services import RestServices
    from archivolt.entrypoints.mcp.app import McpServices
    from archivolt.governance.human_confirmation import HumanConfirmation
    from archivolt.ports.sync import SyncRequests
    from archivolt.retrieval.hybrid import RetrievalService
    from archivolt.tools.approvals import ApprovalService
    from archivolt.tools.by_hand import ByHand
    from archivolt.tools.confirmations import Confirmations
    from archivolt.tools.hand_changes import ChangesByHand
    from archivolt.tools.pipeline import ToolPipeline
    from archivolt.tools.registry import Registry
    from archivolt.vaults.access import VaultService
    from archivolt.vaults.changing import Changing
    from archivolt.vaults.files import FileService
    from archivolt.vaults.finding import Finding
    from archivolt.vaults.moving import MoveService
    from archivolt.vaults.search import TextSearch


class ToolsContainer:
    """Builds and keeps what calls the tools; also the `Services` that they use."""

    def __init__(self, container: "Container") -> None:
        self._on = container

    @property
    def vaults(self) -> "VaultService":
        """Vaults and members."""
        return self._on.vaults

    @property
    def files(self) -> "FileService":
        """The files of a vault."""
        return self._on.files

    @property
    def text_search(self) -> "TextSearch":
        """Full-text search."""
        return self._on.text_search

    @property
    def finding(self) -> "Finding":
        """Advanced search, paths, tags, recents, backlinks, the graph."""
        return self.documents.finding

    @property
    def changing(self) -> "Changing":
        """Edits, front matter, deletions, backups and replacements."""
        return self.documents.changing

    @property
    def moves(self) -> "MoveService":
        """Renaming and moving files and directories."""
        return self.documents.moves

    @cached_property
    def documents(self) -> "DocumentsContainer":
        """The services of a vault's documents, each built when first needed."""
        from archivolt.composition.documents import DocumentsContainer

        return DocumentsContainer(self._on)

    @property
    def retrieval(self) -> "RetrievalService":
        """Hybrid search."""
        return self._on.retrieval

    @property
    def sync(self) -> "SyncRequests":
        """Bringing the index up to date."""
        return self._on.index.sync.requests

    @property
    def code(self) -> "IsolatedCodeChecker":
        """Reading code for mistakes."""
        from archivolt.adapters.code_check.isolated import IsolatedCodeChecker

        return IsolatedCodeChecker()

    @property
    def web_pages(self) -> "HttpWebPages":
        """Pages of the public web."""
        from archivolt.composition.web import web_pages

        return web_pages(self._on.settings.archivolt_fetch_allowed_hosts)

    @property
    def web_search(self) -> "SearxngSearch":
        """A search engine for the public web."""
        from archivolt.composition.web import web_search

        return web_search(self._on.settings.archivolt_searxng_url)

    @cached_property
    def federation(self) -> "FederationContainer":
        """MCP servers of others."""
        from archivolt.composition.federation import FederationContainer

        return FederationContainer(self._on)

    @cached_property
    def pipeline(self) -> "ToolPipeline":
        """The one way to call a tool."""
        from archivolt.tools.pipeline import ToolPipeline

        return ToolPipeline(
            self._registry(),
            self,
            rate_limit=self._on.rate_limit,
            audit=self._on.audit_log,
            clock=self._on.clock,
            confirmations=lambda: self.confirmations,
            human=self.human_confirmation,
        )

    def _registry(self) -> "Registry":
        """The tools: where runs are driven, those of runs as well."""
        from archivolt.tools.catalogue import native_tools
        from archivolt.tools.registry import Registry

        native = native_tools()
        if not self._on.settings.agent_run_machine_arn:
            return native
        from archivolt.runs.tools import run_tools

        return Registry([*native, *run_tools(lambda: self._on.runs.service)])

    @cached_property
    def human_confirmation(self) -> "HumanConfirmation":
        """Which changes of agents take a person's yes."""
        from archivolt.governance.human_confirmation import HumanConfirmation

        settings = self._on.settings
        place = "/approve" if settings.signs_in else "/api/v1/confirmations"
        return HumanConfirmation(
            self._on.tenant_settings,
            self._on.user_settings,
            f"{settings.public_url}{place}",
            pages=settings.signs_in,
        )

    @cached_property
    def confirmations(self) -> "Confirmations":
        """What stands between a proposal and its change."""
        import time

        from archivolt.adapters.jwt.confirmation_tokens import JwtConfirmationTokens
        from archivolt.tools.confirmations import Confirmations
        from archivolt.tools.proposals import Proposals

        proposals = Proposals(
            self._on.confirmations,
            JwtConfirmationTokens(self.signing_key),
            self._on.secret_box,
            self._on.clock,
        )
        return Confirmations(proposals, wait=time.sleep)

    @cached_property
    def signing_key(self) -> "DynamoSigningKey":
        """The secret of this deployment that every function shares."""
        from archivolt.adapters.dynamodb.signing_key import DynamoSigningKey

        return DynamoSigningKey(self._on.table("control_table"), self._on.secret_box)

    @cached_property
    def approvals(self) -> "ApprovalService":
        """A person's yes or no to a change of an agent."""
        from archivolt.tools.approvals import ApprovalService

        return ApprovalService(lambda: self.confirmations.proposals)

    @cached_property
    def by_hand(self) -> "ByHand":
        """What a person does without a tool."""
        from archivolt.tools.by_hand import ByHand

        return ByHand(self._on.rate_limit, self._on.audit_log, self._on.clock)

    @cached_property
    def changes(self) -> "ChangesByHand":
        """The changes that a person makes without a proposal."""
        from archivolt.tools.catalogue.own_hand import hand_tools
        from archivolt.tools.hand_changes import ChangesByHand

        return ChangesByHand(hand_tools(), self, self.by_hand, self._on.operations)

    @cached_property
    def rest_services(self) -> "RestServices":
        """What the tools function stands on."""
        from archivolt.composition.identity import connections, personal_tokens
        from archivolt.composition.settings import key_tests
        from archivolt.composition.tenancy import tenant_directory, tenants
        from archivolt.entrypoints.http.services import RestServices
        from archivolt.governance.audit import AuditService
        from archivolt.governance.own_settings import OwnSettings
        from archivolt.governance.personal_tokens import PersonalTokens
        from archivolt.vaults.index_state import IndexReports
        from archivolt.vaults.uploads import UploadService

        return RestServices(
            token_verifier=self._on.tools_verifier,
            pipeline=self.pipeline,
            by_hand=self.by_hand,
            changes=self.changes,
            uploads=UploadService(self._on.file_store),
            operations=self._on.operations,
            vaults=self.vaults,
            files=self.files,
            index=IndexReports(self._on.catalogue, self._on.index.sync.runs),
            rebuilds=self._on.index.sync.rebuilds,
            tenant_settings=self._on.settings_service,
            tenants=tenants(self._on),
            own_settings=OwnSettings(self._on.user_settings, self.human_confirmation),
            audit=AuditService(self._on.audit_log, self._on.clock),
            tokens=PersonalTokens(
                lambda: personal_tokens(self._on), self._on.clock, tenant_directory(self._on)
            ),
            connections=connections(self._on),
            approvals=self.approvals,
            erasures=self._on.retention.erasures,
            model_choices=lambda: self._on.chat.model_choices,
            key_tests=lambda: key_tests(self._on),
            mcp_servers=self.federation.servers,
            mcp_accounts=lambda: self.federation.accounts,
            webhooks=lambda: self._on.webhooks.administration,
            allowed_origins=self._on.settings.allowed_origins,
        )

    @cached_property
    def browser_services(self) -> "BrowserServices":
        """What the pages for people stand on."""
        from archivolt.composition.browser import browser_services

        return browser_services(self._on)

    @cached_property
    def mcp_services(self) -> "McpServices":
        """What the MCP function stands on."""
        from archivolt.entrypoints.mcp.app import McpServices

        return McpServices(
            token_verifier=self._on.token_verifier,
            pipeline=self.pipeline,
            state_key=self.signing_key,
            public_url=self._on.settings.public_url,
            allowed_origins=self._on.settings.allowed_origins,
            issuer=self._on.settings.auth_issuer,
            signs_in=self._on.settings.signs_in,
        )
