"""Webhooks without a network: a store in a dictionary, receivers that are scripts."""

from collections.abc import Mapping
from dataclasses import dataclass, replace

from archivolt.domain.errors import ConflictError, UnavailableError
from archivolt.domain.identity import TenantId
from archivolt.domain.webhook import Webhook, WebhookMessage
from archivolt.ports.webhooks import WebhookAnswer


class InMemoryWebhooks:
    """A `WebhookStore` that lives as long as the test."""

    def __init__(self) -> None:
        self._kept: dict[tuple[TenantId, str], Webhook] = {}

    def of_tenant(self, tenant: TenantId) -> list[Webhook]:
        names = sorted(name for owner, name in self._kept if owner == tenant)
        return [self._kept[tenant, name] for name in names]

    def get(self, tenant: TenantId, webhook_id: str) -> Webhook | None:
        return self._kept.get((tenant, webhook_id))

    def save(self, tenant: TenantId, webhook: Webhook, *, over: Webhook | None) -> None:
        there = self._kept.get((tenant, webhook.id))
        if _version(there) != _version(over):
            raise ConflictError("conflict")
        revision = over.revision + 1 if over else 0
        self._kept[tenant, webhook.id] = replace(webhook, revision=revision)

    def note(
        self, tenant: TenantId, webhook: Webhook, *, turned_off: bool = False, missed: int = 0
    ) -> bool:
        there = self._kept.get((tenant, webhook.id))
        if there is None or there.link != webhook.link:
            return False
        self._kept[tenant, webhook.id] = replace(
            there,
            enabled=there.enabled and not turned_off,
            problem=webhook.problem,
            problem_details=webhook.problem_details,
            tried_at=webhook.tried_at,
            delivered_at=webhook.delivered_at,
            failing_since=webhook.failing_since,
            last_message=webhook.last_message,
            missed=there.missed + missed,
            revision=there.revision + turned_off,
        )
        return True

    def delete(self, tenant: TenantId, webhook_id: str) -> bool:
        return self._kept.pop((tenant, webhook_id), None) is not None


def _version(webhook: Webhook | None) -> tuple[str, int] | None:
    return (webhook.sealed, webhook.revision) if webhook else None


class NotingDeliveries:
    """A `WebhookDeliveries` that only notes what it was given; each message once, as promised."""

    def __init__(self, *down_for: str) -> None:
        self.down_for = set(down_for)
        self.started: dict[tuple[TenantId, str, str], WebhookMessage] = {}
        self.calls = 0
        self.down = False

    def start(self, tenant: TenantId, webhook_id: str, message: WebhookMessage) -> None:
        self.calls += 1
        if self.down or webhook_id in self.down_for:
            raise UnavailableError("unavailable")
        self.started.setdefault((tenant, webhook_id, message.id), message)


@dataclass(frozen=True)
class Posted:
    """What a receiver was sent."""

    url: str
    headers: Mapping[str, str]
    body: bytes


class ScriptedReceiver:
    """A `WebhookSender` whose receiver answers what the test says; it remembers what it got."""

    def __init__(self, *answers: WebhookAnswer) -> None:
        self.answers = list(answers)
        self.posted: list[Posted] = []

    def send(self, url: str, headers: Mapping[str, str], body: bytes) -> WebhookAnswer:
        self.posted.append(Posted(url, headers, body))
        return self.answers.pop(0) if self.answers else WebhookAnswer(status=204)
