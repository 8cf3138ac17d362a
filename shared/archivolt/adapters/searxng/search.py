"""Web search through a SearXNG that the deployment names (O63)."""

from typing import Any, Final, cast
from urllib.parse import urlsplit

import httpx2

from archivolt.adapters.http.addresses import OutboundRules
from archivolt.domain.errors import UnavailableError
from archivolt.domain.limits import MAX_WEB_EXCERPT_CHARS, MAX_WEB_SECONDS
from archivolt.ports.web import WebHit, WebQuery

_TIMEOUT: Final = httpx2.Timeout(MAX_WEB_SECONDS, connect=5)
_OK: Final = 200
_DEFAULT_PORTS: Final = {"http": 80, "https": 443}


def rules_for(address: str) -> OutboundRules:
    """Return the rules under which the named engine, and nothing else, may be a private host."""
    parts = urlsplit(address)
    port = parts.port or _DEFAULT_PORTS.get(parts.scheme, 0)
    return OutboundRules(frozenset({f"{parts.hostname}:{port}"}))


class SearxngSearch:
    """A `WebSearch`.

    Args:
        client: A guarded client that may call the engine.
        address: The engine's address; "" if there is none.

    """

    def __init__(self, client: httpx2.Client, address: str) -> None:
        self._client = client
        self._address = address.rstrip("/")

    def search(self, query: WebQuery) -> list[WebHit]:
        """Return one page of results; see the port."""
        if not self._address:
            raise UnavailableError("web_search_not_configured")
        asked = {"q": query.q, "format": "json", "pageno": str(query.page)}
        if query.category:
            asked["categories"] = query.category
        if query.language:
            asked["language"] = query.language
        return [hit for entry in self._results(asked) if (hit := _hit(entry))]

    def _results(self, asked: dict[str, str]) -> list[object]:
        try:
            response = self._client.get(f"{self._address}/search", params=asked, timeout=_TIMEOUT)
            found: Any = response.json() if response.status_code == _OK else None
        except (httpx2.HTTPError, httpx2.InvalidURL, ValueError) as error:
            raise UnavailableError("web_search_unavailable") from error
        results = (
            cast("dict[str, object]", found).get("results") if isinstance(found, dict) else None
        )
        if not isinstance(results, list):
            raise UnavailableError("web_search_unavailable")
        return cast("list[object]", results)


def _hit(entry: object) -> WebHit | None:
    """Return a result; None for an entry that names no page."""
    if not isinstance(entry, dict):
        return None
    fields = cast("dict[str, object]", entry)
    url = _text(fields, "url")
    if not url.startswith(("http://", "https://")):
        return None
    return WebHit(
        title=_text(fields, "title"),
        url=url,
        excerpt=_text(fields, "content"),
        published=_text(fields, "publishedDate"),
    )


def _text(fields: dict[str, object], name: str) -> str:
    value = fields.get(name)
    return value[: 4 * MAX_WEB_EXCERPT_CHARS].strip() if isinstance(value, str) else ""
