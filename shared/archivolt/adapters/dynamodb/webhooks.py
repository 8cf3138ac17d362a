"""The webhooks of tenants, in the control table.

WEBHOOKS#{tenant}    WEBHOOK#{id}    a webhook, and what became of its last message
"""

from boto3.dynamodb.conditions import Attr, ConditionBase

from archivolt.adapters.dynamodb.moments import moment_or_none, number_or_none
from archivolt.adapters.dynamodb.table import (
    ConditionFailedError,
    DynamoTable,
    StoredItem,
    is_key_text,
)
from archivolt.adapters.dynamodb.values import Value
from archivolt.adapters.dynamodb.writes import ABSENT, PRESENT, Delete, Key, Put, Update
from archivolt.domain.errors import ConflictError
from archivolt.domain.identity import TenantId
from archivolt.domain.webhook import Webhook, WebhookEvent


class DynamoWebhooks:
    """A `WebhookStore` in the control table."""

    def __init__(self, table: DynamoTable) -> None:
        self._table = table

    def of_tenant(self, tenant: TenantId) -> list[Webhook]:
        """Return a tenant's webhooks by their ids."""
        return [_webhook(item) for item in self._table.items(_key(tenant, "").pk)]

    def get(self, tenant: TenantId, webhook_id: str) -> Webhook | None:
        """Return a webhook."""
        item = self._table.get(_key(tenant, webhook_id)) if is_key_text(webhook_id) else None
        return None if item is None else _webhook(item)

    def save(self, tenant: TenantId, webhook: Webhook, *, over: Webhook | None) -> None:
        """Keep a webhook in the place of `over`."""
        item: dict[str, Value] = {
            **_key(tenant, webhook.id)._asdict(),
            "id": webhook.id,
            "url": webhook.url,
            "enabled": webhook.enabled,
            "events": [event.value for event in webhook.events],
            "sealed": webhook.sealed,
            "sealed_before": webhook.sealed_before,
            "both_until": number_or_none(webhook.both_until),
            "link": webhook.link,
            "missed": webhook.missed,
            "revision": over.revision + 1 if over else 0,
            **_noted(webhook),
        }
        unchanged = ABSENT if over is None else _as_read(over)
        try:
            self._table.write(Put(item=item, condition=unchanged))
        except ConditionFailedError as error:
            raise ConflictError("conflict") from error

    def note(
        self, tenant: TenantId, webhook: Webhook, *, turned_off: bool = False, missed: int = 0
    ) -> bool:
        """Keep what became of a message."""
        # Whether it is on is the administrator's to say, whatever is sent meanwhile.
        off: dict[str, Value] = {"enabled": False} if turned_off else {}
        more = {"missed": missed, "revision": int(turned_off)}
        noted = Update(
            key=_key(tenant, webhook.id),
            set=_noted(webhook) | off,
            add={name: count for name, count in more.items() if count},
            condition=Attr("link").eq(webhook.link),
        )
        try:
            self._table.update(noted)
        except ConditionFailedError:
            return False
        return True

    def delete(self, tenant: TenantId, webhook_id: str) -> bool:
        """Remove a webhook."""
        if not is_key_text(webhook_id):
            return False
        try:
            self._table.write(Delete(key=_key(tenant, webhook_id), condition=PRESENT))
        except ConditionFailedError:
            return False
        return True


def _key(tenant: TenantId, webhook_id: str) -> Key:
    return Key(f"WEBHOOKS#{tenant}", f"WEBHOOK#{webhook_id}")


def _as_read(webhook: Webhook) -> ConditionBase:
    """Return that nobody changed a webhook since; one that was made anew has another secret."""
    revision = Attr("revision").eq(webhook.revision)
    if not webhook.revision:
        revision |= Attr("revision").not_exists()  # kept before there were any
    return Attr("sealed").eq(webhook.sealed) & revision


def _noted(webhook: Webhook) -> dict[str, Value]:
    return {
        "problem": webhook.problem,
        "problem_details": dict(webhook.problem_details),
        "tried_at": number_or_none(webhook.tried_at),
        "delivered_at": number_or_none(webhook.delivered_at),
        "failing_since": number_or_none(webhook.failing_since),
        "last_message": webhook.last_message,
    }


def _webhook(item: StoredItem) -> Webhook:
    return Webhook(
        id=item["id"],
        url=item["url"],
        events=tuple(WebhookEvent(event) for event in item["events"]),
        enabled=item["enabled"],
        sealed=item["sealed"],
        sealed_before=item["sealed_before"],
        both_until=moment_or_none(item["both_until"]),
        problem=item["problem"],
        problem_details=item["problem_details"],
        tried_at=moment_or_none(item["tried_at"]),
        delivered_at=moment_or_none(item["delivered_at"]),
        failing_since=moment_or_none(item["failing_since"]),
        last_message=item["last_message"],
        missed=int(item["missed"]),
        revision=int(item.get("revision", 0)),
    )
