"""The retention function: a schedule's event, one that only asks what would go, or erasures.

Erasures go on first, the audit log is sealed and what was exported of it long ago goes, and calls
that nobody settled are ended, each in at most its part of the time.
"""

from collections.abc import Callable, Mapping
from dataclasses import asdict
from datetime import timedelta
from typing import Any

from archivolt.domain.audit_limits import AUDIT_KEPT_DAYS
from archivolt.domain.erasure import parse_erasure
from archivolt.domain.errors import ArchivoltError
from archivolt.domain.ingestion import BatchOutcome
from archivolt.entrypoints.events.batches import (
    LambdaContext,
    TimeLeft,
    batch_response,
    parse_batch,
    time_left,
)
from archivolt.governance.audit_sealing import AuditSealing
from archivolt.governance.erasing import ErasureWorker
from archivolt.governance.lost_calls import LostCalls
from archivolt.governance.retention import Purge, RetentionSweep
from archivolt.observability import failure, logger, measured
from archivolt.ports.clock import Clock
from archivolt.ports.erasure import AgedExports


def build_retention(
    sweep: Callable[[], RetentionSweep],
    clock: Callable[[], Clock],
    sealing: Callable[[], AuditSealing],
    erasing: Callable[[], ErasureWorker],
    lost_calls: Callable[[], LostCalls],
    exports: Callable[[], AgedExports],
) -> Callable[[Mapping[str, Any], LambdaContext], dict[str, Any]]:
    """Return the handler; it answers with the counts, and with `{"dry_run": true}` only counts.

    A batch of erasures is answered with what failed; those that nobody came back for go on with
    the schedule's event.
    """

    def handler(event: Mapping[str, Any], context: LambdaContext) -> dict[str, Any]:
        left = time_left(context)
        if "Records" in event:
            return _erased(event, erasing(), left)
        dry = event.get("dry_run") is True
        beside: dict[str, Any] = {}
        if not dry:
            erasing().run_all(time_left=_part_of(left, 3))
            sealed = asdict(sealing().run(time_left=_part_of(left, 2)))
            ended = asdict(lost_calls().run(time_left=_part_of(left, 2)))
            beside = {f"audit_{name}": value for name, value in sealed.items()}
            beside["audit_exports_removed"] = _removed(exports(), clock(), _part_of(left, 2))
            beside |= {f"lost_calls_{name}": value for name, value in ended.items()}
        found = sweep().run(time_left=left, dry=dry)
        told = told_of(found, clock()) | beside
        if not dry:
            # The moment is no number, and a metric is nothing else.
            measured({name: value for name, value in told.items() if name != "oldest_kept"})
        return told | {"dry_run": dry}

    return handler


def _part_of(left: TimeLeft, parts: int) -> TimeLeft:
    """Return what tells how much is left of one of so many parts of the time there is now."""
    for_others = left() * (parts - 1) / parts
    return lambda: left() - for_others


def _removed(exports: AgedExports, clock: Clock, left: TimeLeft) -> int:
    """Remove what is exported of days that the log itself no longer has; tomorrow, if not now."""
    kept_from = clock.now().date() - timedelta(days=AUDIT_KEPT_DAYS - 1)
    try:
        return exports.remove(before=kept_from, time_left=left)
    except ArchivoltError as error:
        logger.error("old exports of the audit log stay", extra=failure(error))
        return 0


def _erased(event: Mapping[str, Any], worker: ErasureWorker, left: TimeLeft) -> dict[str, Any]:
    asked, invalid = parse_batch(event, parse_erasure)
    failed: list[str] = []
    for message_id, erasure_id in asked.items():
        try:
            worker.run(erasure_id, time_left=left)
        except Exception as error:  # noqa: BLE001  one erasure's trouble is not another's
            logger.error("an erasure did not go on", extra=failure(error))
            failed.append(message_id)
    return batch_response(BatchOutcome(failed=failed), invalid)


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
