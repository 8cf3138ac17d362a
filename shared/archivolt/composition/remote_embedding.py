"""Models that providers have: where they are, and how they are asked with one key or another."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Final, NoReturn
from urllib.parse import quote, urlsplit

from archivolt.adapters.embedding.calls import EmbeddingCalls
from archivolt.adapters.embedding.models import EmbeddingModel, known_model
from archivolt.adapters.embedding.protocols import EmbeddingProtocol, OpenAIEmbeddings, WorkersAI
from archivolt.adapters.embedding.remote import Pay, RemoteEmbedder
from archivolt.adapters.http.addresses import OutboundRules
from archivolt.adapters.http.outbound import Caps, guarded_client
from archivolt.composition.tokens import token_counter
from archivolt.domain.embedding_key import EmbeddingKey
from archivolt.ports.ingestion import TokenCounter
from archivolt.settings import EmbeddingChoice, MissingSettingError

if TYPE_CHECKING:
    import httpx2

_CLOUDFLARE: Final = "https://api.cloudflare.com/client/v4"
_CLOUDFLARE_MODEL: Final = "@cf/baai/bge-m3"
_SECONDS: Final = 30


class DescribedEmbedder:
    """An `Embedder` of a provider that nobody pays for, and that so makes no vectors."""

    def __init__(self, model: EmbeddingModel) -> None:
        self.model: str = model.id
        self.dimension: int = model.dimension
        self.threshold: float = model.threshold

    def embed_passages(self, texts: Sequence[str]) -> NoReturn:  # noqa: ARG002  they are not sent
        """Refuse to.

        Raises:
            LookupError: Always.

        """
        raise LookupError("a provider is asked for a tenant's vectors alone")

    def embed_query(self, text: str) -> NoReturn:
        """Refuse to, as `embed_passages`."""
        return self.embed_passages([text])


@dataclass(frozen=True, kw_only=True)
class RemoteModel:
    """A model behind an address.

    `address` returns where it is for an account, "" being the deployment's; `own_key` is the
    deployment's; `keyless`: it may be asked without any.
    """

    address: Callable[[str], str]
    protocol: EmbeddingProtocol
    model: EmbeddingModel
    own_key: EmbeddingKey
    count: TokenCounter
    keyless: bool = False

    @property
    def origin(self) -> str:
        """Where keys are sent: scheme, host and port."""
        return _origin(self.address(""))

    def with_key(self, key: EmbeddingKey, *, pay: Pay) -> RemoteEmbedder:
        """Return the model as it is asked with a key, each call paid for; nothing is sent yet."""
        calls = EmbeddingCalls(self._client, self.address(key.account), key.key)
        return RemoteEmbedder(calls, self.protocol, self.model, count=self.count, pay=pay)

    def described(self) -> "DescribedEmbedder":
        """Return what the model is; it is asked on behalf of a tenant alone."""
        return DescribedEmbedder(self.model)

    @cached_property
    def _client(self) -> "httpx2.Client":
        """What reaches this one host, wherever it is: the deployment names it."""
        rules = OutboundRules.from_setting(urlsplit(self.origin).netloc)
        return guarded_client(rules, Caps(seconds=_SECONDS))


def cloudflare(choice: EmbeddingChoice) -> RemoteModel:
    """Return a model of Cloudflare Workers AI.

    Raises:
        MissingSettingError: The choice leaves out the account.

    """
    name = choice.model or _CLOUDFLARE_MODEL
    own = _needed(choice, "account")
    base = choice.base_url.rstrip("/") or _CLOUDFLARE
    run = f"ai/run/{quote(name, safe='@/')}"
    return RemoteModel(
        address=lambda account: f"{base}/accounts/{quote(account or own, safe='')}/{run}",
        protocol=WorkersAI(),
        model=_described(choice, name),
        own_key=EmbeddingKey(key=choice.api_key),
        count=token_counter(choice.tokenizer),
    )


def openai(choice: EmbeddingChoice) -> RemoteModel:
    """Return a model of an endpoint that speaks OpenAI's protocol.

    Raises:
        MissingSettingError: The choice leaves out the model, the address, or the dimension of a
            model that is not known.

    """
    name = _needed(choice, "model")
    url = f"{_needed(choice, 'base_url').rstrip('/')}/embeddings"
    model = _described(choice, name)
    return RemoteModel(
        address=lambda _: url,
        protocol=OpenAIEmbeddings(name, model.dimension),
        model=model,
        own_key=EmbeddingKey(key=choice.api_key),
        count=token_counter(choice.tokenizer),
        keyless=True,
    )


def _origin(url: str) -> str:
    parts = urlsplit(url)
    return f"{parts.scheme}://{parts.netloc.rpartition('@')[2].lower()}"


def _described(choice: EmbeddingChoice, name: str) -> EmbeddingModel:
    """Return what is said of a model, and where nothing is said, what is known of it."""
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
