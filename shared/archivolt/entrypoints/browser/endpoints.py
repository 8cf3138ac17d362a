"""The endpoints that programs call: token, registration and revocation (RFC 6749, 7591, 7009).

A page of any origin may call them: they take no cookie, and what they need is in the request.
"""

import json
from collections.abc import Awaitable, Callable, Mapping
from typing import Any, Final

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from archivolt.domain.limits import (
    MAX_OAUTH_REQUESTS_PER_ADDRESS,
    MAX_REGISTRATIONS,
    MAX_REGISTRATIONS_PER_ADDRESS,
    OAUTH_WINDOW_SECONDS,
)
from archivolt.domain.oauth import ALL_SCOPES, OAuthClient, OAuthError
from archivolt.entrypoints.browser.services import BrowserServices, BrowserServicesOf
from archivolt.entrypoints.browser.session import form_of
from archivolt.entrypoints.browser.sign_in import address_of
from archivolt.governance.oauth.requests import described
from archivolt.governance.oauth.tokens import CodeExchange, TokenPair

PATHS: Final = frozenset({"/oauth/token", "/oauth/register", "/oauth/revoke"})
_NOT_KEPT: Final = {"Cache-Control": "no-store", "Pragma": "no-cache"}

Form = Mapping[str, str]
_Answer = Callable[[Request], Awaitable[Response]]


def endpoint_routes(services: BrowserServicesOf) -> list[Route]:
    """Return the routes of the endpoints."""

    async def token(request: Request) -> Response:
        form = await _form(request)
        return await run_in_threadpool(_tokens, services(), request, form)

    async def register(request: Request) -> Response:
        metadata = _json(await request.body())
        return await run_in_threadpool(_registered, services(), request, metadata)

    async def revoke(request: Request) -> Response:
        form = await _form(request)
        return await run_in_threadpool(_revoked, services(), request, form)

    named = {"token": token, "register": register, "revoke": revoke}
    return [
        Route(f"/oauth/{name}", _told(answer), methods=["POST"]) for name, answer in named.items()
    ]


def _told(answer: _Answer) -> _Answer:
    """Answer errors of OAuth in its own form (RFC 6749 §5.2)."""

    async def answered(request: Request) -> Response:
        try:
            return await answer(request)
        except OAuthError as error:
            body = {"error": error.error, "error_description": described(error)}
            status = 401 if error.error == "invalid_client" else 400
            return JSONResponse(body, status, headers=_NOT_KEPT)

    return answered


async def _form(request: Request) -> Form:
    """Return a form's fields.

    Raises:
        OAuthError: `oauth_repeated`.

    """
    fields = await form_of(request)
    names = [name for name, _ in fields]
    for name in names:
        if names.count(name) > 1 and name != "resource":
            raise OAuthError("oauth_repeated", name=name[:40])
    return dict(fields)


def _json(body: bytes) -> object:
    try:
        return json.loads(body)
    except (ValueError, RecursionError) as error:
        raise OAuthError("oauth_client_metadata", name="client_metadata") from error


def _tokens(services: BrowserServices, request: Request, form: Form) -> Response:
    _count(services, request, "token", MAX_OAUTH_REQUESTS_PER_ADDRESS)
    client_id = _required(form, "client_id")
    if not services.clients.is_known(client_id):
        raise OAuthError("oauth_client")
    if form.get("resource"):
        services.resource.require([form["resource"]])
    match _required(form, "grant_type"):
        case "authorization_code":
            exchange = CodeExchange(
                code=_required(form, "code"),
                client_id=client_id,
                redirect_uri=form.get("redirect_uri", ""),
                verifier=_required(form, "code_verifier"),
            )
            return _given(services.tokens.exchange(exchange))
        case "refresh_token":
            return _given(services.tokens.renew(_required(form, "refresh_token"), client_id))
        case _:
            raise OAuthError("oauth_grant_type")


def _given(pair: TokenPair) -> Response:
    body: dict[str, Any] = {
        "access_token": pair.access,
        "token_type": "Bearer",
        "expires_in": pair.seconds,
        "refresh_token": pair.refresh,
        "scope": " ".join(pair.grant.scopes),
    }
    return JSONResponse(body, headers=_NOT_KEPT)


def _registered(services: BrowserServices, request: Request, metadata: object) -> Response:
    _count(services, request, "register", MAX_REGISTRATIONS_PER_ADDRESS)
    services.throttle.count("register", MAX_REGISTRATIONS, OAUTH_WINDOW_SECONDS)
    client = services.clients.register(metadata)
    return JSONResponse(_shown(client), 201, headers=_NOT_KEPT)


def _shown(client: OAuthClient) -> dict[str, Any]:
    """Return a client as it was registered: other ways than ours are not among them."""
    return {
        "client_id": client.id,
        "client_name": client.name,
        "redirect_uris": list(client.redirect_uris),
        "grant_types": ["authorization_code", "refresh_token"],
        "response_types": ["code"],
        "token_endpoint_auth_method": "none",
        "scope": " ".join(ALL_SCOPES),
    }


def _revoked(services: BrowserServices, request: Request, form: Form) -> Response:
    _count(services, request, "revoke", MAX_OAUTH_REQUESTS_PER_ADDRESS)
    services.tokens.revoke(_required(form, "token"), form.get("client_id", ""))
    return Response(status_code=200, headers=_NOT_KEPT)


def _required(form: Form, name: str) -> str:
    if not form.get(name):
        raise OAuthError("oauth_missing", name=name)
    return form[name]


def _count(services: BrowserServices, request: Request, what: str, limit: int) -> None:
    key = f"{what}-from#{address_of(request)}"
    services.throttle.count(key, limit, OAUTH_WINDOW_SECONDS)
