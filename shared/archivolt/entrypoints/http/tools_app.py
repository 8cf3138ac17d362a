"""The application of the tools function: everything under `/api/v1` but chat, and `/healthz`."""

from functools import cache
from typing import Final

from fastapi import APIRouter, FastAPI
from mangum import Mangum
from pydantic import BaseModel
from starlette.types import Receive, Scope, Send

from archivolt.domain.errors import ForbiddenError
from archivolt.domain.identity import Principal
from archivolt.domain.rights import RIGHTS
from archivolt.entrypoints.browser.app import BROWSER_PATHS, create_browser_app
from archivolt.entrypoints.browser.services import BrowserServicesOf
from archivolt.entrypoints.http.application import create_application
from archivolt.entrypoints.http.audit_routes import audit_router
from archivolt.entrypoints.http.authentication import Gate
from archivolt.entrypoints.http.change_routes import change_router
from archivolt.entrypoints.http.config_routes import config_router
from archivolt.entrypoints.http.confirmation_routes import confirmation_router
from archivolt.entrypoints.http.connection_routes import connection_router
from archivolt.entrypoints.http.erasure_routes import erasure_router
from archivolt.entrypoints.http.federation_routes import federation_router
from archivolt.entrypoints.http.file_routes import file_router
from archivolt.entrypoints.http.index_routes import index_router
from archivolt.entrypoints.http.mcp_account_routes import mcp_account_router
from archivolt.entrypoints.http.openapi import openapi_router
from archivolt.entrypoints.http.own_settings_routes import own_settings_router
from archivolt.entrypoints.http.read_routes import read_router
from archivolt.entrypoints.http.services import ServicesOf, surface_of
from archivolt.entrypoints.http.settings_routes import settings_router
from archivolt.entrypoints.http.tenant_routes import tenant_router
from archivolt.entrypoints.http.token_routes import token_router
from archivolt.entrypoints.http.tool_routes import tool_router
from archivolt.entrypoints.http.upload_routes import upload_router
from archivolt.entrypoints.http.vault_routes import vault_router
from archivolt.entrypoints.http.webhook_routes import webhook_router

PREFIX: Final = "/api/v1"
# They do nothing that is recorded, and so count nothing themselves.
_COUNTED_AT_THE_DOOR: Final = {"list_tools", "config", "ai_models"}
_ROUTERS: Final = (
    read_router,
    tool_router,
    file_router,
    change_router,
    upload_router,
    vault_router,
    index_router,
    tenant_router,
    settings_router,
    config_router,
    federation_router,
    mcp_account_router,
    webhook_router,
    own_settings_router,
    audit_router,
    token_router,
    connection_router,
    confirmation_router,
    erasure_router,
)


class Health(BaseModel):
    """The service answers."""

    status: str = "ok"


def create_handler(services: ServicesOf, browser: BrowserServicesOf | None = None) -> Mangum:
    """Return the Lambda handler; nothing is built before the first event.

    `browser` gives what the pages for people stand on; None for no pages.
    """
    application = cache(lambda: create_tools_app(services, services().allowed_origins))
    pages = cache(create_browser_app)

    async def app(scope: Scope, receive: Receive, send: Send) -> None:
        if browser is not None and str(scope.get("path", "")).startswith(BROWSER_PATHS):
            await pages(browser)(scope, receive, send)
        else:
            await application()(scope, receive, send)

    return Mangum(app, lifespan="off")


def create_tools_app(services: ServicesOf, allowed_origins: str = "") -> FastAPI:
    """Return the application; `services` is called at each request, so OpenAPI needs none."""
    app = create_application(
        "Archivolt",
        token_verifier=lambda: services().token_verifier,
        allowed_origins=allowed_origins,
        gate=_gate(services),
    )
    app.include_router(_health_router())
    for make in _ROUTERS:
        app.include_router(make(services), prefix=PREFIX)
    app.include_router(openapi_router(app), prefix=PREFIX)
    return app


def _gate(services: ServicesOf) -> Gate:
    def count(principal: Principal, operation: str) -> None:
        services().by_hand.count_unrecorded(principal, operation)

    def note(principal: Principal, operation: str, error: ForbiddenError) -> None:
        surface = surface_of(principal)
        services().by_hand.note_refusal(principal, operation, error, surface=surface)

    others = RIGHTS.keys() - _COUNTED_AT_THE_DOOR
    return Gate(note_refusal=note, count=count, counts_itself=others)


def _health_router() -> APIRouter:
    router = APIRouter(tags=["health"])

    @router.get("/healthz", summary="Tell that the service answers", operation_id="health")
    def health() -> Health:  # pyright: ignore[reportUnusedFunction]
        return Health()

    return router
