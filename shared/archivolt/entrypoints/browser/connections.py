"""The page of programs that a person let in, where each can be ended."""

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from archivolt.domain.messages import Language
from archivolt.domain.oauth import OAuthGrant
from archivolt.entrypoints.browser import texts
from archivolt.entrypoints.browser.markup import Markup, element
from archivolt.entrypoints.browser.pages import page
from archivolt.entrypoints.browser.services import BrowserServices, BrowserServicesOf
from archivolt.entrypoints.browser.session import (
    Fields,
    field,
    form_of,
    hidden_token,
    require_own_form,
    require_signed_in,
    sent_to,
)
from archivolt.entrypoints.http.errors import language_for
from archivolt.governance.sign_in.sessions import SignedIn

_PATH = "/oauth/connections"


def connection_routes(services: BrowserServicesOf) -> list[Route]:
    """Return the routes of the page."""

    async def show(request: Request) -> Response:
        return await run_in_threadpool(_shown, services(), request)

    async def end(request: Request) -> Response:
        fields = await form_of(request)
        return await run_in_threadpool(_ended, services(), request, fields)

    return [Route(_PATH, show, methods=["GET"]), Route(_PATH, end, methods=["POST"])]


def _shown(services: BrowserServices, request: Request) -> Response:
    by, language = require_signed_in(request, services), language_for(request)
    grants = services.connections.own(by.principal)
    entries = [_entry(services, by, language, grant) for grant in grants]
    nothing = element("p", texts.CONNECTIONS_NONE.spoken(language))
    sign_out = element(
        "form",
        hidden_token(by),
        element("button", texts.SIGN_OUT.spoken(language), type="submit"),
        method="post",
        action=services.address("/oauth/sign-out"),
    )
    who = element("p", texts.SIGNED_IN_AS.spoken(language).format(user=by.person.user))
    title = texts.CONNECTIONS.spoken(language)
    return page(title, language, who, *(entries or [nothing]), sign_out)


def _entry(
    services: BrowserServices, by: SignedIn, language: Language, grant: OAuthGrant
) -> Markup:
    access = texts.ACCESS_READ if grant.reach.read_only else texts.ACCESS_WRITE
    said = texts.CONNECTION.spoken(language).format(
        created=grant.created_at.date().isoformat(),
        expires=grant.expires_at.date().isoformat(),
        access=access.spoken(language),
    )
    return element(
        "form",
        hidden_token(by),
        element("input", type="hidden", name="connection", value=grant.id),
        element("p", element("strong", grant.client_name), f" — {said}"),
        element("button", texts.END.spoken(language), type="submit"),
        method="post",
        action=services.address(_PATH),
    )


def _ended(services: BrowserServices, request: Request, fields: Fields) -> Response:
    by = require_own_form(request, services, fields)
    grant_id = field(fields, "connection")
    with services.by_hand.doing(by.principal, "end_connection", connection=grant_id):
        services.connections.end(by.principal, grant_id)
    return sent_to(services.address(_PATH))
