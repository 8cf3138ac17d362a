"""A `WebhookSender` over the guarded client: of an answer its status alone is read."""

from collections.abc import Callable, Mapping

import httpx2

from archivolt.adapters.http.outbound import AnswerCapError
from archivolt.domain.errors import InvalidRequestError
from archivolt.domain.webhook_limits import WEBHOOK_SECONDS
from archivolt.ports.webhooks import WebhookAnswer


class HttpWebhookSender:
    """Posts messages.

    Args:
        client: Gives a guarded client.

    """

    def __init__(self, client: Callable[[], httpx2.Client]) -> None:
        self._client = client

    def send(self, url: str, headers: Mapping[str, str], body: bytes) -> WebhookAnswer:
        """Return what the receiver answered."""
        try:
            with self._client().stream(
                "POST", url, headers=dict(headers), content=body, timeout=WEBHOOK_SECONDS
            ) as answer:
                return WebhookAnswer(status=answer.status_code)
        except AnswerCapError as error:
            return WebhookAnswer(status=error.status)
        except InvalidRequestError:
            return WebhookAnswer(reason="webhook_address_private")
        except httpx2.TimeoutException:
            return WebhookAnswer(reason="webhook_slow")
        except (httpx2.HTTPError, httpx2.InvalidURL):
            return WebhookAnswer(reason="webhook_unreachable")
