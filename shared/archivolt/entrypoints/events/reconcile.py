"""The reconcile function: a schedule's event, whose content does not matter."""

from collections.abc import Callable, Mapping
from dataclasses import asdict
from typing import Any

from archivolt.entrypoints.events.batches import LambdaContext, time_left
from archivolt.ingestion.reconcile import Reconcile
from archivolt.vaults.sweep import OperationSweep


def build_reconcile(
    reconcile: Callable[[], Reconcile], sweep: Callable[[], OperationSweep]
) -> Callable[[Mapping[str, Any], LambdaContext], dict[str, Any]]:
    """Return the handler; it answers with the counts.

    What was left half done in the vaults is finished first, in at most half of the time: the index
    is then compared with what that leaves.
    """

    def handler(event: Mapping[str, Any], context: LambdaContext) -> dict[str, Any]:
        del event
        left = time_left(context)
        half = left() / 2
        operations = sweep().run(time_left=lambda: left() - half)
        return asdict(reconcile().run(time_left=left)) | {"operations": asdict(operations)}

    return handler
