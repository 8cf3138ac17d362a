"""The applications behind `/oauth` and `/approve`: pages for people, endpoints for programs.

Two, as a page of any origin may call the endpoints, and none the pages.
"""

from collections.abc import Sequence
from typing import Final

from fastapi import FastAPI
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route
from starlette.types import ASGIApp, Receive, Scope, Send

from archivolt.domain.errors import ArchivoltError, InvalidRequestError
from archivolt.domain.limits import MAX_OAUTH_BODY_BYTES
from archivolt.entrypoints.browser.approval import approval_routes
from archivolt.entrypoints.browser.connections import connection_routes
from archivolt.entrypoints.browser.consent import consent_routes
from archivolt.entrypoints.browser.endpoints import PATHS, endpoint_routes
from archivolt.entrypoints.browser.mcp_accounts import mcp_account_routes
from archivolt.entrypoints.browser.pages import error_page
from archivolt.entrypoints.browser.services import BrowserServicesOf
from archivolt.entrypoints.browser.session import SignInNeededError, sent_to_sign_in
from archivolt.entrypoints.browser.sign_in import sign_in_routes
from archivolt.entrypoints.http.application import create_application
from archivolt.entrypoints.http.errors import language_for
from archivolt.entrypoints.http.middleware import BodyLimit

BROWSER_PATHS: Final = ("/oauth/", "/approve/")
PAGE_ROUTES: Final = (
    sign_in_routes,
    consent_routes,
    connection_routes,
    mcp_account_routes,
    approval_routes,
)
"""What makes the routes of each kind of page."""


def create_browser_app(services: BrowserServicesOf) -> ASGIApp:
    """Return the application; `services` is called at each request."""
    endpoints = _application(services, endpoint_routes(services), allowed_origins="*")
    pages = _application(services, [route for make in PAGE_ROUTES for route in make(services)])
    _answer_with_pages(pages, services)

    async def app(scope: Scope, receive: Receive, send: Send) -> None:
        if not services().signs_in:
            # Nobody could ever sign in: the pages are not there.
            await pages({**scope, "path": "/"}, receive, send)
            return
        chosen = endpoints if scope.get("path") in PATHS else pages
        await chosen(scope, receive, send)

    return app


def _application(
    services: BrowserServicesOf, routes: Sequence[Route], *, allowed_origins: str = ""
) -> FastAPI:
    app = create_application(
        "Archivolt sign-in",
        token_verifier=lambda: services().token_verifier,
        allowed_origins=allowed_origins,
    )
    app.add_middleware(BodyLimit, limit=MAX_OAUTH_BODY_BYTES)
    app.router.routes.extend(routes)
    return app


def _answer_with_pages(app: FastAPI, services: BrowserServicesOf) -> None:
    async def ours(request: Request, error: Exception) -> Response:
        if isinstance(error, SignInNeededError):
            return sent_to_sign_in(request, services(), error.path)
        if not isinstance(error, ArchivoltError):
            raise error
        return error_page(error, language_for(request))

    async def the_frameworks(request: Request, error: Exception) -> Response:
        if not isinstance(error, HTTPException):
            raise error
        cause = error.__cause__
        told = cause if isinstance(cause, ArchivoltError) else _told(error.status_code)
        return error_page(told, language_for(request), status=error.status_code)

    app.add_exception_handler(ArchivoltError, ours)
    app.add_exception_handler(HTTPException, the_frameworks)


def _told(status: int) -> ArchivoltError:
    codes = {404: "not_found", 405: "method_not_allowed"}
    return InvalidRequestError(codes.get(status, "unreadable_request"))
