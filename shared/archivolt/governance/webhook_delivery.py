"""Sending a message to a webhook, and noting what became of it.

Every attempt is signed anew: its moment is part of what is signed. Of an answer its status alone
counts. Whoever drives deliveries tries again by the name of the error.
"""

from collections.abc import Callable
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Final

from archivolt.domain.errors import ForbiddenError, UnavailableError
from archivolt.domain.identity import TenantId
from archivolt.domain.webhook import Webhook, WebhookMessage, signed_headers
from archivolt.domain.webhook_limits import WEBHOOK_FAILING_DAYS
from archivolt.observability import logger
from archivolt.ports.clock import Clock
from archivolt.ports.governance import SecretBox
from archivolt.ports.webhooks import WebhookAnswer, WebhookSender, WebhookStore

_TAKEN: Final = range(200, 300)
_GONE: Final = 410
_FAILING: Final = timedelta(days=WEBHOOK_FAILING_DAYS)


class WebhookPost:
    """Sends one message once.

    Args:
        store: Keeps webhooks.
        secrets: Gives what opens their secrets, when first needed.
        sender: Gives what sends, likewise.
        clock: The time.

    """

    def __init__(
        self,
        store: WebhookStore,
        secrets: Callable[[], SecretBox],
        sender: Callable[[], WebhookSender],
        clock: Clock,
    ) -> None:
        self._store = store
        self._secrets = secrets
        self._sender = sender
        self._clock = clock

    def send(self, tenant: TenantId, webhook: Webhook, message: WebhookMessage) -> Webhook:
        """Send a message and return the webhook as it stands then; without a problem it arrived.

        Raises:
            UnavailableError: `secret_unreadable`, or what became of it cannot be noted.

        """
        now = self._clock.now()
        headers = signed_headers(message, self._opened(tenant, webhook, now), now=now)
        answer = self._sender().send(webhook.url, headers, message.body)
        tried = replace(webhook, tried_at=now, last_message=message.id)
        noted = _with_answer(tried, answer, now)
        self._store.note(tenant, noted, turned_off=webhook.enabled and not noted.enabled)
        return noted

    def _opened(self, tenant: TenantId, webhook: Webhook, now: datetime) -> list[str]:
        both = webhook.both_until is not None and now < webhook.both_until
        sealed = [webhook.sealed, *([webhook.sealed_before] if both else [])]
        box, field = self._secrets(), webhook.secret_field
        return [box.open(each, tenant=tenant, field=field) for each in sealed]


class WebhookDelivery:
    """Delivers the messages that something durable drives.

    Args:
        store: Keeps webhooks.
        post: Sends.
        require: Checks that a tenant's work is to be done, as `Admission.require_tenant`.
        clock: The time.

    """

    def __init__(
        self,
        store: WebhookStore,
        post: WebhookPost,
        require: Callable[[TenantId], None],
        clock: Clock,
    ) -> None:
        self._store = store
        self._post = post
        self._require = require
        self._clock = clock

    def deliver(self, tenant: TenantId, webhook_id: str, message: WebhookMessage) -> None:
        """Send a message; nothing is sent to a webhook that is gone or does not want it any more.

        Raises:
            UnavailableError: `webhook_not_delivered`, `tenant_suspended`, `tenant_deleting`,
                `secret_unreadable`: try again later.

        """
        webhook = self._store.get(tenant, webhook_id)
        if webhook is None or not webhook.listens_to(message.event):
            return
        try:
            self._require(tenant)
        except ForbiddenError as error:
            # What is of whoever is suspended waits.
            raise UnavailableError(error.code) from error
        after = self._post.send(tenant, webhook, message)
        if after.problem and after.enabled:
            raise UnavailableError(after.problem, **after.problem_details)

    def give_up(self, tenant: TenantId, webhook_id: str, message: WebhookMessage) -> None:
        """Note that a message will not arrive; a webhook that took none for days is turned off.

        Raises:
            UnavailableError: It cannot be noted now.

        """
        logger.error("webhook message given up", extra={"message_id": message.id})
        webhook = self._store.get(tenant, webhook_id)
        if webhook is None:
            return
        since = webhook.failing_since
        off = since is not None and self._clock.now() - since >= _FAILING
        if off:
            details = {"webhook": webhook.id, "days": WEBHOOK_FAILING_DAYS}
            webhook = replace(webhook, problem="webhook_failing", problem_details=details)
        self._store.note(tenant, webhook, turned_off=off, missed=1)


def _with_answer(webhook: Webhook, answer: WebhookAnswer, now: datetime) -> Webhook:
    if answer.status in _TAKEN:
        return replace(
            webhook, problem="", problem_details={}, failing_since=None, delivered_at=now
        )
    since = webhook.failing_since or now
    if answer.status == _GONE:
        gone = replace(webhook, enabled=False, problem="webhook_gone", failing_since=since)
        return replace(gone, problem_details={"webhook": webhook.id})
    reason = answer.reason or "webhook_http_status"
    details = {"webhook": webhook.id, "reason": reason, "status": answer.status}
    return replace(
        webhook, problem="webhook_not_delivered", problem_details=details, failing_since=since
    )
