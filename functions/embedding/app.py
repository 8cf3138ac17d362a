"""The embedding function: passages that wait for their vectors, in batches."""

from archivolt.bootstrap import container
from archivolt.entrypoints.events.embedding import build_embedding

handler = build_embedding(lambda: container().index.workers.embedding)
