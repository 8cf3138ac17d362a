"""Which addresses are read as pages: what a person would type into a browser, and no more.

Where a name leads to is not looked at here: the guarded client does, for each connection.
"""

from typing import Final
from urllib.parse import SplitResult, urljoin, urlsplit, urlunsplit

from archivolt.domain.errors import InvalidRequestError
from archivolt.domain.limits import MAX_URL_CHARS

_PORTS: Final = {None, 80, 443, 8080, 8443}
_FIRST_PRINTABLE: Final = "!"


def page_address(url: str, *, any_port: bool = False) -> str:
    """Return an address as it is asked for, without its fragment.

    Args:
        url: The address.
        any_port: Whether it may be one that browsers do not use by themselves.

    Raises:
        InvalidRequestError: `web_address_invalid`.

    """
    parts = _split(url)
    if parts.scheme not in {"http", "https"}:
        raise InvalidRequestError("web_address_invalid", url=url, reason="url_scheme")
    if parts.username is not None or parts.password is not None:
        raise InvalidRequestError(
            "web_address_invalid", url=parts.hostname or "", reason="url_credentials"
        )
    if not any_port and parts.port not in _PORTS:
        raise InvalidRequestError("web_address_invalid", url=url, reason="url_port")
    return urlunsplit(parts._replace(fragment=""))


def redirected(url: str, location: str) -> str:
    """Return where an answer at `url` leads to; it is to be checked like any other."""
    return urljoin(url, location)


def _split(url: str) -> SplitResult:
    url = url.strip()
    try:
        parts = urlsplit(url)
        port = parts.port
    except ValueError:
        raise InvalidRequestError(
            "web_address_invalid", url=url[:MAX_URL_CHARS], reason="url_form"
        ) from None
    printable = all(sign >= _FIRST_PRINTABLE for sign in url) and "\\" not in url
    if (
        not printable
        or len(url) > MAX_URL_CHARS
        or port == 0
        or (parts.scheme and not parts.netloc)
    ):
        known = parts.scheme in {"http", "https", ""} or not parts.scheme
        reason = "url_form" if known else "url_scheme"
        raise InvalidRequestError("web_address_invalid", url=url[:MAX_URL_CHARS], reason=reason)
    return parts
