"""The webhooks function: what the state machine of deliveries asks for.

The errors that leave it are named after their kinds: the machine tries again by these names.
"""

from collections.abc import Callable, Mapping
from datetime import datetime
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict

from archivolt.domain.identity import tenant_id
from archivolt.domain.webhook import WebhookEvent, WebhookMessage
from archivolt.governance.webhook_delivery import WebhookDelivery


class _Message(BaseModel):
    model_config = ConfigDict(hide_input_in_errors=True, frozen=True)

    id: str
    event: WebhookEvent
    at: datetime
    data: dict[str, Any]


class _Task(BaseModel):
    model_config = ConfigDict(hide_input_in_errors=True, frozen=True)

    do: Literal["deliver", "give_up"]
    tenant: str
    webhook: str
    message: _Message


def build_webhooks(
    delivery: Callable[[], WebhookDelivery],
) -> Callable[[Mapping[str, Any], object], dict[str, Any]]:
    """Return the handler; what it stands on is built at the first task."""

    def handler(event: Mapping[str, Any], context: object) -> dict[str, Any]:
        del context
        task = _Task.model_validate(event)
        told = task.message
        message = WebhookMessage(id=told.id, event=told.event, at=told.at, data=told.data)
        act = delivery().deliver if task.do == "deliver" else delivery().give_up
        act(tenant_id(task.tenant), task.webhook, message)
        return {}

    return handler
