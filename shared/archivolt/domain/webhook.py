"""Webhooks: where a tenant is told of its agent runs, and how what is told is signed.

Messages and signatures are those of Standard Webhooks 1.0 (symmetric, `v1`). A message carries ids,
codes and moments: whoever wants more asks for it, with a right to it.
"""

import base64
import hashlib
import hmac
import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from enum import StrEnum
from typing import Any, Final

from archivolt.domain.tool import JsonObject

_PREFIX: Final = "whsec_"
_ID_CHARS: Final = 32


class WebhookEvent(StrEnum):
    """What a webhook is told of."""

    APPROVAL_REQUIRED = "run.approval_required"
    """A change of a run waits for a person."""

    RUN_ENDED = "run.ended"
    TEST = "webhook.test"
    """An administrator tries it."""


RUN_EVENTS: Final = (WebhookEvent.APPROVAL_REQUIRED, WebhookEvent.RUN_ENDED)
"""The events that a webhook can choose among."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Webhook:
    """A webhook of a tenant.

    `sealed` is its secret, `sealed_before` the one before it, which signs too until `both_until`.
    `problem` is why the last message did not arrive, as a code with its details; none has since
    `failing_since`. `missed` counts the messages that were given up. `revision` is the store's.
    """

    id: str
    url: str
    events: tuple[WebhookEvent, ...] = RUN_EVENTS
    enabled: bool = True
    sealed: str = ""
    sealed_before: str = ""
    both_until: datetime | None = None
    problem: str = ""
    problem_details: JsonObject = field(default_factory=dict[str, Any])
    tried_at: datetime | None = None
    delivered_at: datetime | None = None
    failing_since: datetime | None = None
    last_message: str = ""
    missed: int = 0
    revision: int = field(default=0, compare=False)

    @property
    def link(self) -> str:
        """What tells whether it still leads where it did, and is still that one."""
        return hashlib.sha256(f"{self.url}\n{self.sealed}".encode()).hexdigest()

    @property
    def secret_field(self) -> str:
        """What its secrets are sealed to."""
        return f"webhook:{self.id}"

    def listens_to(self, event: WebhookEvent) -> bool:
        """Tell whether it wants to be told of this."""
        return self.enabled and event in self.events


@dataclass(frozen=True, slots=True, kw_only=True)
class WebhookMessage:
    """What is told: the same id however often it is sent, so that it counts once.

    `at` is when it happened.
    """

    id: str
    event: WebhookEvent
    at: datetime
    data: JsonObject

    @property
    def body(self) -> bytes:
        """The bytes that are sent and signed."""
        moment = self.at.astimezone(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
        content = {"type": self.event.value, "timestamp": moment, "data": self.data}
        return json.dumps(content, separators=(",", ":"), ensure_ascii=True).encode()


def message_id(*names: str) -> str:
    """Return the id of the message about what these names are of, always the same one."""
    digest = hashlib.sha256(json.dumps(names).encode()).hexdigest()
    return f"msg_{digest[:_ID_CHARS]}"


def secret_text(key: bytes) -> str:
    """Return a secret as people are given it."""
    return _PREFIX + base64.b64encode(key).decode()


def signed_headers(
    message: WebhookMessage, secrets: Iterable[str], *, now: datetime
) -> Mapping[str, str]:
    """Return the headers of one attempt, signed with each of the secrets."""
    moment = str(int(now.timestamp()))
    signatures = (_signature(message, moment, secret) for secret in secrets)
    return {
        "content-type": "application/json",
        "webhook-id": message.id,
        "webhook-timestamp": moment,
        "webhook-signature": " ".join(signatures),
    }


def _signature(message: WebhookMessage, moment: str, secret: str) -> str:
    key = base64.b64decode(secret.removeprefix(_PREFIX))
    content = f"{message.id}.{moment}.".encode() + message.body
    return "v1," + base64.b64encode(hmac.digest(key, content, "sha256")).decode()
