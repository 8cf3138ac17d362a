"""Webhooks: where they are kept, what sends to them, what an administrator does with them."""

from functools import cached_property
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import httpx2

    from archivolt.adapters.http.addresses import OutboundRules
    from archivolt.bootstrap import Container
    from archivolt.governance.webhook_delivery import WebhookDelivery, WebhookPost
    from archivolt.governance.webhooks import Webhooks
    from archivolt.ports.webhooks import WebhookDeliveries, WebhookSender, WebhookStore
    from archivolt.runs.announcing import RunAnnouncements


class WebhooksContainer:
    """Builds and keeps the collaborators of webhooks."""

    def __init__(self, container: "Container") -> None:
        self._on = container

    @cached_property
    def store(self) -> "WebhookStore":
        """What tenants set."""
        from archivolt.adapters.dynamodb.webhooks import DynamoWebhooks

        return DynamoWebhooks(self._on.table("control_table"))

    @cached_property
    def deliveries(self) -> "WebhookDeliveries":
        """What tries again for hours."""
        from archivolt.adapters.stepfunctions.webhook_deliveries import StepFunctionsDeliveries

        machine = self._on.settings.required("webhook_machine_arn")
        return StepFunctionsDeliveries(self._on.aws.states, machine)

    @cached_property
    def announcements(self) -> "RunAnnouncements":
        """What runs tell."""
        from archivolt.runs.announcing import RunAnnouncements

        return RunAnnouncements(lambda: self.store, lambda: self.deliveries)

    @cached_property
    def delivery(self) -> "WebhookDelivery":
        """What the webhooks function stands on."""
        from archivolt.governance.webhook_delivery import WebhookDelivery

        return WebhookDelivery(
            self.store, self._post, self._on.admission.require_tenant, self._on.clock
        )

    @cached_property
    def administration(self) -> "Webhooks":
        """What an administrator does."""
        from archivolt.governance.webhooks import Webhooks

        return Webhooks(
            self.store,
            lambda: self._on.secret_box,
            self._post,
            self._on.clock,
            may_be_plain=self._rules.allows,
        )

    @cached_property
    def _post(self) -> "WebhookPost":
        from archivolt.governance.webhook_delivery import WebhookPost

        return WebhookPost(
            self.store, lambda: self._on.secret_box, lambda: self._sender, self._on.clock
        )

    @cached_property
    def _sender(self) -> "WebhookSender":
        from archivolt.adapters.webhooks.sender import HttpWebhookSender

        return HttpWebhookSender(lambda: self._client)

    @cached_property
    def _client(self) -> "httpx2.Client":
        from archivolt.adapters.http.outbound import Caps, guarded_client
        from archivolt.domain.webhook_limits import WEBHOOK_SECONDS

        return guarded_client(self._rules, Caps(seconds=WEBHOOK_SECONDS))

    @cached_property
    def _rules(self) -> "OutboundRules":
        from archivolt.adapters.http.addresses import OutboundRules

        return OutboundRules.from_setting(self._on.settings.outbound_allowed_hosts)
