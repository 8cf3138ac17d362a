"""Where webhooks are kept, what sends to them, and what tries again for hours."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Protocol

from archivolt.domain.identity import TenantId
from archivolt.domain.webhook import Webhook, WebhookMessage


class WebhookStore(Protocol):
    """Keeps the webhooks of tenants. Implementations pass `tests/contract`.

    All may raise `UnavailableError`.
    """

    def of_tenant(self, tenant: TenantId) -> list[Webhook]:
        """Return a tenant's webhooks by their ids."""
        ...

    def get(self, tenant: TenantId, webhook_id: str) -> Webhook | None:
        """Return a webhook, None if there is none."""
        ...

    def save(self, tenant: TenantId, webhook: Webhook, *, over: Webhook | None) -> None:
        """Keep a webhook in the place of `over`, None for a new one.

        Raises:
            ConflictError: `conflict`: it was saved, or turned off, since `over` was read.

        """
        ...

    def note(
        self, tenant: TenantId, webhook: Webhook, *, turned_off: bool = False, missed: int = 0
    ) -> bool:
        """Keep what became of a message; `turned_off` for it, with so many more `missed`.

        False if it is gone, or leads elsewhere than it did: nothing is noted then.
        """
        ...

    def delete(self, tenant: TenantId, webhook_id: str) -> bool:
        """Remove a webhook; False if there is none."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class WebhookAnswer:
    """What a receiver answered: its status, or why there is none as a code of `REASONS`."""

    status: int = 0
    reason: str = ""


class WebhookSender(Protocol):
    """Sends one message to an address that a tenant gave, once and within a short time."""

    def send(self, url: str, headers: Mapping[str, str], body: bytes) -> WebhookAnswer:
        """Return what the receiver answered; redirects are not followed."""
        ...


class WebhookDeliveries(Protocol):
    """Delivers durably, with growing pauses. May raise `UnavailableError`."""

    def start(self, tenant: TenantId, webhook_id: str, message: WebhookMessage) -> None:
        """Have a message delivered to a webhook; a second time it changes nothing."""
        ...
