"""The composition root: the only place that pairs a port with an adapter.

Each collaborator is built the first time it is asked for, and its module imported then, so that a
function pays for what it uses.
"""

from functools import cache, cached_property
from typing import TYPE_CHECKING

from archivolt.composition.stores import Stores
from archivolt.settings import load_settings

if TYPE_CHECKING:
    import httpx2

    from archivolt.adapters.http.addresses import OutboundRules
    from archivolt.composition.chat import ChatContainer
    from archivolt.composition.index import IndexContainer
    from archivolt.composition.retention import RetentionContainer
    from archivolt.composition.runs import RunsContainer
    from archivolt.composition.tools import ToolsContainer
    from archivolt.composition.webhooks import WebhooksContainer
    from archivolt.entrypoints.http.chat_services import ChatServices
    from archivolt.entrypoints.http.services import RestServices
    from archivolt.entrypoints.mcp.app import McpServices
    from archivolt.governance.admission import Admission
    from archivolt.governance.first_requests import FirstRequests
    from archivolt.governance.settings import SettingsService
    from archivolt.ports.governance import SecretBox, TokenVerifier
    from archivolt.retrieval.hybrid import RetrievalService
    from archivolt.tools.pipeline import ToolPipeline
    from archivolt.tools.rate_limit import RateLimit
    from archivolt.vaults.access import VaultService
    from archivolt.vaults.files import FileService
    from archivolt.vaults.search import TextSearch


class Container(Stores):
    """Builds and keeps the collaborators of one execution environment."""

    @cached_property
    def token_verifier(self) -> "FirstRequests":
        """Who a token speaks for; who is new is given a vault, in a moment."""
        from archivolt.composition.identity import greeting_verifier

        return greeting_verifier(self, at_once=False)

    @cached_property
    def tools_verifier(self) -> "TokenVerifier":
        """The same, for the function that may write to the directory: it gives the vault itself."""
        from archivolt.composition.identity import greeting_verifier

        return greeting_verifier(self, at_once=True)

    @cached_property
    def front_door_verifier(self) -> "TokenVerifier":
        """The same, for the authorizer: it writes nothing."""
        from archivolt.composition.identity import token_verifier

        return token_verifier(self, notes_use=False)

    @cached_property
    def admission(self) -> "Admission":
        """Who may come in."""
        from archivolt.composition.tenancy import admission

        return admission(self)

    @cached_property
    def secret_box(self) -> "SecretBox":
        """Seals tenants' secrets: under KMS, or on one machine under a key of the environment."""
        from archivolt.adapters.crypto.boxes import (
            EnvironmentKeyBox,
            KmsEnvelopeBox,
            key_from_text,
        )

        if self.settings.kms_key_id:
            return KmsEnvelopeBox(self.aws.kms, self.settings.kms_key_id)
        key = key_from_text(self.settings.required("user_store_encryption_key"))
        return EnvironmentKeyBox(key)

    @cached_property
    def outbound_client(self) -> "httpx2.Client":
        """Blocking calls to hosts that are not ours."""
        from archivolt.adapters.http.outbound import guarded_client

        return guarded_client(self._outbound_rules())

    @cached_property
    def outbound_async_client(self) -> "httpx2.AsyncClient":
        """Calls to hosts that are not ours, from the event loop."""
        from archivolt.adapters.http.outbound import guarded_async_client

        return guarded_async_client(self._outbound_rules())

    @cached_property
    def settings_service(self) -> "SettingsService":
        """What an administrator may change."""
        from archivolt.composition.settings import settings_service

        return settings_service(self)

    @cached_property
    def vaults(self) -> "VaultService":
        """Who may use which vault."""
        from archivolt.vaults.access import VaultService

        return VaultService(
            self.vault_directory,
            self.catalogue,
            self.clock,
            queue=lambda: self.index.embedding_queue,
        )

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
        from archivolt.composition.tenancy import rate_limit

        return rate_limit(self)

    @cached_property
    def index(self) -> "IndexContainer":
        """What keeps the index and searches it."""
        from archivolt.composition.index import IndexContainer

        return IndexContainer(self)

    @cached_property
    def text_search(self) -> "TextSearch":
        """Full-text search."""
        from archivolt.vaults.search import TextSearch

        return TextSearch(self.index.text_index, self.catalogue)

    @property
    def retrieval(self) -> "RetrievalService":
        """Search by meaning and by words."""
        return self.index.retrieval

    @cached_property
    def tools(self) -> "ToolsContainer":
        """What calls the tools."""
        from archivolt.composition.tools import ToolsContainer

        return ToolsContainer(self)

    @property
    def tool_pipeline(self) -> "ToolPipeline":
        """The one way to call a tool."""
        return self.tools.pipeline

    @property
    def rest_services(self) -> "RestServices":
        """What the tools function stands on."""
        return self.tools.rest_services

    @cached_property
    def retention(self) -> "RetentionContainer":
        """What removes data, and keeps the audit log."""
        from archivolt.composition.retention import RetentionContainer

        return RetentionContainer(self)

    @cached_property
    def chat(self) -> "ChatContainer":
        """What answers messages."""
        from archivolt.composition.chat import ChatContainer

        return ChatContainer(self)

    @cached_property
    def runs(self) -> "RunsContainer":
        """What drives agent runs."""
        from archivolt.composition.runs import RunsContainer

        return RunsContainer(self)

    @cached_property
    def webhooks(self) -> "WebhooksContainer":
        """What tells tenants of their runs."""
        from archivolt.composition.webhooks import WebhooksContainer

        return WebhooksContainer(self)

    @property
    def chat_services(self) -> "ChatServices":
        """What the chat function stands on."""
        return self.chat.services

    @property
    def mcp_services(self) -> "McpServices":
        """What the MCP function stands on."""
        return self.tools.mcp_services

    def _outbound_rules(self) -> "OutboundRules":
        from archivolt.adapters.http.addresses import OutboundRules

        return OutboundRules.from_setting(self.settings.outbound_allowed_hosts)


@cache
def container() -> Container:
    """Return the container of this execution environment."""
    return Container(load_settings())
