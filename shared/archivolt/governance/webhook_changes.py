"""The change of a webhook that an administrator asks for."""

from dataclasses import replace
from typing import Annotated, Literal

from pydantic import AfterValidator, BaseModel, ConfigDict, Field

from archivolt.domain.http_addresses import http_address
from archivolt.domain.limits import MAX_URL_CHARS
from archivolt.domain.webhook import RUN_EVENTS, Webhook


class WebhookChange(BaseModel):
    """What to change of a webhook; what is absent stays as it is."""

    model_config = ConfigDict(extra="forbid", hide_input_in_errors=True)

    url: Annotated[str, Field(min_length=1), AfterValidator(http_address)] | None = Field(
        default=None,
        max_length=MAX_URL_CHARS,
        description="Where messages are posted to: https, on the public Internet, unless the"
        " deployment allows the host. A new webhook needs it.",
    )
    events: list[Literal["run.approval_required", "run.ended"]] | None = Field(
        default=None,
        min_length=1,
        max_length=len(RUN_EVENTS),
        description="What it is told of; null for everything.",
    )
    enabled: bool | None = Field(default=None, description="Whether it is told at all.")


def changed(webhook: Webhook, change: WebhookChange) -> Webhook:
    """Return a webhook with what a change names.

    One that is turned on, or leads elsewhere, begins anew: what went wrong before is forgotten.
    """
    named = change.model_fields_set
    other = webhook
    if change.url:
        other = replace(other, url=change.url)
    if "events" in named:
        wanted = set[str](change.events or RUN_EVENTS)
        other = replace(other, events=tuple(each for each in RUN_EVENTS if each.value in wanted))
    if change.enabled is not None:
        other = replace(other, enabled=change.enabled)
    if change.enabled or other.url != webhook.url:
        other = replace(other, problem="", problem_details={}, failing_since=None)
    return other
