"""The reconcile function: a schedule's event, whose content does not matter, or users' requests."""

from collections.abc import Callable, Mapping
from dataclasses import asdict
from typing import Any

from archivolt.domain.sync import SyncJob, parse_sync
from archivolt.entrypoints.events.batches import (
    LambdaContext,
    TimeLeft,
    batch_response,
    parse_batch,
    time_left,
)
from archivolt.ingestion.every_vault import EveryVault
from archivolt.ingestion.per_tenant import BatchWorker
from archivolt.vaults.sweep import OperationSweep


def build_reconcile(
    reconcile: Callable[[], EveryVault],
    sweep: Callable[[], OperationSweep],
    sync: Callable[[], BatchWorker[SyncJob]],
) -> Callable[[Mapping[str, Any], LambdaContext], dict[str, Any]]:
    """Return the handler; it answers a schedule with the counts, and a batch with what failed.

    What was left half done in the vaults is finished first, in at most half of the time: the index
    is then compared with what that leaves.
    """

    def everything(left: TimeLeft) -> dict[str, Any]:
        half = left() / 2
        operations = sweep().run(time_left=lambda: left() - half)
        return asdict(reconcile().run(time_left=left)) | {"operations": asdict(operations)}

    def handler(event: Mapping[str, Any], context: LambdaContext) -> dict[str, Any]:
        left = time_left(context)
        if "Records" not in event:
            return everything(left)
        jobs, invalid = parse_batch(event, parse_sync)
        return batch_response(sync().run(jobs, time_left=left), invalid)

    return handler
