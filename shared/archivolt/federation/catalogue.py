"""The catalogue of MCP servers (L10): data, and everything in it is off until somebody turns it on.

Any other id is a server of the administrator's own; `custom` is there to begin with.
"""

from collections.abc import Mapping
from typing import Final

from archivolt.domain.federation import PROXY_PLACE, McpEntry, McpParameter
from archivolt.domain.language import Message

_ENTRIES: Final = (
    McpEntry(
        id="playwright",
        title="Playwright",
        description=Message(
            "A browser: opens pages, clicks, types, reads what is shown.",
            "Un navigateur : ouvre des pages, clique, saisit, lit ce qui s'affiche.",
        ),
        command="npx",
        arguments=("@playwright/mcp@latest", "--headless"),
        expose=(
            "browser_click",
            "browser_console_messages",
            "browser_navigate",
            "browser_resize",
            "browser_snapshot",
            "browser_take_screenshot",
            "browser_type",
        ),
    ),
    McpEntry(
        id="context7",
        title="Context7",
        description=Message(
            "Up-to-date documentation of programming libraries.",
            "La documentation à jour des bibliothèques de programmation.",
        ),
        command="npx",
        arguments=("-y", "@upstash/context7-mcp"),
        url="https://mcp.context7.com/mcp",
        parameters=(
            McpParameter(
                name="CONTEXT7_API_KEY",
                description=Message("A key, for more requests.", "Une clé, pour plus d'appels."),
            ),
        ),
    ),
    McpEntry(
        id="fetch",
        title="Fetch",
        description=Message(
            "Reads pages of the public web as Markdown.",
            "Lit des pages du web public, en Markdown.",
        ),
        command="python",
        # It has no guard of its own against addresses of this network.
        arguments=("-m", "mcp_server_fetch", "--proxy-url", PROXY_PLACE),
    ),
    McpEntry(
        id="searxng",
        title="SearXNG",
        description=Message(
            "Searches the web through a SearXNG of yours.",
            "Cherche sur le web par un SearXNG à vous.",
        ),
        command="npx",
        arguments=("-y", "mcp-searxng"),
        parameters=(
            McpParameter(
                name="SEARXNG_URL",
                description=Message("The address of SearXNG.", "L'adresse de SearXNG."),
                secret=False,
                required=True,
            ),
        ),
    ),
    McpEntry(
        id="custom",
        title="Custom",
        description=Message(
            "A server of your own: a command of this machine, or an address.",
            "Un serveur à vous : une commande de cette machine, ou une adresse.",
        ),
    ),
)

CATALOGUE: Final[Mapping[str, McpEntry]] = {entry.id: entry for entry in _ENTRIES}


def entry_of(server_id: str) -> McpEntry:
    """Return the entry of an id; for one of the administrator's own, an empty one."""
    description = CATALOGUE["custom"].description
    own = McpEntry(id=server_id, title=server_id, description=description)
    return CATALOGUE.get(server_id, own)
