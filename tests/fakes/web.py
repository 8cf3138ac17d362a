"""A web of pages that a test wrote."""

from archivolt.domain.errors import NotFoundError
from archivolt.ports.web import WebHit, WebPage, WebQuery


class ScriptedWeb:
    """A `WebPages` and a `WebSearch` over `pages`; a search finds the pages with all its words."""

    def __init__(self) -> None:
        self.pages: dict[str, WebPage] = {}
        self.queries: list[WebQuery] = []
        self.fetched: list[str] = []

    def add(self, url: str, text: str, *, title: str = "", at: str = "") -> None:
        """Add a page; with `at` it is there in the end."""
        page = WebPage(url=at or url, title=title, content_type="text/html", text=text)
        self.pages[url] = page

    def fetch(self, url: str) -> WebPage:
        """Return a page."""
        self.fetched.append(url)
        if url not in self.pages:
            raise NotFoundError("web_page_refused", url=url, status=404)
        return self.pages[url]

    def search(self, query: WebQuery) -> list[WebHit]:
        """Return the pages with all the words."""
        self.queries.append(query)
        words = query.q.lower().split()
        return [
            WebHit(title=page.title, url=page.url, excerpt=page.text)
            for page in self.pages.values()
            if all(word in page.text.lower() for word in words)
        ]
