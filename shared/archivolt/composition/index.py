"""What keeps the index and what searches it, each built on first use."""

from dataclasses import replace
from functools import cached_property, partial
from pathlib import Path
from typing import TYPE_CHECKING, Final

from archivolt.domain.limits import (
    CHUNK_OVERLAP_TOKENS,
    CHUNK_TOKENS,
    MAX_LEXICAL_CACHE_BYTES,
)

if TYPE_CHECKING:
    from archivolt.adapters.ocr.engines import EngineChoice
    from archivolt.adapters.qdrant.rest import QdrantRest
    from archivolt.adapters.qdrant.vectors import QdrantVectors
    from archivolt.adapters.sqlite.shard_reader import ShardReader
    from archivolt.bootstrap import Container
    from archivolt.composition.embedding import EmbeddingModels
    from archivolt.composition.sync import SyncContainer
    from archivolt.composition.workers import WorkersContainer
    from archivolt.domain.identity import TenantId
    from archivolt.ingestion.announced import IndexAnnounced
    from archivolt.ingestion.documents import DocumentReader
    from archivolt.ingestion.embed_passages import EmbedPassages
    from archivolt.ingestion.index_change import IndexChanges
    from archivolt.ingestion.reconcile import Reconcile
    from archivolt.ingestion.stray_changes import StrayChanges
    from archivolt.ports.ingestion import EmbeddingQueue, Extractor, VectorCache
    from archivolt.ports.notes import NoteIndex
    from archivolt.ports.patterns import PatternCompiler
    from archivolt.ports.retrieval import Embedder, ShardStore, TextIndex, VectorStore
    from archivolt.retrieval.hybrid import RetrievalService
    from archivolt.retrieval.meaning import DenseIndex

_LEXICAL_FOLDER: Final = "archivolt-lexical"


class IndexContainer:
    """Builds and keeps the collaborators of the index."""

    def __init__(self, container: "Container") -> None:
        self._on = container

    @cached_property
    def text_index(self) -> "TextIndex":
        """Words."""
        from archivolt.adapters.sqlite.text_index import SqliteTextIndex

        return SqliteTextIndex(self._shards, self._shard_reader)

    @cached_property
    def note_index(self) -> "NoteIndex":
        """Notes by what they say of themselves."""
        from archivolt.adapters.sqlite.note_index import SqliteNoteIndex

        return SqliteNoteIndex(self._shard_reader, lambda: self.patterns, self._on.clock)

    @cached_property
    def _shards(self) -> "ShardStore":
        from archivolt.adapters.s3.shards import S3Shards

        return S3Shards(self._on.aws.s3, self._on.settings.required("documents_bucket"))

    @cached_property
    def _shard_reader(self) -> "ShardReader":
        from archivolt.adapters.sqlite.shard_cache import ShardCache
        from archivolt.adapters.sqlite.shard_reader import ShardReader

        folder = Path(self._on.settings.tmpdir) / _LEXICAL_FOLDER
        cache = ShardCache(self._shards, folder, max_bytes=MAX_LEXICAL_CACHE_BYTES)
        return ShardReader(self._shards, cache)

    @cached_property
    def models(self) -> "EmbeddingModels":
        """What makes vectors."""
        from archivolt.composition.embedding import EmbeddingModels

        return EmbeddingModels(self._on)

    @property
    def embedder(self) -> "Embedder":
        """The model that makes vectors."""
        return self.models.present

    @cached_property
    def former_index(self) -> "DenseIndex | None":
        """The vectors of the model before this one, where the deployment names it."""
        from archivolt.retrieval.meaning import DenseIndex

        embedder = self.models.former
        if embedder is None:
            return None
        return DenseIndex(embedder=embedder, vectors=self._vectors_of(embedder))

    def former_index_for(self, tenant: "TenantId") -> "DenseIndex | None":
        """Return the same, asked with the key of a tenant."""
        former = self.former_index
        return replace(former, embedder=self.models.former_for(tenant)) if former else None

    def close(self) -> None:
        """Let the connections to the vector store go."""
        self.vector_server.close()

    @cached_property
    def vector_store(self) -> "VectorStore":
        """Vectors."""
        former = self.former_index
        return self._vectors_of(
            self.embedder, former=self._vectors_of(former.embedder) if former else None
        )

    def _vectors_of(
        self, embedder: "Embedder", *, former: "QdrantVectors | None" = None
    ) -> "QdrantVectors":
        from archivolt.adapters.qdrant.vectors import QdrantVectors

        return QdrantVectors(
            self.vector_server,
            model=embedder.model,
            dimension=embedder.dimension,
            former=former,
        )

    @cached_property
    def vector_cache(self) -> "VectorCache":
        """Vectors by the text they were made of."""
        from archivolt.adapters.dynamodb.vector_places import DynamoVectorPlaces
        from archivolt.adapters.s3.vector_cache import S3VectorCache

        places = DynamoVectorPlaces(self._on.table("catalogue_table"))
        return S3VectorCache(
            self._on.aws.s3, self._on.settings.required("documents_bucket"), places
        )

    @cached_property
    def embedding_queue(self) -> "EmbeddingQueue":
        """Embedding jobs."""
        from archivolt.adapters.sqs.embedding_queue import SqsEmbeddingQueue

        return SqsEmbeddingQueue(
            self._on.aws.sqs,
            fresh_url=self._on.settings.required("embedding_queue_url"),
            backfill_url=self._on.settings.required("backfill_queue_url"),
        )

    @cached_property
    def patterns(self) -> "PatternCompiler":
        """Literals and regular expressions that are searched for."""
        from archivolt.adapters.re2.patterns import Re2Patterns

        return Re2Patterns()

    @cached_property
    def extractor(self) -> "Extractor":
        """The text of documents."""
        from archivolt.composition.extraction import extractor_of_all_formats, tika_reader

        settings = self._on.settings
        return extractor_of_all_formats(
            self._ocr,
            other=tika_reader(settings.tika_url) if settings.tika_url else None,
            other_first=settings.tika_formats == "all",
        )

    @cached_property
    def _ocr(self) -> "EngineChoice | None":
        from archivolt.adapters.ocr.engines import find_engine

        settings = self._on.settings
        return find_engine(settings.ocr_engine or "auto", data=settings.ocr_models)

    @cached_property
    def reader(self) -> "DocumentReader":
        """From bytes to passages."""
        from archivolt.composition.extraction import extraction_recipe
        from archivolt.composition.tokens import token_counter
        from archivolt.ingestion.documents import DocumentReader
        from archivolt.ingestion.splitting import SPLITTER_VERSION, split
        from archivolt.retrieval.analysis import ANALYSIS_VERSION

        settings = self._on.settings
        count = token_counter(settings.embedding_tokenizer)
        extraction = extraction_recipe(
            self._ocr, tika_url=settings.tika_url, tika_formats=settings.tika_formats
        )
        return DocumentReader(
            self.extractor,
            partial(split, budget=CHUNK_TOKENS, count=count, overlap=CHUNK_OVERLAP_TOKENS),
            recipe=(
                f"extraction/{extraction} split/{SPLITTER_VERSION}/{CHUNK_TOKENS}{count.id}"
                f" analysis/{ANALYSIS_VERSION}"
            ),
        )

    @cached_property
    def index_changes(self) -> "IndexChanges":
        """What brings the index to what is in the store."""
        from archivolt.ingestion.index_change import IndexChanges
        from archivolt.ingestion.index_plan import IndexPlanner
        from archivolt.ingestion.index_write import IndexWriter
        from archivolt.ingestion.moved_readings import MovedReadings

        planner = IndexPlanner(
            files=self._on.file_store,
            catalogue=self._on.catalogue,
            text_index=self.text_index,
            reader=self.reader,
            clock=self._on.clock,
            moved=MovedReadings(self._on.catalogue, self.text_index, self.note_index),
        )
        writer = IndexWriter(
            catalogue=self._on.catalogue, text_index=self.text_index, queue=self.embedding_queue
        )
        return IndexChanges(planner, writer, self._on.clock)

    @cached_property
    def stray_changes(self) -> "StrayChanges":
        """What sees to changes that fit no vault."""
        from archivolt.ingestion.stray_changes import StrayChanges

        return StrayChanges(self._on.vault_directory, self.sync.requests, self._on.clock)

    @property
    def index_announced(self) -> "IndexAnnounced":
        """The use case of the indexing function."""
        from archivolt.ingestion.announced import IndexAnnounced

        return IndexAnnounced(self.stray_changes, self.index_changes)

    @cached_property
    def embed_passages(self) -> "EmbedPassages":
        """The use case of the embedding function."""
        from archivolt.ingestion.embed_passages import EmbedPassages

        return EmbedPassages(
            catalogue=self._on.catalogue,
            text_index=self.text_index,
            vectors=self.vector_store,
            cache=self.vector_cache,
            embedder=self.embedder,
            directory=self._on.vault_directory,
            queue=self.embedding_queue,
        )

    @cached_property
    def reconcile(self) -> "Reconcile":
        """The use case of the reconcile function."""
        from archivolt.ingestion.reconcile import IndexStores, Reconcile
        from archivolt.ingestion.vault_comparison import Recipe

        return Reconcile(
            files=self._on.file_store,
            stores=IndexStores(
                catalogue=self._on.catalogue,
                runs=self.sync.runs,
                text_index=self.text_index,
                cache=self.vector_cache,
                queue=self.embedding_queue,
            ),
            index_changes=self.index_changes,
            today=Recipe(recipe=self.reader.recipe, model=self.embedder.model),
            clock=self._on.clock,
        )

    @cached_property
    def workers(self) -> "WorkersContainer":
        """What keeps the index of every tenant."""
        from archivolt.composition.workers import WorkersContainer

        return WorkersContainer(self._on)

    @cached_property
    def sync(self) -> "SyncContainer":
        """Synchronisations that users ask for."""
        from archivolt.composition.sync import SyncContainer

        return SyncContainer(self._on)

    @cached_property
    def retrieval(self) -> "RetrievalService":
        """Search by meaning and by words."""
        from archivolt.composition.search import retrieval_service

        return retrieval_service(self._on)

    @cached_property
    def vector_server(self) -> "QdrantRest":
        """The connection to the vector store."""
        from archivolt.adapters.qdrant.rest import QdrantRest

        settings = self._on.settings
        return QdrantRest(settings.required("qdrant_url"), settings.qdrant_api_key)
