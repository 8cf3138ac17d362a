"""What reads the web, with clients of its own: a host allowed for models is not so for pages."""

from functools import cache
from typing import TYPE_CHECKING

from archivolt.adapters.http.addresses import OutboundRules
from archivolt.domain.limits import MAX_WEB_HOP_SECONDS, MAX_WEB_PAGE_BYTES, MAX_WEB_SECONDS

if TYPE_CHECKING:
    from archivolt.adapters.http.web_pages import HttpWebPages
    from archivolt.adapters.searxng.search import SearxngSearch


@cache
def web_pages(allowed_hosts: str) -> "HttpWebPages":
    """Return what reads pages: public ones, and those of hosts that the deployment allows."""
    from archivolt.adapters.http.outbound import Caps, guarded_client
    from archivolt.adapters.http.web_pages import HttpWebPages
    from archivolt.composition.extraction import extractor_of_all_formats

    rules = OutboundRules.from_setting(allowed_hosts)
    caps = Caps(max_bytes=MAX_WEB_PAGE_BYTES, seconds=MAX_WEB_HOP_SECONDS)
    return HttpWebPages(
        guarded_client(rules, caps), extractor_of_all_formats, any_port=bool(rules.allowed)
    )


@cache
def web_search(address: str) -> "SearxngSearch":
    """Return the search engine at `address`; "" for none."""
    from archivolt.adapters.http.outbound import Caps, guarded_client
    from archivolt.adapters.searxng.search import SearxngSearch, rules_for

    caps = Caps(max_bytes=MAX_WEB_PAGE_BYTES, seconds=MAX_WEB_SECONDS)
    return SearxngSearch(guarded_client(rules_for(address), caps), address)
