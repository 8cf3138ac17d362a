"""Who sits in front of a browser, and whether a form is of a page of ours.

The cookie is out of scripts' reach, goes to nobody else's page but by a link, and over https only,
where there is https. A form has to come from our own page: its origin says so, and the token in it.
"""

from collections.abc import Sequence
from typing import Final
from urllib.parse import parse_qsl, urlencode, urlsplit

from starlette.requests import Request
from starlette.responses import RedirectResponse, Response

from archivolt.domain.errors import (
    ForbiddenError,
    InvalidRequestError,
    UnauthenticatedError,
    UnsupportedContentError,
)
from archivolt.domain.limits import BROWSER_SESSION_SECONDS
from archivolt.entrypoints.browser import texts
from archivolt.entrypoints.browser.markup import Markup, element
from archivolt.entrypoints.browser.pages import page_going_on, page_headers
from archivolt.entrypoints.browser.services import BrowserServices
from archivolt.entrypoints.http.errors import language_for
from archivolt.governance.sign_in.sessions import SignedIn

SESSION: Final = "session"
"""The cookie of somebody who signed in."""

_PROOF: Final = "form_token"
_FORM: Final = "application/x-www-form-urlencoded"
_MAX_FIELDS: Final = 500
# Where somebody may be sent on to once they signed in: pages of ours, and nothing else.
_RETURNS: Final = ("/oauth/authorize?", "/oauth/connections", "/oauth/mcp/", "/approve/")

Fields = Sequence[tuple[str, str]]


class SignInNeededError(UnauthenticatedError):
    """A page is for people who signed in; `path` is where they go on afterwards."""

    def __init__(self, path: str) -> None:
        super().__init__("missing_token")
        self.path = path


def signed_in(request: Request, services: BrowserServices) -> SignedIn | None:
    """Return who signed in in this browser, or None.

    Raises:
        ForbiddenError: `tenant_suspended`, `tenant_deleting`, `user_suspended`.

    """
    found = services.sessions.find(request.cookies.get(cookie_name(services, SESSION), ""))
    if found is not None:
        services.admit(found.principal)
    return found


def require_signed_in(request: Request, services: BrowserServices) -> SignedIn:
    """Return who signed in in this browser; the application sends others to sign in.

    Raises:
        SignInNeededError: Nobody.

    """
    found = signed_in(request, services)
    if found is None:
        query = f"?{request.url.query}" if request.url.query else ""
        raise SignInNeededError(f"{request.url.path}{query}")
    return found


async def form_of(request: Request) -> Fields:
    """Return the fields of a form.

    Raises:
        UnsupportedContentError: `unreadable_request`: it is none.
        InvalidRequestError: `unreadable_request`: it has too many fields.

    """
    media_type = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if media_type != _FORM:
        raise UnsupportedContentError("unreadable_request")
    text = (await request.body()).decode("utf-8", "replace")
    try:
        return parse_qsl(text, keep_blank_values=True, max_num_fields=_MAX_FIELDS)
    except ValueError as error:
        raise InvalidRequestError("unreadable_request") from error


def field(fields: Fields, name: str) -> str:
    """Return the first value of a field, "" for none."""
    return next((value for key, value in fields if key == name), "")


def require_own_page(request: Request, services: BrowserServices) -> None:
    """Check that a form was sent from a page of ours; what is no browser does not say.

    Raises:
        ForbiddenError: `form_foreign`.

    """
    ours = urlsplit(services.public_url)
    origin = request.headers.get("origin", f"{ours.scheme}://{ours.netloc}")
    site = request.headers.get("sec-fetch-site", "same-origin")
    if origin != f"{ours.scheme}://{ours.netloc}" or site not in {"same-origin", "none"}:
        raise ForbiddenError("form_foreign")


def require_own_form(request: Request, services: BrowserServices, fields: Fields) -> SignedIn:
    """Return who sent a form of a page that they were given.

    Raises:
        ForbiddenError: `form_foreign`: somebody else's page, or of a session that is over.

    """
    require_own_page(request, services)
    found = signed_in(request, services)
    if found is None or not found.sent(field(fields, _PROOF)):
        raise ForbiddenError("form_foreign")
    return found


def hidden_token(found: SignedIn) -> Markup:
    """Return the field that a form of somebody who signed in has to hold."""
    return element("input", type="hidden", name=_PROOF, value=found.form_token)


def with_session(response: Response, services: BrowserServices, secret: str) -> Response:
    """Return an answer that begins a session in the browser."""
    return with_cookie(response, services, SESSION, secret, seconds=BROWSER_SESSION_SECONDS)


def without_session(response: Response, services: BrowserServices) -> Response:
    """Return an answer that makes the browser forget its session."""
    return with_cookie(response, services, SESSION, "", seconds=0)


def with_cookie(
    response: Response, services: BrowserServices, kind: str, value: str, *, seconds: int
) -> Response:
    """Return an answer that sets a cookie; 0 seconds make the browser forget it."""
    response.set_cookie(
        cookie_name(services, kind),
        value,
        max_age=seconds,
        path="/",
        secure=_is_https(services),
        httponly=True,
        samesite="lax",
    )
    return response


def cookie_name(services: BrowserServices, kind: str) -> str:
    """Return a cookie's name; with `__Host-` no other host or path can set it (RFC 6265bis)."""
    return f"{'__Host-' if _is_https(services) else ''}archivolt_{kind}"


def sent_to(address: str) -> RedirectResponse:
    """Return what sends a browser on, by GET."""
    return RedirectResponse(address, status_code=303, headers=page_headers())


def sent_to_sign_in(
    request: Request, services: BrowserServices, path: str, *, again: bool = False
) -> Response:
    """Return what sends somebody to sign in who then goes on to a path.

    The identity provider is at the end of that way, and browsers hold every step after a form to
    the page's `form-action`: after a form a page goes on by itself instead.

    `again`: even if the provider still knows somebody in this browser.
    """
    address = sign_in_address(services, path, again=again)
    if services.upstream is None or request.method == "GET":
        return sent_to(address)
    return page_going_on(texts.SIGN_IN, language_for(request), address)


def sign_in_address(services: BrowserServices, path: str, *, again: bool = False) -> str:
    """Return where somebody signs in who then goes on to a path.

    `again`: even if the identity provider still knows somebody in this browser.
    """
    fields = {"to": path, **({"again": "yes"} if again else {})}
    return services.address(f"/oauth/sign-in?{urlencode(fields)}")


def return_address(services: BrowserServices, path: str) -> str:
    """Return where somebody goes on who has signed in: the path if it is one of ours."""
    known = path.startswith(_RETURNS) and path.isprintable() and "\\" not in path
    return services.address(path if known else "/oauth/connections")


def _is_https(services: BrowserServices) -> bool:
    return services.public_url.startswith("https://")
