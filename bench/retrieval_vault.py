"""A vault of one set's documents, in this process, with the product's own indexing and search.

Vectors are in the local stack's vector server, everything else in memory or in temporary files.
"""

import sys
import tempfile
import threading
from collections.abc import Callable, Generator, Mapping
from contextlib import contextmanager
from datetime import timedelta
from pathlib import Path
from typing import Final

from archivolt.adapters.qdrant.rest import QdrantRest
from archivolt.adapters.qdrant.vectors import QdrantVectors
from archivolt.adapters.sqlite.shard_cache import ShardCache
from archivolt.adapters.sqlite.shard_reader import ShardReader
from archivolt.adapters.sqlite.text_index import SqliteTextIndex
from archivolt.domain.errors import UnavailableError
from archivolt.domain.ingestion import ChangeKind, ObjectChange
from archivolt.domain.limits import MAX_LEXICAL_CACHE_BYTES, MAX_QUERY_CHARS, MAX_TOP_K
from archivolt.domain.messages import Language
from archivolt.domain.paths import VaultPath
from archivolt.domain.search import SearchMode, SearchQuery, SearchResult
from archivolt.ingestion.embed_passages import EmbedPassages
from archivolt.ingestion.index_change import IndexChanges
from archivolt.ports.ingestion import Extraction
from archivolt.ports.retrieval import Embedder
from archivolt.retrieval.breaker import Breaker
from archivolt.retrieval.filters import DocumentFilters
from archivolt.retrieval.hybrid import RetrievalService, SearchModels
from archivolt_local.vectors.collections import Collections
from archivolt_local.vectors.server import VectorServer
from bench.index_core import index_changes
from tests.builders import ALICE, a_vault, principal
from tests.fakes.catalogue import InMemoryCatalogue
from tests.fakes.clock import FrozenClock
from tests.fakes.embedding import InMemoryQueue, InMemoryVectorCache
from tests.fakes.files import InMemoryFiles
from tests.fakes.notes import InMemoryNotes
from tests.fakes.shards import InMemoryShards
from tests.fakes.vaults import InMemoryVaults

_KEY: Final = "bench"
_AT_ONCE: Final = 500
# The product begins no document with less than half of this left.
_TOO_LITTLE: Final = timedelta(minutes=1)
_TRIES: Final = 20
# What a search says that went without one of its parts.
_WITHOUT_A_PART: Final = frozenset({"meaning_unavailable", "words_unavailable"})

TimeLeft = Callable[[], timedelta]


class _AsItIs:
    """The `Extractor` of documents that are Markdown already."""

    def extract(self, data: bytes, *, name: str) -> Extraction:
        return Extraction(markdown=data.decode(), title=name)


class MeasuredVault:
    """One vault with everything that a search in it needs."""

    def __init__(self, vectors: QdrantVectors, embedder: Embedder, folder: Path) -> None:
        self._clock = FrozenClock()
        self._vault = a_vault("bench")
        self._files = InMemoryFiles(self._clock)
        self._catalogue = InMemoryCatalogue(self._clock)
        self._queue = InMemoryQueue()
        self._directory = InMemoryVaults()
        self._directory.create(self._vault, owner=ALICE)
        shards = InMemoryShards()
        cache = ShardCache(shards, folder, max_bytes=MAX_LEXICAL_CACHE_BYTES)
        self._text_index = SqliteTextIndex(shards, ShardReader(shards, cache))
        self._vectors = vectors
        self._embedder = embedder
        self._search = RetrievalService(
            directory=self._directory,
            catalogue=self._catalogue,
            text_index=self._text_index,
            vectors=vectors,
            clock=self._clock,
            filters=DocumentFilters(InMemoryNotes(), self._clock),
            models=SearchModels(breaker=Breaker(self._clock), embedder=lambda _: self._embedder),
        )
        self._ids: dict[str, str] = {}

    def fill(self, documents: Mapping[str, str], *, time_left: TimeLeft) -> bool:
        """Index and embed documents, by their ids; return whether the time was enough.

        Raises:
            RuntimeError: A document could not be indexed or embedded.

        """
        self._ids = {f"{number}.md": key for number, key in enumerate(documents)}
        changes = [self._put(path, documents[key]) for path, key in self._ids.items()]
        for start in range(0, len(changes), _AT_ONCE):
            some = changes[start : start + _AT_ONCE]
            if self._index_changes().apply(some, time_left=_plenty):
                raise RuntimeError("documents could not be indexed")
            if not self._embed(time_left):
                return False
            _tell(f"  {min(start + _AT_ONCE, len(changes))} of {len(changes)} documents")
        return True

    def ranking(self, question: str, mode: SearchMode) -> list[str]:
        """Return the ids of the documents found, each before those that say the same.

        Of a question that is longer than a search may be, its beginning is asked.
        """
        found = self._found(question[:MAX_QUERY_CHARS], mode)
        uris = [uri for hit in found.hits for uri in (hit.uri.partition("#")[0], *hit.also_in)]
        return [self._ids[name] for name in dict.fromkeys(uri.rpartition("/")[2] for uri in uris)]

    def _found(self, question: str, mode: SearchMode) -> SearchResult:
        """Return what the search finds with all its parts: on a busy machine one can be too slow.

        Raises:
            UnavailableError: A part did not answer, however often.

        """
        query = SearchQuery(q=question, mode=mode, top_k=MAX_TOP_K, threshold=-1.0)
        for left in reversed(range(_TRIES)):
            try:
                found = self._search.search(principal(ALICE), query, language=Language.EN)
            except UnavailableError:
                if not left:
                    raise
            else:
                if not _WITHOUT_A_PART & {each.code for each in found.notices}:
                    return found
            # Then it is not asked for a while, on a clock that stands still.
            self._clock.advance(hours=1)
        raise UnavailableError("unavailable")

    def _put(self, path: str, text: str) -> ObjectChange:
        data = text.encode(errors="replace")
        info = self._files.create(self._vault.ref, VaultPath(path), data)
        return ObjectChange(
            kind=ChangeKind.CREATED,
            vault=self._vault.ref,
            path=info.path,
            sequencer=None,
            size=info.size,
        )

    def _index_changes(self) -> IndexChanges:
        return index_changes(
            _AsItIs(),
            files=self._files,
            catalogue=self._catalogue,
            text_index=self._text_index,
            queue=self._queue,
            clock=self._clock,
        )

    def _embed(self, time_left: TimeLeft) -> bool:
        use_case = EmbedPassages(
            catalogue=self._catalogue,
            text_index=self._text_index,
            vectors=self._vectors,
            cache=InMemoryVectorCache(),
            embedder=self._embedder,
            directory=self._directory,
            queue=self._queue,
        )
        # A document that takes longer than there is time comes back to the queue.
        while jobs := {str(number): job for number, job in enumerate(self._queue.take())}:
            if use_case.run(jobs, time_left=time_left).failed:
                if time_left() < _TOO_LITTLE:
                    return False
                raise RuntimeError("documents could not be embedded")
        return True


def _plenty() -> timedelta:
    return timedelta(hours=1)


@contextmanager
def measured_vault(embedder: Embedder) -> Generator[MeasuredVault]:
    """Yield an empty vault."""
    with tempfile.TemporaryDirectory() as name:
        collections = Collections(Path(name) / "vectors")
        server = VectorServer(0, collections, _KEY)
        thread = threading.Thread(target=server.serve_forever, daemon=True)
        thread.start()
        rest = QdrantRest(f"http://127.0.0.1:{server.server_address[1]}", _KEY)
        try:
            vectors = QdrantVectors(rest, model=embedder.model, dimension=embedder.dimension)
            yield MeasuredVault(vectors, embedder, Path(name) / "words")
        finally:
            rest.close()
            server.shutdown()
            server.server_close()
            collections.close()


def _tell(message: str) -> None:
    print(message, file=sys.stderr, flush=True)
