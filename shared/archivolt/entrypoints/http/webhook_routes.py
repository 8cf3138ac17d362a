"""The webhooks of a tenant: where it is told of its agent runs."""

from fastapi import APIRouter, Request, Response

from archivolt.entrypoints.http.authentication import InteractivePrincipal
from archivolt.entrypoints.http.errors import language_for
from archivolt.entrypoints.http.services import ServicesOf
from archivolt.entrypoints.http.webhook_bodies import (
    WebhookBody,
    WebhookList,
    WebhookTrialBody,
    WebhookWithSecret,
)
from archivolt.governance.webhook_changes import WebhookChange


def webhook_router(services: ServicesOf) -> APIRouter:
    """Return the routes of webhooks."""
    router = APIRouter(tags=["webhooks"])
    _add_looking(router, services)
    _add_changing(router, services)
    _add_removing(router, services)
    return router


def _add_looking(router: APIRouter, services: ServicesOf) -> None:
    @router.get("/webhooks", summary="List the webhooks", operation_id="list_webhooks")
    def list_webhooks(request: Request, principal: InteractivePrincipal) -> WebhookList:  # pyright: ignore[reportUnusedFunction]
        """For administrators of the tenant; with what became of the last message to each."""
        with services().by_hand.doing(principal, "list_webhooks"):
            found = services().webhooks().all(principal)
        language = language_for(request)
        return WebhookList(webhooks=[WebhookBody.of(each, language) for each in found])

    @router.post(
        "/webhooks/{webhook_id}/test",
        summary="Send a test message to a webhook, once",
        operation_id="test_webhook",
    )
    def test_webhook(  # pyright: ignore[reportUnusedFunction]
        request: Request, principal: InteractivePrincipal, webhook_id: str
    ) -> WebhookTrialBody:
        """For administrators of the tenant; it may be turned off."""
        with services().by_hand.administering(principal, "test_webhook", webhook=webhook_id):
            webhook = services().webhooks().test(principal, webhook_id)
        return WebhookTrialBody.of(webhook, language_for(request))


def _add_changing(router: APIRouter, services: ServicesOf) -> None:
    @router.put(
        "/webhooks/{webhook_id}", summary="Make or change a webhook", operation_id="change_webhook"
    )
    def change_webhook(  # pyright: ignore[reportUnusedFunction]
        request: Request,
        response: Response,
        principal: InteractivePrincipal,
        webhook_id: str,
        change: WebhookChange,
    ) -> WebhookWithSecret:
        """For administrators of the tenant. A new one is answered with its secret, this once."""
        names = sorted(change.model_fields_set)
        with services().by_hand.administering(
            principal, "change_webhook", webhook=webhook_id, names=names
        ):
            webhook, secret = services().webhooks().change(principal, webhook_id, change)
        response.headers["Cache-Control"] = "no-store"
        return WebhookWithSecret.made(webhook, secret, language_for(request))

    @router.post(
        "/webhooks/{webhook_id}/secret",
        summary="Give a webhook another secret",
        operation_id="rotate_webhook_secret",
    )
    def rotate_secret(  # pyright: ignore[reportUnusedFunction]
        request: Request, response: Response, principal: InteractivePrincipal, webhook_id: str
    ) -> WebhookWithSecret:
        """For administrators of the tenant; the one before it signs as well for a day."""
        with services().by_hand.administering(
            principal, "rotate_webhook_secret", webhook=webhook_id
        ):
            webhook, secret = services().webhooks().rotate(principal, webhook_id)
        response.headers["Cache-Control"] = "no-store"
        return WebhookWithSecret.made(webhook, secret, language_for(request))


def _add_removing(router: APIRouter, services: ServicesOf) -> None:
    @router.delete(
        "/webhooks/{webhook_id}",
        status_code=204,
        summary="Forget a webhook and its secret",
        operation_id="delete_webhook",
    )
    def delete_webhook(principal: InteractivePrincipal, webhook_id: str) -> Response:  # pyright: ignore[reportUnusedFunction]
        """For administrators of the tenant; messages that were to be sent again are not."""
        with services().by_hand.administering(principal, "delete_webhook", webhook=webhook_id):
            services().webhooks().remove(principal, webhook_id)
        return Response(status_code=204)
