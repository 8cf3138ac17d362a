"""The retention function: what is over age or to be erased goes, what is over ends."""

from archivolt.bootstrap import container
from archivolt.entrypoints.events.retention import build_retention

handler = build_retention(
    lambda: container().retention.sweep,
    lambda: container().clock,
    lambda: container().retention.audit.sealing,
    lambda: container().retention.erasing,
    lambda: container().retention.lost_calls,
    lambda: container().retention.aged_exports,
)
