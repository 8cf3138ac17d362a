"""Which web pages may call: a page of a stranger must not reach a server next to its reader."""

from collections.abc import Iterable
from typing import Final
from urllib.parse import urlsplit

_LOOPBACK: Final = frozenset({"localhost", "127.0.0.1", "::1"})


class OriginRule:
    """Accepts our own pages, the listed ones, and those of the caller's own machine.

    Args:
        public_url: The product's address; may be empty.
        allowed: Origins such as `https://app.example.com`.

    """

    def __init__(self, public_url: str, allowed: Iterable[str]) -> None:
        ours = urlsplit(public_url)
        self._allowed = {*allowed, f"{ours.scheme}://{ours.netloc}"}

    def accepts(self, origin: str | None) -> bool:
        """Tell whether a request with this `Origin` may be served; without one it may."""
        if origin is None or origin in self._allowed:
            return True
        try:
            page = urlsplit(origin)
        except ValueError:
            return False
        return page.scheme in {"http", "https"} and page.hostname in _LOOPBACK
