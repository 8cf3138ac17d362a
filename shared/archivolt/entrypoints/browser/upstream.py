"""To the identity provider and back: what the browser keeps meanwhile, and nobody else."""

from typing import Final
from urllib.parse import quote

from starlette.requests import Request
from starlette.responses import Response

from archivolt.domain.errors import ForbiddenError, NotFoundError
from archivolt.domain.limits import SIGN_IN_SECONDS
from archivolt.domain.oauth import Person
from archivolt.entrypoints.browser.services import BrowserServices
from archivolt.entrypoints.browser.session import cookie_name, sent_to, with_cookie
from archivolt.governance.sign_in.upstream import UpstreamSignIn

_COOKIE: Final = "sign_in"
# What a cookie's value may hold without quotation marks (RFC 6265 §4.1.1), of an address.
_OF_COOKIES: Final = "/?&=%~+-._:!$'()*@#"
# Browsers keep cookies of up to 4,096 bytes.
_MAX_RETURN_CHARS: Final = 3_500


def departed(services: BrowserServices, to: str, *, again: bool) -> Response:
    """Send a browser to the provider; it keeps where it goes on afterwards.

    `again`: the provider asks who it is even if it knows somebody there.
    """
    departure = _upstream(services).depart(again=again)
    kept = quote(to, safe=_OF_COOKIES)
    value = f"{departure.secret}|{kept if len(kept) <= _MAX_RETURN_CHARS else ''}"
    response = sent_to(departure.address)
    return with_cookie(response, services, _COOKIE, value, seconds=SIGN_IN_SECONDS)


def arrived(services: BrowserServices, request: Request) -> tuple[Person, str]:
    """Return who came back, and where they go on.

    Raises:
        ForbiddenError: `form_foreign`, `identity_refused`.
        UnavailableError: The provider does not answer.

    """
    cookie = request.cookies.get(cookie_name(services, _COOKIE), "")
    secret, _, to = cookie.partition("|")
    asked = request.query_params
    if "error" in asked:
        raise ForbiddenError("identity_refused")
    person = _upstream(services).arrive(
        secret=secret, state=asked.get("state", ""), code=asked.get("code", "")
    )
    return person, to


def _upstream(services: BrowserServices) -> UpstreamSignIn:
    if services.upstream is None:
        raise NotFoundError("not_found")
    return services.upstream
