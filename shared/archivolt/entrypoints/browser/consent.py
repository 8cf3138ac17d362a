"""The page on which a person lets a program in, and says how far."""

from dataclasses import dataclass
from typing import Final
from urllib.parse import parse_qsl, urlsplit

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from archivolt.domain.errors import InvalidRequestError
from archivolt.domain.identity import TokenReach
from archivolt.domain.limits import (
    MAX_OAUTH_REQUESTS_PER_ADDRESS,
    OAUTH_GRANT_DAYS,
    OAUTH_WINDOW_SECONDS,
)
from archivolt.domain.messages import Language
from archivolt.domain.oauth import OAuthError
from archivolt.entrypoints.browser import texts
from archivolt.entrypoints.browser.markup import Markup, element, joined
from archivolt.entrypoints.browser.pages import page
from archivolt.entrypoints.browser.services import BrowserServices, BrowserServicesOf
from archivolt.entrypoints.browser.session import (
    Fields,
    SignInNeededError,
    field,
    form_of,
    hidden_token,
    require_own_form,
    require_signed_in,
    sent_to,
    signed_in,
)
from archivolt.entrypoints.browser.sign_in import address_of
from archivolt.entrypoints.http.errors import language_for
from archivolt.governance.oauth.redirects import is_on_this_machine, place_of
from archivolt.governance.oauth.requests import (
    AuthorizationRequest,
    RefusedToClientError,
    described,
    read_request,
)
from archivolt.governance.sign_in.sessions import SignedIn

_AUTHORIZE: Final = "/oauth/authorize"
_MAX_QUERY_FIELDS: Final = 50


@dataclass(frozen=True, slots=True, kw_only=True)
class _Asked:
    """A request, the query that it came in, and who is asked."""

    request: AuthorizationRequest
    query: str
    by: SignedIn
    language: Language


def consent_routes(services: BrowserServicesOf) -> list[Route]:
    """Return the routes of the page."""

    async def show(request: Request) -> Response:
        return await run_in_threadpool(_shown, services(), request)

    async def decide(request: Request) -> Response:
        fields = await form_of(request)
        return await run_in_threadpool(_decided, services(), request, fields)

    return [
        Route(_AUTHORIZE, show, methods=["GET"]),
        Route(_AUTHORIZE, decide, methods=["POST"]),
    ]


def _shown(services: BrowserServices, request: Request) -> Response:
    key = f"authorize-from#{address_of(request)}"
    services.throttle.count(key, MAX_OAUTH_REQUESTS_PER_ADDRESS, OAUTH_WINDOW_SECONDS)
    query = request.url.query
    if services.clients.has_to_read(request.query_params.get("client_id", "")):
        # Nobody makes us read addresses who has not signed in.
        require_signed_in(request, services)
    try:
        asked = _read(services, query)
    except RefusedToClientError as refused:
        # Nor sends anybody else on: whoever registers names an address (RFC 9700 §4.11.2).
        require_signed_in(request, services)
        return sent_to(refused.address)
    by = require_signed_in(request, services)
    shown = _Asked(request=asked, query=query, by=by, language=language_for(request))
    return _consent_page(services, shown)


def _read(services: BrowserServices, query: str) -> AuthorizationRequest:
    try:
        fields = parse_qsl(query, keep_blank_values=True, max_num_fields=_MAX_QUERY_FIELDS)
    except ValueError as error:
        raise InvalidRequestError("unreadable_request") from error
    return read_request(fields, services.clients, services.resource)


def _decided(services: BrowserServices, request: Request, fields: Fields) -> Response:
    if signed_in(request, services) is None:
        # Too long ago: the page is shown again, after signing in.
        raise SignInNeededError(f"{_AUTHORIZE}?{field(fields, 'request')}")
    by = require_own_form(request, services, fields)
    query = field(fields, "request")
    try:
        asked = _read(services, query)
    except RefusedToClientError as refused:
        return sent_to(refused.address)
    if field(fields, "decision") != "agree":
        denied = OAuthError("oauth_denied")
        told = {"error": denied.error, "error_description": described(denied)}
        return sent_to(asked.answered(**told))
    reach = _reach(services, by, asked, fields)
    if reach.vaults is not None and not reach.vaults:
        shown = _Asked(request=asked, query=query, by=by, language=language_for(request))
        return _consent_page(services, shown, problem=texts.VAULTS_NONE_CHOSEN)
    with services.by_hand.doing(by.principal, "let_program_in", client=asked.client.id):
        services.clients.keep(asked.client)
        address = services.tokens.agree(by.person, asked, reach)
    return sent_to(address)


def _reach(
    services: BrowserServices, by: SignedIn, asked: AuthorizationRequest, fields: Fields
) -> TokenReach:
    """Return how far the person lets the program; never further than it asked."""
    read_only = not asked.writes or field(fields, "access") != "write"
    if field(fields, "reach") == "all":
        return TokenReach(read_only=read_only)
    chosen = {value for name, value in fields if name == "vault"}
    own = {access.vault.ref.id for access in services.vaults.accessible(by.principal)}
    return TokenReach(read_only=read_only, vaults=frozenset(chosen & own))


def _consent_page(
    services: BrowserServices, asked: _Asked, *, problem: texts.Message | None = None
) -> Response:
    language, request = asked.language, asked.request
    title = texts.CONSENT.spoken(language).format(client=request.client.name)
    form = element(
        "form",
        hidden_token(asked.by),
        element("input", type="hidden", name="request", value=asked.query),
        _access(asked),
        _vaults(services, asked),
        element("p", texts.CONSENT_END.spoken(language).format(days=OAUTH_GRANT_DAYS)),
        _button("agree", texts.AGREE.spoken(language)),
        _button("decline", texts.DECLINE.spoken(language)),
        method="post",
        action=services.address(_AUTHORIZE),
    )
    return page(
        title,
        language,
        element("p", problem.spoken(language), role="alert", class_="warning") if problem else "",
        _about(asked),
        form,
        _somebody_else(services, asked),
        status=400 if problem else 200,
        form_targets=[request.redirect_uri],
    )


def _about(asked: _Asked) -> Markup:
    """Say who asks and where the answer goes: what a person can compare with what they did."""
    request, language = asked.request, asked.language
    said = texts.CONSENT_TEXT.spoken(language)
    client = request.client
    is_local = is_on_this_machine(request.redirect_uri)
    # On this machine whatever listens gets the answer, whoever's document names the address.
    if client.has_document and not is_local:
        host = urlsplit(client.id).netloc
        proof = element("p", texts.CONSENT_PROVEN.spoken(language).format(host=host))
    else:
        proof = element("p", texts.CONSENT_UNPROVEN.spoken(language), class_="warning")
    local = element("p", texts.CONSENT_LOCAL.spoken(language))
    return joined(
        element("p", said.format(client=client.name, user=asked.by.person.user)),
        element("p", element("strong", element("code", place_of(request.redirect_uri)))),
        local if is_local else "",
        proof,
    )


def _access(asked: _Asked) -> Markup:
    language, writes = asked.language, asked.request.writes
    read = texts.ACCESS_READ.spoken(language)
    if not writes:
        only = element("label", _radio("access", "read", chosen=True), f" {read}")
        return _group(texts.ACCESS.spoken(language), only)
    return _group(
        texts.ACCESS.spoken(language),
        element("label", _radio("access", "read", chosen=False), f" {read}"),
        element(
            "label",
            _radio("access", "write", chosen=True),
            f" {texts.ACCESS_WRITE.spoken(language)}",
        ),
    )


def _vaults(services: BrowserServices, asked: _Asked) -> Markup:
    language = asked.language
    boxes = [
        element(
            "label",
            element("input", type="checkbox", name="vault", value=access.vault.ref.id),
            f" {access.vault.name}",
        )
        for access in services.vaults.accessible(asked.by.principal)
    ]
    every = texts.VAULTS_ALL.spoken(language)
    some = texts.VAULTS_SOME.spoken(language)
    return _group(
        texts.VAULTS.spoken(language),
        element("label", _radio("reach", "all", chosen=True), f" {every}"),
        element("label", _radio("reach", "some", chosen=False), f" {some}"),
        *boxes,
    )


def _group(title: str, *content: str) -> Markup:
    return element("fieldset", element("legend", title), *content)


def _radio(name: str, value: str, *, chosen: bool) -> Markup:
    return element("input", type="radio", name=name, value=value, checked=chosen)


def _button(decision: str, label: str) -> Markup:
    return element("button", label, type="submit", name="decision", value=decision)


def _somebody_else(services: BrowserServices, asked: _Asked) -> Markup:
    return element(
        "form",
        hidden_token(asked.by),
        element("input", type="hidden", name="to", value=f"{_AUTHORIZE}?{asked.query}"),
        element("button", texts.OTHER_PERSON.spoken(asked.language), type="submit"),
        method="post",
        action=services.address("/oauth/sign-out"),
    )
