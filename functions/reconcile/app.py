"""The reconcile function: documents and index are compared, once a day and when a user asks."""

from archivolt.bootstrap import container
from archivolt.entrypoints.events.reconcile import build_reconcile

handler = build_reconcile(
    lambda: container().index.workers.reconcile,
    lambda: container().index.workers.sweep,
    lambda: container().index.workers.sync,
)
