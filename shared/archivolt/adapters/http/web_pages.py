"""Pages of the public Internet, read through a guarded client (O64).

Each redirect is checked like the first address: its form here, where it leads in the client.
"""

import time
from collections.abc import Callable
from typing import Final

import httpx2

from archivolt.adapters.http.outbound import AnswerCapError
from archivolt.adapters.http.web_addresses import page_address, redirected
from archivolt.domain.errors import (
    InvalidRequestError,
    NotFoundError,
    TooLargeError,
    UnavailableError,
    UnsupportedContentError,
)
from archivolt.domain.limits import (
    MAX_WEB_HOP_SECONDS,
    MAX_WEB_PAGE_BYTES,
    MAX_WEB_REDIRECTS,
    MAX_WEB_SECONDS,
)
from archivolt.ports.ingestion import Extractor
from archivolt.ports.web import WebPage

_ACCEPT: Final = "text/html,text/markdown,text/plain,application/json,application/pdf,*/*;q=0.5"
_TIMEOUT: Final = httpx2.Timeout(MAX_WEB_HOP_SECONDS, connect=5)
_OK: Final = range(200, 300)
_PLAIN: Final = "text/plain"
# What the extractor has to know of a page beside its bytes: a name.
_NAMES: Final = {
    "text/html": "page.html",
    "application/xhtml+xml": "page.html",
    "text/markdown": "page.md",
    "text/csv": "page.csv",
    "application/json": "page.json",
}


class HttpWebPages:
    """A `WebPages` over HTTP.

    Args:
        client: A guarded client with the caps of a page.
        extractor: Gets the text out of a page.
        any_port: Whether pages may stand at ports that browsers do not use by themselves.

    """

    def __init__(
        self, client: httpx2.Client, extractor: Callable[[], Extractor], *, any_port: bool = False
    ) -> None:
        self._client = client
        self._extractor = extractor
        self._any_port = any_port

    def fetch(self, url: str) -> WebPage:
        """Return the text of a page; see the port."""
        ends = time.monotonic() + MAX_WEB_SECONDS
        # Some pages lead on for ever to whom does not bring back what they gave on the way.
        cookies = httpx2.Cookies()
        for _ in range(MAX_WEB_REDIRECTS + 1):
            url = page_address(url, any_port=self._any_port)
            if time.monotonic() > ends:
                raise UnavailableError("web_page_unavailable", url=url)
            response = self._get(url, cookies)
            if not response.has_redirect_location:
                return self._page(url, response)
            url = redirected(url, response.headers.get("location", ""))
        raise InvalidRequestError("web_address_invalid", url=url, reason="url_redirects")

    def _get(self, url: str, cookies: httpx2.Cookies) -> httpx2.Response:
        try:
            request = self._client.build_request(
                "GET", url, headers={"accept": _ACCEPT}, timeout=_TIMEOUT
            )
            cookies.set_cookie_header(request)
            response = self._client.send(request)
        except AnswerCapError as error:
            raise TooLargeError("web_page_too_large", limit=MAX_WEB_PAGE_BYTES) from error
        except httpx2.InvalidURL as error:
            raise InvalidRequestError("web_address_invalid", url=url, reason="url_form") from error
        except httpx2.HTTPError as error:
            raise UnavailableError("web_page_unavailable", url=url) from error
        cookies.extract_cookies(response)
        return response

    def _page(self, url: str, response: httpx2.Response) -> WebPage:
        if response.status_code not in _OK:
            raise NotFoundError("web_page_refused", url=url, status=response.status_code)
        kind = response.headers.get("content-type", "").partition(";")[0].strip().lower()
        data, name = response.content, _NAMES.get(kind, "page")
        if kind.startswith("text/") or name != "page":
            data = _in_utf8(response)
            name = name if name != "page" else "page.txt"
        try:
            read = self._extractor().extract(data, name=name)
        except UnsupportedContentError as error:
            raise UnsupportedContentError("web_page_unreadable", url=url, kind=kind) from error
        return WebPage(
            url=url, title=read.title, content_type=kind or _PLAIN, text=read.markdown.strip("\n")
        )


def _in_utf8(response: httpx2.Response) -> bytes:
    """Return a text in UTF-8 where its header says what it is in; else as it came."""
    encoding = response.charset_encoding
    try:
        return response.content.decode(encoding).encode() if encoding else response.content
    except (LookupError, UnicodeError):
        return response.content
