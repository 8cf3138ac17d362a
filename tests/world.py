"""Two tenants, their people and their documents, on fakes: what most tests of a door need."""

import hashlib
from collections.abc import Callable, Mapping
from typing import Any

from archivolt.adapters.jwt.confirmation_tokens import JwtConfirmationTokens
from archivolt.adapters.re2.patterns import Re2Patterns
from archivolt.domain.identity import Principal
from archivolt.domain.ingestion import CatalogueEntry, IndexState, Passage, next_generation
from archivolt.domain.messages import Language
from archivolt.domain.paths import VaultPath, name_of
from archivolt.domain.search import SearchHit, SearchNotice, SearchQuery, SearchResult
from archivolt.domain.tool import Surface, ToolResult
from archivolt.domain.vault import FileInfo, VaultRef, VaultRole
from archivolt.governance.admission import Admission
from archivolt.governance.human_confirmation import HumanConfirmation
from archivolt.ingestion.sync_requests import LeasedSyncRequests, RebuildRequests
from archivolt.ports.notes import Note
from archivolt.ports.retrieval import DocumentUpdate, IndexedPassage
from archivolt.retrieval.analysis import terms
from archivolt.tools.approvals import ApprovalService
from archivolt.tools.catalogue import native_tools
from archivolt.tools.confirmations import Confirmations
from archivolt.tools.pipeline import Proposed, ToolPipeline
from archivolt.tools.proposals import Proposals
from archivolt.tools.rate_limit import RateLimit
from archivolt.tools.registry import Registry
from archivolt.vaults.access import VaultService
from archivolt.vaults.changing import Changing
from archivolt.vaults.files import FileService
from archivolt.vaults.finding import Finding
from archivolt.vaults.move_steps import MoveStores
from archivolt.vaults.moving import MoveService
from archivolt.vaults.search import TextSearch
from tests.account_world import AccountWorld
from tests.builders import ALICE, a_vault, principal
from tests.fakes.catalogue import InMemoryCatalogue
from tests.fakes.clock import FrozenClock
from tests.fakes.code_check import CodeCheckerHere
from tests.fakes.confirmations import InMemoryConfirmations
from tests.fakes.erasures import InMemoryErasureQueue, InMemoryErasures
from tests.fakes.faults import FaultLine
from tests.fakes.federation import InMemoryMcpServers, ScriptedMcpClient
from tests.fakes.files import InMemoryFiles
from tests.fakes.governance import (
    InMemoryRates,
    InMemoryTenantSettings,
    InMemoryUserSettings,
    RecordingAudit,
    ReversibleBox,
)
from tests.fakes.index_runs import InMemoryIndexRuns
from tests.fakes.notes import InMemoryNotes
from tests.fakes.operations import InMemoryOperations
from tests.fakes.sync import InMemorySyncLeases, InMemorySyncQueue
from tests.fakes.tenancy import InMemoryTenants, ScriptedKeyCheck
from tests.fakes.text_index import InMemoryTextIndex
from tests.fakes.vaults import InMemoryVaults
from tests.fakes.web import ScriptedWeb
from tests.fakes.webhooks import InMemoryWebhooks, ScriptedReceiver

SIGNING_KEY = bytes(range(32))


class FulltextRetrieval:
    """A `Retrieval` that finds passages by their words alone, and says so in a notice."""

    def __init__(self, vaults: VaultService, search: TextSearch) -> None:
        self._vaults = vaults
        self._search = search

    def search(
        self, principal: Principal, query: SearchQuery, *, language: Language
    ) -> SearchResult:
        allowed = (
            [self._vaults.access(principal, query.vault)]
            if query.vault
            else self._vaults.accessible(principal)
        )
        found = self._search.search(allowed, query.q, limit=query.top_k)
        hits = [
            SearchHit(
                vault=hit.vault,
                path=hit.path,
                uri=hit.uri,
                heading=hit.heading,
                page=hit.page,
                excerpt=hit.excerpt.text,
                score=hit.score,
                explanation={"lexical": hit.score},
            )
            for hit in found.hits
            if not query.path or hit.path.startswith(query.path)
        ]
        return SearchResult(
            hits=hits, notices=[SearchNotice(code="words_only", message=f"words only ({language})")]
        )


class World:
    """The services over fakes; also the `Services` that the tools use.

    `line` goes through what changes go through: files, operations and confirmations.
    """

    def __init__(
        self, *, per_token: int = 600, per_tool: int = 300, per_tenant: int = 1_000_000
    ) -> None:
        self.line = line = FaultLine()
        self.clock = FrozenClock()
        self.directory = InMemoryVaults()
        self.store = line.across(InMemoryFiles(self.clock))
        self.catalogue = InMemoryCatalogue(self.clock)
        self.index = InMemoryTextIndex()
        self.notes = InMemoryNotes()
        self.operations = line.across(InMemoryOperations())
        self.audit = RecordingAudit()
        self.vaults = VaultService(self.directory, self.catalogue, self.clock)
        self.files = FileService(self.store)
        self.text_search = TextSearch(self.index, self.catalogue)
        self.finding = Finding(
            notes=self.notes,
            text_index=self.index,
            catalogue=self.catalogue,
            files=self.store,
            patterns=Re2Patterns(),
            clock=self.clock,
        )
        self.changing = Changing(
            files=self.store,
            catalogue=line.across(self.catalogue),
            operations=self.operations,
            notes=self.notes,
            patterns=Re2Patterns(),
            clock=self.clock,
        )
        self.moves = MoveService(
            MoveStores(
                files=self.store,
                catalogue=line.across(self.catalogue),
                notes=self.notes,
                operations=self.operations,
                clock=self.clock,
            )
        )
        self.retrieval = FulltextRetrieval(self.vaults, self.text_search)
        self.sync_queue = InMemorySyncQueue()
        self.sync = LeasedSyncRequests(
            line.across(InMemorySyncLeases(self.clock)), line.across(self.sync_queue)
        )
        self.runs = InMemoryIndexRuns()
        self.rebuilds = RebuildRequests(self.runs, line.across(self.sync_queue), self.clock)
        self.code = CodeCheckerHere()
        self.web_pages = self.web_search = ScriptedWeb()
        self.tenants = InMemoryTenants()
        self.erasures = InMemoryErasures()
        self.erasure_queue = InMemoryErasureQueue()
        self.key_check = ScriptedKeyCheck()
        self.admission = Admission(lambda: self.tenants, self.clock)
        self.rates = InMemoryRates()
        self.rate_limit = RateLimit(
            counter=self.rates,
            per_token=per_token,
            per_tool=per_tool,
            per_tenant=per_tenant,
            of_tenant=self.admission.calls_per_window,
        )
        self.confirmations = line.across(InMemoryConfirmations())
        self.tenant_settings = InMemoryTenantSettings()
        self.mcp_servers = InMemoryMcpServers()
        self.mcp_client = ScriptedMcpClient()
        self.mcp_accounts = AccountWorld(self.mcp_servers, self.clock)
        self.webhooks = InMemoryWebhooks()
        self.receiver = ScriptedReceiver()
        self.user_settings = InMemoryUserSettings()
        self.approvals = ApprovalService(lambda: self.proposals)
        self.pipeline = self.pipeline_of(self.tools())

    @property
    def proposals(self) -> Proposals:
        """What makes and opens proposals, over the store of now."""
        return Proposals(
            self.confirmations,
            JwtConfirmationTokens(lambda: SIGNING_KEY),
            ReversibleBox(),
            self.clock,
        )

    def tools(self) -> Registry:
        """The tools of this world."""
        return native_tools()

    def pipeline_of(
        self, tools: Registry, wait: Callable[[float], object] | None = None
    ) -> ToolPipeline:
        """Return a pipeline for some tools; waiting moves the clock, unless `wait` is given."""
        confirmations = Confirmations(
            self.proposals, wait=wait or (lambda seconds: self.clock.advance(seconds=seconds))
        )
        return ToolPipeline(
            tools,
            self,
            rate_limit=self.rate_limit,
            audit=self.audit,
            clock=self.clock,
            confirmations=lambda: confirmations,
            human=self.human,
        )

    @property
    def human(self) -> HumanConfirmation:
        """Which changes of agents take a person's yes."""
        return HumanConfirmation(
            self.tenant_settings,
            self.user_settings,
            "https://vault.example.com/approve",
            pages=True,
        )

    def count(self, principal: Principal, operation: str) -> None:
        """Hold somebody to the rate limit."""
        self.rate_limit.count(principal, operation, self.clock.now())

    def vault(self, name: str, *, owner: Principal | None = None) -> VaultRef:
        """Add a vault; its owner is Alice of Acme unless given."""
        owner = owner or principal(ALICE)
        vault = a_vault(name, vault_id=f"id-of-{owner.tenant}-{name}", tenant=owner.tenant)
        self.directory.create(vault, owner=owner.user)
        return vault.ref

    def share(self, vault: VaultRef, with_: Principal, role: VaultRole = VaultRole.READER) -> None:
        """Make somebody a member of a vault."""
        self.directory.set_member(vault, with_.user, role)

    def write(
        self,
        vault: VaultRef,
        path: str,
        text: str | bytes,
        *,
        page: int | None = None,
        tags: tuple[str, ...] = (),
    ) -> FileInfo:
        """Add a file, and index it when it is text."""
        data = text.encode() if isinstance(text, str) else text
        info = self.store.create(vault, VaultPath(path), data)
        sha256 = hashlib.sha256(data).hexdigest()
        generation = next_generation(self.clock.now(), sha256=sha256, previous=None)
        state = IndexState.PENDING if isinstance(text, str) else IndexState.UNSUPPORTED
        entry = CatalogueEntry(
            vault=vault,
            path=VaultPath(path),
            state=state,
            updated_at=self.clock.now(),
            generation=generation,
            etag=info.etag,
            size=info.size,
            title=name_of(path),
            tags=tags,
        )
        assert self.catalogue.advance(entry, previous=None)
        self._note(info, entry, text if isinstance(text, str) else None)
        if isinstance(text, str):
            passage = Passage(number=0, text=text, headings=("Top",), page=page)
            indexed = IndexedPassage(passage=passage, terms=terms(text))
            self.index.apply(
                vault,
                [DocumentUpdate(path=VaultPath(path), generation=generation, passages=[indexed])],
            )
        return info

    def _note(self, info: FileInfo, entry: CatalogueEntry, text: str | None) -> None:
        note = Note(
            vault=entry.vault,
            path=entry.path,
            generation=entry.generation,
            size=info.size,
            created=info.created or info.modified,
            modified=info.modified,
            title=entry.title,
            tags=entry.tags,
        )
        self.notes.put(note, text)

    def call(
        self,
        tool: str,
        arguments: Mapping[str, Any] | None = None,
        *,
        by: Principal | None = None,
        surface: Surface = Surface.IN_APP,
        language: Language = Language.EN,
    ) -> dict[str, Any]:
        """Call a tool as Alice, or as somebody else, and return its value."""
        return self.result(tool, arguments, by=by, surface=surface, language=language).value

    def result(
        self,
        tool: str,
        arguments: Mapping[str, Any] | None = None,
        *,
        by: Principal | None = None,
        surface: Surface = Surface.IN_APP,
        language: Language = Language.EN,
    ) -> ToolResult:
        """Call a tool as Alice, or as somebody else."""
        caller = by or principal(ALICE)
        return self.pipeline.call(caller, tool, arguments or {}, surface=surface, language=language)

    def propose(
        self,
        tool: str,
        arguments: Mapping[str, Any] | None = None,
        *,
        by: Principal | None = None,
        surface: Surface = Surface.IN_APP,
        language: Language = Language.EN,
    ) -> Proposed:
        """Propose a change as Alice, or as somebody else."""
        caller = by or principal(ALICE)
        return self.pipeline.propose(
            caller, tool, arguments or {}, surface=surface, language=language
        )

    def apply(
        self,
        proposed: Proposed,
        *,
        by: Principal | None = None,
        surface: Surface = Surface.IN_APP,
        language: Language = Language.EN,
    ) -> dict[str, Any]:
        """Confirm a change as Alice, or as somebody else, and return its value."""
        caller = by or principal(ALICE)
        return self.pipeline.apply(
            caller, proposed.tool, proposed.token, surface=surface, language=language
        ).value

    def change(
        self,
        tool: str,
        arguments: Mapping[str, Any] | None = None,
        *,
        by: Principal | None = None,
    ) -> dict[str, Any]:
        """Propose a change and confirm it at once."""
        return self.apply(self.propose(tool, arguments, by=by), by=by)
