"""Webhooks as JSON."""

from datetime import datetime
from typing import Any, Self

from pydantic import BaseModel, Field

from archivolt.domain.messages import Language, message_for
from archivolt.domain.webhook import Webhook, WebhookEvent


class WebhookProblem(BaseModel):
    """Why a message did not arrive."""

    code: str
    message: str


class WebhookBody(BaseModel):
    """A webhook, and what became of the last message to it."""

    id: str
    url: str
    events: list[WebhookEvent]
    enabled: bool
    both_secrets_until: datetime | None = Field(
        description="Until then the secret before this one signs as well."
    )
    last_message: str = Field(description='The id of the last message that was tried; "": none.')
    tried_at: datetime | None
    delivered_at: datetime | None = Field(description="When one last arrived.")
    failing_since: datetime | None
    missed: int = Field(description="How many messages were given up.")
    problem: WebhookProblem | None

    @classmethod
    def of(cls, webhook: Webhook, language: Language) -> Self:
        """Return a webhook as JSON."""
        return cls(**_fields(webhook, language))


class WebhookWithSecret(WebhookBody):
    """A webhook with a secret that was just made: it is shown this once."""

    secret: str = Field(description='`whsec_` and base64; "" if no new one was made.')

    @classmethod
    def made(cls, webhook: Webhook, secret: str, language: Language) -> Self:
        """Return a webhook with its new secret."""
        return cls(**_fields(webhook, language), secret=secret)


class WebhookList(BaseModel):
    """The tenant's webhooks."""

    webhooks: list[WebhookBody]


class WebhookTrialBody(BaseModel):
    """What became of a test message."""

    delivered: bool
    webhook: WebhookBody

    @classmethod
    def of(cls, webhook: Webhook, language: Language) -> Self:
        """Return a trial as JSON."""
        return cls(delivered=not webhook.problem, webhook=WebhookBody.of(webhook, language))


def _fields(webhook: Webhook, language: Language) -> dict[str, Any]:
    return {
        "id": webhook.id,
        "url": webhook.url,
        "events": list(webhook.events),
        "enabled": webhook.enabled,
        "both_secrets_until": webhook.both_until,
        "last_message": webhook.last_message,
        "tried_at": webhook.tried_at,
        "delivered_at": webhook.delivered_at,
        "failing_since": webhook.failing_since,
        "missed": webhook.missed,
        "problem": _problem(webhook, language),
    }


def _problem(webhook: Webhook, language: Language) -> WebhookProblem | None:
    if not webhook.problem:
        return None
    message = message_for(webhook.problem, language, webhook.problem_details)
    return WebhookProblem(code=webhook.problem, message=message)
