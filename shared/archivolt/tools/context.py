"""What a tool is given besides its arguments (O8)."""

from dataclasses import dataclass
from typing import Protocol

from archivolt.domain.confirmation import Confirmed
from archivolt.domain.federation import McpAnswers
from archivolt.domain.identity import Principal
from archivolt.domain.messages import Language
from archivolt.domain.search import SearchQuery, SearchResult
from archivolt.domain.tool import Surface
from archivolt.domain.vault import VaultAccess
from archivolt.ports.code_check import CodeChecker
from archivolt.ports.sync import SyncRequests
from archivolt.ports.web import WebPages, WebSearch
from archivolt.vaults.access import VaultService
from archivolt.vaults.changing import Changing
from archivolt.vaults.files import FileService
from archivolt.vaults.finding import Finding
from archivolt.vaults.moving import MoveService
from archivolt.vaults.search import TextSearch


class Retrieval(Protocol):
    """Finds passages by meaning and by words, in the caller's vaults only."""

    def search(
        self, principal: Principal, query: SearchQuery, *, language: Language
    ) -> SearchResult:
        """Return the best passages; notices are in `language`."""
        ...


class Services(Protocol):
    """The capabilities a tool may use. `composition` makes one."""

    @property
    def vaults(self) -> VaultService:
        """Vaults and members."""
        ...

    @property
    def files(self) -> FileService:
        """The files of a vault."""
        ...

    @property
    def text_search(self) -> TextSearch:
        """Full-text search."""
        ...

    @property
    def finding(self) -> Finding:
        """Advanced search, paths, tags, recents, backlinks, the graph."""
        ...

    @property
    def changing(self) -> Changing:
        """Edits, front matter, deletions, backups and replacements."""
        ...

    @property
    def moves(self) -> MoveService:
        """Renaming and moving files and directories."""
        ...

    @property
    def retrieval(self) -> Retrieval:
        """Hybrid search."""
        ...

    @property
    def sync(self) -> SyncRequests:
        """Bringing the index up to date."""
        ...

    @property
    def code(self) -> CodeChecker:
        """Reading code for mistakes."""
        ...

    @property
    def web_pages(self) -> WebPages:
        """Pages of the public web."""
        ...

    @property
    def web_search(self) -> WebSearch:
        """A search engine for the public web."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolContext:
    """Who calls, how, and what the call may use.

    `confirmation` is None for a read and while a change is only previewed. `vault` is the caller's
    access to the vault that the arguments name, None if they name none: a tool reaches a vault
    through it and through no name. `answers` are the person's to what the tool asked them before.
    """

    principal: Principal
    language: Language
    surface: Surface
    services: Services
    confirmation: Confirmed | None = None
    answers: McpAnswers | None = None
    vault: VaultAccess | None = None

    @property
    def vault_id(self) -> str:
        """The id of the named vault, "" if none is named."""
        return "" if self.vault is None else self.vault.vault.ref.id

    @property
    def confirmed(self) -> Confirmed:
        """The confirmation under which a change runs; there is none in a preview."""
        if self.confirmation is None:
            raise LookupError("a change ran without a confirmation")
        return self.confirmation

    @property
    def access(self) -> VaultAccess:
        """The access to the named vault, for tools whose `vault` is required."""
        if self.vault is None:
            raise LookupError("a tool asked for a vault that its arguments do not require")
        return self.vault

    @property
    def searched(self) -> list[VaultAccess]:
        """The vault that is named, or all of the caller's."""
        return [self.vault] if self.vault else self.services.vaults.accessible(self.principal)
