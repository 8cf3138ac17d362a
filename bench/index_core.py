"""The product's own indexing over the stores that a benchmark brings."""

from archivolt.ingestion.documents import DocumentReader
from archivolt.ingestion.index_change import IndexChanges
from archivolt.ingestion.index_plan import IndexPlanner
from archivolt.ingestion.index_write import IndexWriter
from archivolt.ports.catalogue import Catalogue
from archivolt.ports.clock import Clock
from archivolt.ports.files import FileStore
from archivolt.ports.ingestion import EmbeddingQueue, Extractor
from archivolt.ports.retrieval import TextIndex
from tests.splitting import product_split


def index_changes(
    extractor: Extractor,
    *,
    files: FileStore,
    catalogue: Catalogue,
    text_index: TextIndex,
    queue: EmbeddingQueue,
    clock: Clock,
) -> IndexChanges:
    """Return the use case of the indexing function over these stores."""
    planner = IndexPlanner(
        files=files,
        catalogue=catalogue,
        text_index=text_index,
        reader=DocumentReader(extractor, product_split, recipe="bench"),
        clock=clock,
    )
    writer = IndexWriter(catalogue=catalogue, text_index=text_index, queue=queue)
    return IndexChanges(planner, writer, clock)
