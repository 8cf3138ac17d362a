"""The reconcile function: once a day, documents and index are compared."""

from archivolt.bootstrap import container
from archivolt.entrypoints.events.reconcile import build_reconcile

handler = build_reconcile(
    lambda: container().index.reconcile, lambda: container().tools.documents.sweep
)
