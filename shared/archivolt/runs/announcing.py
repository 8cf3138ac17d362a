"""Telling the webhooks of a tenant what happens to its runs.

Each webhook is told alone, whatever becomes of the others. A run does not fail by it: what cannot
be handed on is logged, and of an end that is kept whoever tries again is asked to tell it again.
The same thing told twice is one message (decision 90).
"""

from collections.abc import Callable
from datetime import datetime, timedelta

from archivolt.domain.errors import UnavailableError
from archivolt.domain.run import Run, RunApproval
from archivolt.domain.run_limits import RUN_APPROVAL_SECONDS
from archivolt.domain.tool import JsonObject
from archivolt.domain.webhook import Webhook, WebhookEvent, WebhookMessage, message_id
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

    def ended(self, run: Run, *, again: bool = False) -> None:
        """Tell that a run is over, and why; `again`: the caller is called again if that fails.

        Raises:
            UnavailableError: Not all were told; for `again` alone.

        """
        data: JsonObject = {
            "run": run.id,
            "status": run.status.value,
            "reason": run.reason,
            "started_at": run.created_at.isoformat(),
        }
        self._tell(run, WebhookEvent.RUN_ENDED, "", run.updated_at, data, again=again)

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
        self,
        run: Run,
        event: WebhookEvent,
        what: str,
        at: datetime,
        data: JsonObject,
        *,
        again: bool = False,
    ) -> None:
        message = WebhookMessage(
            id=message_id(run.tenant, run.id, event.value, what), event=event, at=at, data=data
        )
        try:
            told = [self._handed_on(run, each, message) for each in self._listening(run, event)]
        except Exception as error:  # noqa: BLE001  a run is worth more than who is told of it
            told = [_not_told(run, error)]
        if again and not all(told):
            raise UnavailableError("unavailable")

    def _listening(self, run: Run, event: WebhookEvent) -> list[Webhook]:
        return [each for each in self._store().of_tenant(run.tenant) if each.listens_to(event)]

    def _handed_on(self, run: Run, webhook: Webhook, message: WebhookMessage) -> bool:
        """Hand a message on; tell whether nothing is gained by another try."""
        try:
            self._deliveries().start(run.tenant, webhook.id, message)
        except Exception as error:  # noqa: BLE001  as `_tell`; others are told all the same
            return _not_told(run, error)
        return True


def _not_told(run: Run, error: Exception) -> bool:
    """Log it; tell whether nothing is gained by another try."""
    logger.error("webhooks not told", extra={"run": run.id, **failure(error)})
    return not isinstance(error, UnavailableError)
