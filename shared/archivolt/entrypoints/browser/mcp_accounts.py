"""Pages where a person connects their own account at an MCP server of others, and comes back to.

The way there is a page that says where it leads, and goes on by a link: an MCP server may name the
sign-in page of anybody, and browsers hold every step after a form to the page's `form-action`.
"""

import re
from typing import Final
from urllib.parse import urlsplit

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from archivolt.domain.errors import NotFoundError
from archivolt.domain.mcp_accounts import McpAccountState, client_description
from archivolt.domain.messages import Language
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
from archivolt.federation.sign_ins import SignInAnswer
from archivolt.federation.standings import Standing
from archivolt.governance.sign_in.sessions import SignedIn

_PLACE: Final = re.compile(r"[0-9a-f]{16}")
_PATH: Final = "/oauth/mcp/"
_END: Final = "end"


def mcp_account_routes(services: BrowserServicesOf) -> list[Route]:
    """Return the routes of the pages."""

    async def show(request: Request) -> Response:
        return await run_in_threadpool(_shown, services(), request)

    async def change(request: Request) -> Response:
        fields = await form_of(request)
        return await run_in_threadpool(_changed, services(), request, fields)

    async def come_back(request: Request) -> Response:
        return await run_in_threadpool(_back, services(), request)

    async def describe(request: Request) -> Response:
        return _description(services(), request)

    return [
        Route(f"{_PATH}callback/{{place}}", come_back, methods=["GET"]),
        Route(f"{_PATH}client/{{place}}", describe, methods=["GET"]),
        Route(f"{_PATH}{{server}}", show, methods=["GET"]),
        Route(f"{_PATH}{{server}}", change, methods=["POST"]),
    ]


def _shown(services: BrowserServices, request: Request) -> Response:
    by, language = require_signed_in(request, services), language_for(request)
    standing = services.mcp_accounts().standing(by.principal, request.path_params["server"])
    return _page(services, by, language, standing)


def _page(
    services: BrowserServices, by: SignedIn, language: Language, standing: Standing
) -> Response:
    server = standing.server.title or standing.server.id
    said = {
        McpAccountState.ABSENT: texts.ACCOUNT_ABSENT,
        McpAccountState.CONNECTED: texts.ACCOUNT_CONNECTED,
        McpAccountState.SIGN_IN_NEEDED: texts.ACCOUNT_SIGN_IN,
        McpAccountState.MOVED: texts.ACCOUNT_MOVED,
    }[standing.state]
    account = standing.account
    said = said if standing.is_open else texts.ACCOUNT_OFF
    host = urlsplit(account.issuer).hostname or "" if account else ""
    connect = _button(services, by, standing, texts.ACCOUNT_CONNECT.spoken(language), "begin")
    end = _button(services, by, standing, texts.ACCOUNT_END.spoken(language), _END)
    return page(
        texts.ACCOUNT.spoken(language).format(server=server),
        language,
        element("p", texts.SIGNED_IN_AS.spoken(language).format(user=by.person.user)),
        element(
            "p",
            said.spoken(language).format(server=server, host=host, place=standing.place),
        ),
        connect if standing.is_open else "",
        end if account else "",
    )


def _button(
    services: BrowserServices, by: SignedIn, standing: Standing, said: str, wish: str
) -> Markup:
    return element(
        "form",
        hidden_token(by),
        element("button", said, type="submit", name="wish", value=wish),
        method="post",
        action=services.address(f"{_PATH}{standing.server.id}"),
    )


def _changed(services: BrowserServices, request: Request, fields: Fields) -> Response:
    by = require_own_form(request, services, fields)
    server_id: str = request.path_params["server"]
    accounts = services.mcp_accounts()
    if field(fields, "wish") == _END:
        with services.by_hand.doing(by.principal, "disconnect_mcp_account", server=server_id):
            accounts.end(by.principal, server_id)
        return _ended(services, by, language_for(request), server_id)
    with services.by_hand.doing(by.principal, "connect_mcp_account", server=server_id):
        place = accounts.begin(by.principal, server_id)
        server = accounts.standing(by.principal, server_id).server
    return _way_on(server.title or server.id, place.address, language_for(request))


def _ended(services: BrowserServices, by: SignedIn, language: Language, server_id: str) -> Response:
    try:
        known = services.mcp_accounts().standing(by.principal, server_id).server.id
    except NotFoundError:
        # It is off: without an account there is nothing to see of it.
        title = texts.ACCOUNT_END.spoken(language)
        return page(title, language, element("p", texts.ACCOUNT_ENDED.spoken(language)))
    return sent_to(services.address(f"{_PATH}{known}"))


def _way_on(server: str, address: str, language: Language) -> Response:
    """Say who will ask the person to sign in, and let them go there."""
    host = urlsplit(address).netloc
    said = texts.ACCOUNT_WAY_ON.spoken(language).format(server=server, host=host)
    link = element("a", texts.CONTINUE.spoken(language), href=address)
    title = texts.ACCOUNT_CONNECT.spoken(language)
    return page(title, language, element("p", said), element("p", link))


def _back(services: BrowserServices, request: Request) -> Response:
    by, language = require_signed_in(request, services), language_for(request)
    asked = request.query_params
    answer = SignInAnswer(
        state=asked.get("state", ""),
        code=asked.get("code", ""),
        issuer=asked.get("iss", ""),
        error=asked.get("error", ""),
    )
    place = _place(request)
    with services.by_hand.doing(by.principal, "finish_mcp_account", place=place):
        server = services.mcp_accounts().finish(by.principal, place, answer)
    said = texts.ACCOUNT_DONE.spoken(language).format(server=server.title or server.id)
    return page(texts.ACCOUNT_DONE_TITLE.spoken(language), language, element("p", said))


def _description(services: BrowserServices, request: Request) -> Response:
    """Say who we are to whoever lets people in (client id metadata document)."""
    place = _place(request)
    callback = services.address(f"{_PATH}callback/{place}")
    address = services.address(f"{_PATH}client/{place}")
    return JSONResponse(
        client_description(callback) | {"client_id": address, "token_endpoint_auth_method": "none"},
        headers={"Cache-Control": "public, max-age=3600"},
    )


def _place(request: Request) -> str:
    place: str = request.path_params["place"]
    if not _PLACE.fullmatch(place):
        raise NotFoundError("not_found")
    return place
