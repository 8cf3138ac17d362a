"""Signing in and out."""

from functools import partial

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from archivolt.domain.errors import ArchivoltError, ForbiddenError, NotFoundError, RateLimitedError
from archivolt.domain.limits import MAX_SIGN_IN_RETURNS_PER_ADDRESS, SIGN_IN_WINDOW_SECONDS
from archivolt.domain.messages import Language
from archivolt.domain.oauth import Person
from archivolt.entrypoints.browser import texts
from archivolt.entrypoints.browser.markup import Markup, element
from archivolt.entrypoints.browser.pages import page
from archivolt.entrypoints.browser.services import BrowserServices, BrowserServicesOf
from archivolt.entrypoints.browser.session import (
    SESSION,
    Fields,
    cookie_name,
    field,
    form_of,
    require_own_form,
    require_own_page,
    return_address,
    sent_to,
    sent_to_sign_in,
    with_session,
    without_session,
)
from archivolt.entrypoints.browser.upstream import arrived, departed
from archivolt.entrypoints.http.errors import language_for, status_of
from archivolt.governance.sign_in.local import LocalSignIn


def sign_in_routes(services: BrowserServicesOf) -> list[Route]:
    """Return the routes by which people sign in and out."""

    async def show(request: Request) -> Response:
        to = request.query_params.get("to", "")
        if services().upstream is not None:
            again = "again" in request.query_params
            return await run_in_threadpool(departed, services(), to, again=again)
        _local(services())
        return _form_page(services(), language_for(request), to)

    async def submit(request: Request) -> Response:
        fields = await form_of(request)
        return await run_in_threadpool(_submitted, services(), request, fields)

    async def come_back(request: Request) -> Response:
        return await run_in_threadpool(_come_back, services(), request)

    async def show_link(request: Request) -> Response:
        return await run_in_threadpool(_link_page, services(), request)

    async def open_link(request: Request) -> Response:
        fields = await form_of(request)
        return await run_in_threadpool(_linked, services(), request, fields)

    async def sign_out(request: Request) -> Response:
        fields = await form_of(request)
        return await run_in_threadpool(_signed_out, services(), request, fields)

    return [
        Route("/oauth/sign-in", show, methods=["GET"]),
        Route("/oauth/sign-in", submit, methods=["POST"]),
        Route("/oauth/callback", come_back, methods=["GET"]),
        Route("/oauth/link", show_link, methods=["GET"]),
        Route("/oauth/link", open_link, methods=["POST"]),
        Route("/oauth/sign-out", sign_out, methods=["POST"]),
    ]


def _local(services: BrowserServices) -> LocalSignIn:
    if services.local is None:
        raise NotFoundError("not_found")
    return services.local


def _submitted(services: BrowserServices, request: Request, fields: Fields) -> Response:
    require_own_page(request, services)
    sign_in = partial(_local(services).by_password, address=address_of(request))
    to = field(fields, "to")
    try:
        person = sign_in(field(fields, "name"), field(fields, "password"))
    except (ForbiddenError, RateLimitedError) as error:
        name = field(fields, "name")
        return _form_page(services, language_for(request), to, error=error, name=name)
    return _begun(services, request, person, to)


def _linked(services: BrowserServices, request: Request, fields: Fields) -> Response:
    require_own_page(request, services)
    person = _local(services).by_link(field(fields, "token"))
    return _begun(services, request, person, "")


def _begun(services: BrowserServices, request: Request, person: Person, to: str) -> Response:
    """Begin a session, in place of one that this browser had."""
    before = request.cookies.get(cookie_name(services, SESSION), "")
    if before:
        services.sessions.end(before)
    secret = services.sessions.begin(person)
    found = services.sessions.find(secret)
    if found is not None:
        services.admit(found.principal)
        with services.by_hand.doing(found.principal, "sign_in"):
            services.greet(found.principal)
    return with_session(sent_to(return_address(services, to)), services, secret)


def _come_back(services: BrowserServices, request: Request) -> Response:
    # Each has us call the provider.
    key = f"sign-in-return-from#{address_of(request)}"
    services.throttle.count(key, MAX_SIGN_IN_RETURNS_PER_ADDRESS, SIGN_IN_WINDOW_SECONDS)
    person, to = arrived(services, request)
    return _begun(services, request, person, to)


def _signed_out(services: BrowserServices, request: Request, fields: Fields) -> Response:
    require_own_form(request, services, fields)
    services.sessions.end(request.cookies.get(cookie_name(services, SESSION), ""))
    to, language = field(fields, "to"), language_for(request)
    if to:
        sent = sent_to_sign_in(request, services, to, again=True)
        return without_session(sent, services)
    said = page(
        texts.SIGNED_OUT.spoken(language),
        language,
        element("p", texts.SIGNED_OUT_TEXT.spoken(language)),
    )
    return without_session(said, services)


def _form_page(
    services: BrowserServices,
    language: Language,
    to: str,
    *,
    error: ArchivoltError | None = None,
    name: str = "",
) -> Response:
    title = texts.SIGN_IN.spoken(language)
    problem = element("p", error.message(language), role="alert", class_="warning") if error else ""
    form = element(
        "form",
        element("input", type="hidden", name="to", value=to),
        _input(texts.SIGN_IN_NAME.spoken(language), "name", "text", "username", name),
        _input(texts.SIGN_IN_PASSWORD.spoken(language), "password", "password", "current-password"),
        element("button", title, type="submit"),
        method="post",
        action=services.address("/oauth/sign-in"),
    )
    hint = element("p", texts.SIGN_IN_HINT.spoken(language), class_="quiet")
    return page(title, language, problem, form, hint, status=status_of(error) if error else 200)


def _input(label: str, name: str, kind: str, purpose: str, value: str = "") -> Markup:
    control = element(
        "input", type=kind, name=name, value=value, autocomplete=purpose, required=True
    )
    return element("label", label, control)


def _link_page(services: BrowserServices, request: Request) -> Response:
    """Ask before the link is used up: what only looks at an address (a preview) signs nobody in."""
    language, token = language_for(request), request.query_params.get("token", "")
    person = _local(services).who(token)
    form = element(
        "form",
        element("input", type="hidden", name="token", value=token),
        element("button", texts.SIGN_IN.spoken(language), type="submit"),
        method="post",
        action=services.address("/oauth/link"),
    )
    return page(texts.SIGN_IN_AS.spoken(language).format(user=person.user), language, form)


def address_of(request: Request) -> str:
    """Return the network address that a request came from, as the front door tells it."""
    return request.client.host if request.client else ""
