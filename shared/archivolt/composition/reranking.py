"""Which model orders passages anew, if any; nothing is imported or sent where none is chosen."""

from typing import TYPE_CHECKING, Final
from urllib.parse import quote, urlsplit

from archivolt.settings import MissingSettingError, RerankerChoice, Settings

if TYPE_CHECKING:
    from collections.abc import Callable

    from archivolt.domain.identity import TenantId
    from archivolt.ports.retrieval import Reranker

_CLOUDFLARE: Final = "https://api.cloudflare.com/client/v4"
_CLOUDFLARE_MODEL: Final = "@cf/baai/bge-reranker-base"
_SECONDS: Final = 8


def reranker_for(settings: Settings) -> "Callable[[TenantId], Reranker | None]":
    """Return the model that orders the passages of a tenant; None for those whom it does not serve.

    The deployment's key serves the tenant that it serves for vectors (decision 14); a server that
    wants no key serves all.

    Raises:
        MissingSettingError: The choice leaves out what its provider needs.

    """
    choice = settings.reranker
    if not choice.provider:
        return lambda _: None
    reranker = _reranker(choice)
    only = settings.environment_tenant if choice.api_key else None
    return lambda tenant: reranker if only is None or tenant == only else None


def _reranker(choice: RerankerChoice) -> "Reranker":
    from archivolt.adapters.http.addresses import OutboundRules
    from archivolt.adapters.http.outbound import Caps, guarded_client
    from archivolt.adapters.reranking.protocols import CohereRerank, TeiRerank, WorkersAIRerank
    from archivolt.adapters.reranking.remote import RemoteReranker

    if choice.provider == "cloudflare":
        base = choice.base_url.rstrip("/") or _CLOUDFLARE
        model = quote(choice.model or _CLOUDFLARE_MODEL, safe="@/")
        url = f"{base}/accounts/{quote(_needed(choice, 'account'), safe='')}/ai/run/{model}"
        protocol = WorkersAIRerank()
    else:
        url = f"{_needed(choice, 'base_url').rstrip('/')}/rerank"
        is_tei = choice.provider == "tei"
        protocol = TeiRerank() if is_tei else CohereRerank(_needed(choice, "model"))
    # The one host is reached wherever it is: the deployment names it.
    rules = OutboundRules.from_setting(urlsplit(url).netloc)
    client = guarded_client(rules, Caps(seconds=_SECONDS))
    return RemoteReranker(client, url, protocol, key=choice.api_key)


def _needed(choice: RerankerChoice, name: str) -> str:
    value: str = getattr(choice, name)
    if not value:
        raise MissingSettingError(f"RERANKER_{name.upper()} is not set")
    return value
