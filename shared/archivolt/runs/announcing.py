"""Telling the webhooks of a tenant what happens to its runs.

A run neither waits for that nor fails by it: what cannot be handed on is logged, and told again by
whoever finds the run over once more. The same thing told twice is one message (decision 90).
"""

from collections.abc import Callable
from datetime import datetime, timedelta

from archivolt.domain.run import Run, RunApproval
from archivolt.domain.run_limits import RUN_APPROVAL_SECONDS
from archivolt.domain.tool import JsonObject
from archivolt.domain.webhook import WebhookEvent, WebhookMessage, message_id
from archivolt.observability import failure, logger
from archivolt.ports.webhooks import WebhookDeliveries, WebhookStore


class RunAnnouncements:
    """Hands on what webhooks want to be told.

    Args:
        store: Gives what keeps webhooks, when first needed.
        deliveries: Gives what delivers, likewise.

    """

    def __init__(
        self, store: Callable[[], WebhookStore], deliveries: Callable[[], WebhookDeliveries]
    ) -> None:
        self._store = store
        self._deliveries = deliveries

    def ended(self, run: Run) -> None:
        """Tell that a run is over, and why."""
        data: JsonObject = {
            "run": run.id,
            "status": run.status.value,
            "reason": run.reason,
            "started_at": run.created_at.isoformat(),
        }
        self._tell(run, WebhookEvent.RUN_ENDED, "", run.updated_at, data)

    def approval_required(self, run: Run, approval: RunApproval) -> None:
        """Tell that a change of a run waits for a person."""
        asked_at = approval.expires_at - timedelta(seconds=RUN_APPROVAL_SECONDS)
        data: JsonObject = {
            "run": run.id,
            "approval": approval.id,
            "tool_name": approval.tool,
            "expires_at": approval.expires_at.isoformat(),
        }
        self._tell(run, WebhookEvent.APPROVAL_REQUIRED, approval.id, asked_at, data)

    def _tell(
        self, run: Run, event: WebhookEvent, what: str, at: datetime, data: JsonObject
    ) -> None:
        message = WebhookMessage(
            id=message_id(run.tenant, run.id, event.value, what), event=event, at=at, data=data
        )
        try:
            for webhook in self._store().of_tenant(run.tenant):
                if webhook.listens_to(event):
                    self._deliveries().start(run.tenant, webhook.id, message)
        except Exception as error:  # noqa: BLE001  a run is worth more than who is told of it
            logger.error("webhooks not told", extra={"run": run.id, **failure(error)})
