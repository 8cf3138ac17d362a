"""What an administrator does with the webhooks of a tenant.

A secret is ours to make: it is shown once, kept sealed, and never shown again. A new one is used at
once, and the one before it signs beside it for a day, so that a receiver can change over.
"""

import re
import secrets
from collections.abc import Callable
from dataclasses import replace
from datetime import timedelta
from typing import Final
from urllib.parse import urlsplit

from archivolt.domain.errors import ForbiddenError, InvalidRequestError, NotFoundError
from archivolt.domain.identity import Principal, Role, TenantId
from archivolt.domain.webhook import (
    Webhook,
    WebhookEvent,
    WebhookMessage,
    message_id,
    secret_text,
)
from archivolt.domain.webhook_limits import (
    MAX_WEBHOOK_ID_CHARS,
    MAX_WEBHOOKS,
    WEBHOOK_BOTH_SECRETS_SECONDS,
    WEBHOOK_SECRET_BYTES,
)
from archivolt.governance.webhook_changes import WebhookChange, changed
from archivolt.governance.webhook_delivery import WebhookPost
from archivolt.ports.clock import Clock
from archivolt.ports.governance import SecretBox
from archivolt.ports.webhooks import WebhookStore

_ID: Final = re.compile(rf"(?!-)[a-z0-9-]{{1,{MAX_WEBHOOK_ID_CHARS}}}(?<!-)")
_PORTS: Final = {"http": 80, "https": 443}


class Webhooks:
    """Shows and changes a tenant's webhooks.

    Args:
        store: Keeps them.
        secrets: Seals their secrets.
        post: Sends to them.
        clock: The time.
        may_be_plain: Whether a host and a port may be called without TLS.

    """

    def __init__(
        self,
        store: WebhookStore,
        secrets: Callable[[], SecretBox],
        post: WebhookPost,
        clock: Clock,
        *,
        may_be_plain: Callable[[str, int], bool],
    ) -> None:
        self._store = store
        self._secrets = secrets
        self._post = post
        self._clock = clock
        self._may_be_plain = may_be_plain

    def all(self, principal: Principal) -> list[Webhook]:
        """Return the tenant's webhooks.

        Raises:
            ForbiddenError: `forbidden`: the caller is no administrator.

        """
        return self._store.of_tenant(_administered(principal))

    def change(
        self, principal: Principal, webhook_id: str, change: WebhookChange
    ) -> tuple[Webhook, str]:
        """Change what `change` names; a new webhook comes with its secret, else that is "".

        Raises:
            ForbiddenError: `forbidden`.
            NotFoundError: `webhook_not_found`: no id that a webhook can have.
            InvalidRequestError: `webhook_url_missing`, `webhook_insecure`, `webhooks_too_many`.
            ConflictError: `conflict`: it is changed by somebody else.

        """
        tenant = _administered(principal)
        if not _ID.fullmatch(webhook_id):
            raise _absent(webhook_id)
        current = self._store.get(tenant, webhook_id)
        if current is None:
            return self._made(tenant, webhook_id, change)
        webhook = changed(current, change)
        self._require_secure(webhook)
        self._store.save(tenant, webhook, over=current)
        return webhook, ""

    def rotate(self, principal: Principal, webhook_id: str) -> tuple[Webhook, str]:
        """Give a webhook another secret and return it; the one before it signs too for a day.

        Raises:
            ForbiddenError: `forbidden`.
            NotFoundError: `webhook_not_found`.
            ConflictError: `conflict`: somebody else gives it one at this moment.

        """
        tenant = _administered(principal)
        current = self._found(tenant, webhook_id)
        until = self._clock.now() + timedelta(seconds=WEBHOOK_BOTH_SECRETS_SECONDS)
        secret = _new_secret()
        webhook = replace(
            current,
            sealed=self._sealed(tenant, current, secret),
            sealed_before=current.sealed,
            both_until=until,
        )
        self._store.save(tenant, webhook, over=current)
        return webhook, secret

    def test(self, principal: Principal, webhook_id: str) -> Webhook:
        """Send a message that says so, once, and return the webhook; it may be turned off.

        Raises:
            ForbiddenError: `forbidden`.
            NotFoundError: `webhook_not_found`.
            UnavailableError: `secret_unreadable`.

        """
        tenant = _administered(principal)
        webhook = self._found(tenant, webhook_id)
        now = self._clock.now()
        message = WebhookMessage(
            id=message_id(tenant, webhook.id, secrets.token_hex()),
            event=WebhookEvent.TEST,
            at=now,
            data={"webhook": webhook.id},
        )
        return self._post.send(tenant, webhook, message)

    def remove(self, principal: Principal, webhook_id: str) -> None:
        """Forget a webhook and its secret; messages that are under way end.

        Raises:
            ForbiddenError: `forbidden`.
            NotFoundError: `webhook_not_found`.

        """
        if not self._store.delete(_administered(principal), webhook_id):
            raise _absent(webhook_id)

    def _made(
        self, tenant: TenantId, webhook_id: str, change: WebhookChange
    ) -> tuple[Webhook, str]:
        if not change.url:
            raise InvalidRequestError("webhook_url_missing")
        if len(self._store.of_tenant(tenant)) >= MAX_WEBHOOKS:
            raise InvalidRequestError("webhooks_too_many", limit=MAX_WEBHOOKS)
        webhook = changed(Webhook(id=webhook_id, url=change.url), change)
        self._require_secure(webhook)
        secret = _new_secret()
        webhook = replace(webhook, sealed=self._sealed(tenant, webhook, secret))
        self._store.save(tenant, webhook, over=None)
        return webhook, secret

    def _require_secure(self, webhook: Webhook) -> None:
        """Refuse an address without TLS, but for hosts of the deployment's own choice."""
        parts = urlsplit(webhook.url)
        host = parts.hostname or ""
        port = parts.port or _PORTS[parts.scheme]
        if parts.scheme != "https" and not self._may_be_plain(host, port):
            raise InvalidRequestError("webhook_insecure", host=host)

    def _sealed(self, tenant: TenantId, webhook: Webhook, secret: str) -> str:
        return self._secrets().seal(secret, tenant=tenant, field=webhook.secret_field)

    def _found(self, tenant: TenantId, webhook_id: str) -> Webhook:
        webhook = self._store.get(tenant, webhook_id)
        if webhook is None:
            raise _absent(webhook_id)
        return webhook


def _new_secret() -> str:
    return secret_text(secrets.token_bytes(WEBHOOK_SECRET_BYTES))


def _absent(webhook_id: str) -> NotFoundError:
    return NotFoundError("webhook_not_found", webhook=webhook_id[:MAX_WEBHOOK_ID_CHARS])


def _administered(principal: Principal) -> TenantId:
    """Return the caller's tenant if they administer it (S34)."""
    if not principal.role.includes(Role.TENANT_ADMIN):
        raise ForbiddenError("forbidden")
    return principal.tenant
