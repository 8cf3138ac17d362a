"""The retention function: a schedule's event, or one by hand that only asks what would go.

The audit log is sealed first, in at most half of the time.
"""

from collections.abc import Callable, Mapping
from dataclasses import asdict
from typing import Any

from archivolt.entrypoints.events.batches import LambdaContext, time_left
from archivolt.governance.audit_sealing import AuditSealing
from archivolt.governance.retention import Purge, RetentionSweep
from archivolt.observability import measured
from archivolt.ports.clock import Clock


def build_retention(
    sweep: Callable[[], RetentionSweep],
    clock: Callable[[], Clock],
    sealing: Callable[[], AuditSealing],
) -> Callable[[Mapping[str, Any], LambdaContext], dict[str, Any]]:
    """Return the handler; it answers with the counts, and with `{"dry_run": true}` only counts."""

    def handler(event: Mapping[str, Any], context: LambdaContext) -> dict[str, Any]:
        dry = event.get("dry_run") is True
        left = time_left(context)
        sealed: dict[str, Any] = {}
        if not dry:
            half = left() / 2
            done = asdict(sealing().run(time_left=lambda: left() - half))
            sealed = {f"audit_{name}": value for name, value in done.items()}
        found = sweep().run(time_left=left, dry=dry)
        told = told_of(found, clock()) | sealed
        if not dry:
            # The moment is no number, and a metric is nothing else.
            measured({name: value for name, value in told.items() if name != "oldest_kept"})
        return told | {"dry_run": dry}

    return handler


def told_of(found: Purge, clock: Clock) -> dict[str, Any]:
    """Return what a run did as JSON; the age of the oldest that is kept in whole days."""
    oldest = found.oldest_kept
    return {
        "due": found.due,
        "purged": found.purged,
        "failed": found.failed,
        "kept": found.kept,
        "tenants_failed": found.tenants_failed,
        "complete": found.complete,
        "oldest_kept": oldest.isoformat() if oldest else None,
        "oldest_kept_days": (clock.now() - oldest).days if oldest else 0,
    }
