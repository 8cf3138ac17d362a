"""The public web: finding pages and reading them (O63, O64)."""

from dataclasses import dataclass
from typing import Protocol


@dataclass(frozen=True, slots=True, kw_only=True)
class WebPage:
    """A page as text: Markdown, where it has a layout. `url` is where it was in the end."""

    url: str
    title: str
    content_type: str
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class WebHit:
    """A page that a search engine found. `published` is empty where it does not say."""

    title: str
    url: str
    excerpt: str
    published: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class WebQuery:
    """What to look for; `category` and `language` may be empty, and pages count from 1."""

    q: str
    category: str = ""
    language: str = ""
    page: int = 1


class WebPages(Protocol):
    """Reads pages of the public Internet, and of no other network."""

    def fetch(self, url: str) -> WebPage:
        """Return the text of a page, after at most a few redirects.

        Raises:
            InvalidRequestError: `web_address_invalid`, or `address_not_allowed`: where it is, or
                where it leads.
            UnavailableError: `web_page_unavailable`: it cannot be reached, or not in time.
            NotFoundError: `web_page_refused`: the server says no.
            TooLargeError: `web_page_too_large`, or there is too much text in it.
            UnsupportedContentError: `web_page_unreadable`.

        """
        ...


class WebSearch(Protocol):
    """Asks a search engine."""

    def search(self, query: WebQuery) -> list[WebHit]:
        """Return one page of results, best first.

        Raises:
            UnavailableError: `web_search_not_configured`, or `web_search_unavailable`.

        """
        ...
