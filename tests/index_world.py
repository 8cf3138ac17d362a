"""A vault, its index and the workers that keep it, on fakes; events are delivered by hand."""

from datetime import timedelta
from typing import TYPE_CHECKING

from archivolt.domain.identity import UserId
from archivolt.domain.ingestion import (
    BatchOutcome,
    CatalogueEntry,
    ChangeKind,
    IndexState,
    ObjectChange,
    membership_job,
    sequencer,
)
from archivolt.domain.messages import Language
from archivolt.domain.paths import VaultPath
from archivolt.domain.search import SearchMode, SearchQuery, SearchResult
from archivolt.domain.vault import VaultRef, VaultRole
from archivolt.ingestion.documents import DocumentReader
from archivolt.ingestion.embed_passages import EmbedPassages
from archivolt.ingestion.every_vault import EveryVault
from archivolt.ingestion.index_change import IndexChanges
from archivolt.ingestion.index_plan import IndexPlanner
from archivolt.ingestion.index_write import IndexWriter
from archivolt.ingestion.moved_readings import MovedReadings
from archivolt.ingestion.reconcile import IndexStores, Reconcile, Reconciliation
from archivolt.ingestion.vault_comparison import Recipe
from archivolt.retrieval.breaker import Breaker
from archivolt.retrieval.filters import DocumentFilters
from archivolt.retrieval.hybrid import RetrievalService, SearchModels
from archivolt.vaults.search import TextSearch
from tests.builders import ALICE, a_vault, principal
from tests.fakes.catalogue import InMemoryCatalogue
from tests.fakes.clock import FrozenClock
from tests.fakes.embedding import InMemoryQueue, InMemoryVectorCache
from tests.fakes.extraction import ScriptedExtractor
from tests.fakes.faults import Death, FaultLine
from tests.fakes.files import InMemoryFiles
from tests.fakes.index_runs import InMemoryIndexRuns
from tests.fakes.notes import InMemoryNotes
from tests.fakes.text_index import InMemoryTextIndex
from tests.fakes.vaults import InMemoryVaults
from tests.fakes.vectors import InMemoryVectors, WordHashEmbedder
from tests.splitting import product_split

if TYPE_CHECKING:
    from archivolt.ports.retrieval import Reranker, VectorStore
    from archivolt.retrieval.meaning import DenseIndex

RECIPE = "plain/1"
AN_HOUR = timedelta(hours=1)


def plenty() -> timedelta:
    """Say that there is time."""
    return AN_HOUR


class IndexWorld:
    """Everything between a change of a file and its being found."""

    def __init__(self) -> None:
        self.clock = FrozenClock()
        self.breaker = Breaker(self.clock)
        self.line = FaultLine()
        self.files = InMemoryFiles(self.clock)
        self.catalogue = InMemoryCatalogue(self.clock)
        self.runs = InMemoryIndexRuns()
        self.notes = InMemoryNotes()
        self.text_index = InMemoryTextIndex(self.notes)
        self.vectors = InMemoryVectors()
        # What searches ask in place of them.
        self.searched: VectorStore | None = None
        self.cache = InMemoryVectorCache()
        self.queue = InMemoryQueue()
        self.directory = InMemoryVaults()
        self.embedder = WordHashEmbedder()
        self.former: DenseIndex | None = None
        self.reranker: Reranker | None = None
        self.extractor = ScriptedExtractor()
        self.vault = self.new_vault("notes")
        self._sequence = 0
        self._messages = 0

    def new_vault(self, name: str, *, owner: UserId = ALICE) -> VaultRef:
        """Add a vault."""
        vault = a_vault(name)
        self.directory.create(vault, owner=owner)
        return vault.ref

    # What happens to files; each returns the event that S3 would send.

    def write(
        self,
        path: str,
        content: str | bytes,
        *,
        vault: VaultRef | None = None,
        bulk: bool = False,
    ) -> ObjectChange:
        """Create or overwrite a file."""
        self.clock.advance(seconds=1)
        vault = vault or self.vault
        data = content.encode() if isinstance(content, str) else content
        current = self.files.stored(vault, VaultPath(path))[-1:]
        if current and current[0].data is not None:
            etag = current[0].info.etag
            info = self.files.replace(vault, VaultPath(path), data, expected=etag)
        else:
            info = self.files.create(vault, VaultPath(path), data, bulk=bulk)
        return ObjectChange(
            kind=ChangeKind.CREATED,
            vault=vault,
            path=VaultPath(path),
            sequencer=sequencer(self._next()),
            version=info.version,
            etag=info.etag,
            size=info.size,
        )

    def delete(self, path: str, *, vault: VaultRef | None = None) -> ObjectChange:
        """Delete a file."""
        self.clock.advance(seconds=1)
        vault = vault or self.vault
        etag = self.files.head(vault, VaultPath(path)).etag
        self.files.delete(vault, VaultPath(path), expected=etag)
        return self.deletion(path, vault=vault)

    def deletion(self, path: str, *, vault: VaultRef | None = None) -> ObjectChange:
        """Return the event of a deletion, whether anything is deleted or not."""
        return ObjectChange(
            kind=ChangeKind.DELETED,
            vault=vault or self.vault,
            path=VaultPath(path),
            sequencer=sequencer(self._next()),
        )

    # What the functions do.

    def deliver(self, *changes: ObjectChange) -> BatchOutcome:
        """Deliver events as one batch of messages, one event each."""
        messages = {f"m{number}": [change] for number, change in enumerate(changes)}
        return self.index_changes.run(messages, time_left=plenty)

    def embed(self) -> None:
        """Work off the queue until it is empty; what fails stays there."""
        while jobs := self.queue.take():
            numbered = {str(number): job for number, job in enumerate(jobs)}
            try:
                outcome = self.embed_passages.run(numbered, time_left=plenty)
            except Death:
                self.queue.jobs += jobs
                raise
            if outcome.failed:
                self.queue.send([numbered[message_id] for message_id in outcome.failed])
                return

    def settle(self, *changes: ObjectChange) -> None:
        """Deliver events and work off what follows."""
        assert not self.deliver(*changes).failed
        self.embed()

    def reconciled(self) -> Reconciliation:
        """Run a reconciliation and work off what follows."""
        found = self.every_vault.run(time_left=plenty)
        self.embed()
        return found

    def join(self, user: UserId, *, vault: VaultRef | None = None) -> None:
        """Make a user a member, and work off what follows."""
        vault = vault or self.vault
        self.directory.set_member(vault, user, VaultRole.READER)
        self.queue.send([membership_job(vault, user)])
        self.embed()

    def leave(self, user: UserId, *, vault: VaultRef | None = None) -> None:
        """End a membership, and work off what follows."""
        vault = vault or self.vault
        self.directory.remove_member(vault, user)
        self.queue.send([membership_job(vault, user)])
        self.embed()

    # What is to be seen.

    def search(
        self,
        q: str,
        *,
        user: UserId = ALICE,
        mode: SearchMode = SearchMode.HYBRID,
        top_k: int = 20,
    ) -> SearchResult:
        """Search as a user, in everything they may see."""
        query = SearchQuery(q=q, mode=mode, top_k=top_k)
        return self.retrieval.search(principal(user), query, language=Language.EN)

    def found(
        self, q: str, *, user: UserId = ALICE, mode: SearchMode = SearchMode.HYBRID
    ) -> list[str]:
        """Return the paths found, best first, once for each passage."""
        return [hit.path for hit in self.search(q, user=user, mode=mode).hits]

    def entry(self, path: str) -> CatalogueEntry:
        """Return what the catalogue says of a document."""
        entry = self.catalogue.get(self.vault, VaultPath(path))
        assert entry is not None
        return entry

    def state(self, path: str) -> IndexState:
        """Return the state of a document."""
        return self.entry(path).state

    def points(self, path: str, *, user: UserId = ALICE) -> int:
        """Return how many vectors a user's collection holds of a document, of any generation."""
        held = self.vectors.held(self.vault.tenant, user)
        return sum(point[1] == path for point in held)

    # The workers, made anew for each invocation; the fault line runs through all they use.

    @property
    def index_changes(self) -> IndexChanges:
        """The use case of the indexing function."""
        across = self.line.across
        reader = DocumentReader(
            across(self.extractor),
            product_split,
            recipe=RECIPE,
        )
        planner = IndexPlanner(
            files=across(self.files),
            catalogue=across(self.catalogue),
            text_index=across(self.text_index),
            reader=reader,
            clock=self.clock,
            moved=MovedReadings(across(self.catalogue), across(self.text_index), self.notes),
        )
        writer = IndexWriter(
            catalogue=across(self.catalogue),
            text_index=across(self.text_index),
            queue=across(self.queue),
        )
        return IndexChanges(planner, writer, self.clock)

    @property
    def embed_passages(self) -> EmbedPassages:
        """The use case of the embedding function."""
        across = self.line.across
        return EmbedPassages(
            catalogue=across(self.catalogue),
            text_index=across(self.text_index),
            vectors=across(self.vectors),
            cache=across(self.cache),
            embedder=across(self.embedder),
            directory=across(self.directory),
            queue=across(self.queue),
        )

    @property
    def reconcile(self) -> Reconcile:
        """The use case of the reconcile function."""
        across = self.line.across
        return Reconcile(
            files=across(self.files),
            stores=IndexStores(
                catalogue=across(self.catalogue),
                runs=self.runs,
                text_index=across(self.text_index),
                cache=across(self.cache),
                queue=across(self.queue),
            ),
            index_changes=self.index_changes,
            today=Recipe(recipe=RECIPE, model=self.embedder.model),
            clock=self.clock,
        )

    @property
    def every_vault(self) -> EveryVault:
        """What the reconcile function does every day."""
        return EveryVault(self.directory, lambda _: self.reconcile, self.clock)

    @property
    def retrieval(self) -> RetrievalService:
        """The search."""
        return RetrievalService(
            directory=self.directory,
            catalogue=self.catalogue,
            text_index=self.text_index,
            vectors=self.searched or self.line.across(self.vectors),
            clock=self.clock,
            filters=DocumentFilters(self.notes, self.clock),
            models=SearchModels(
                breaker=self.breaker,
                embedder=lambda _: self.embedder,
                former=lambda _: self.former,
                reranker=lambda _: self.reranker,
            ),
        )

    @property
    def text_search(self) -> TextSearch:
        """The search by words alone."""
        return TextSearch(self.text_index, self.catalogue)

    def _next(self) -> str:
        self._sequence += 1
        return f"{self._sequence:018X}"
