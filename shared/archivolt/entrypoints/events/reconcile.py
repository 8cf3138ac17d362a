"""The reconcile function: a schedule's event, whose content does not matter."""

from collections.abc import Callable, Mapping
from dataclasses import asdict
from typing import Any

from archivolt.entrypoints.events.batches import LambdaContext, time_left
from archivolt.ingestion.reconcile import Reconcile


def build_reconcile(
    reconcile: Callable[[], Reconcile],
) -> Callable[[Mapping[str, Any], LambdaContext], dict[str, Any]]:
    """Return the handler; it answers with the counts."""

    def handler(event: Mapping[str, Any], context: LambdaContext) -> dict[str, Any]:
        del event
        return asdict(reconcile().run(time_left=time_left(context)))

    return handler
