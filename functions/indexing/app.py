"""The indexing function: what S3 says has changed, in batches."""

from archivolt.bootstrap import container
from archivolt.entrypoints.events.indexing import build_indexing

handler = build_indexing(lambda: container().index.workers.indexing)
