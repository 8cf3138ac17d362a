"""The retention function: once a day, what is over age is removed, and the audit log sealed."""

from archivolt.bootstrap import container
from archivolt.entrypoints.events.retention import build_retention

handler = build_retention(
    lambda: container().retention.sweep,
    lambda: container().clock,
    lambda: container().retention.audit.sealing,
)
