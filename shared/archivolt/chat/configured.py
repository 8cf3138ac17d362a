"""The providers that can be reached: by a deployment's environment, and by a tenant's settings.

A key is only ever used with the address it was configured with. Nothing is opened here.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from archivolt.domain.providers import EMBEDDED, NO_PRESET, PRESETS, wire_format_of
from archivolt.domain.settings import CHAT_API_KEY, TenantSettings, provider_key_field
from archivolt.ports.chat_model import ProviderConnection


@dataclass(frozen=True, slots=True, kw_only=True)
class ConfiguredProvider:
    """A provider that can be reached, and the model it answers with unless another is named.

    `sealed_key` is a tenant's, sealed to `key_field` and opened for the one request that needs it
    (S11).
    """

    connection: ProviderConnection
    model: str = ""
    sealed_key: str = ""
    key_field: str = CHAT_API_KEY


@dataclass(frozen=True, slots=True, kw_only=True)
class Environment:
    """What a deployment says for all of its tenants.

    `providers` are its own, the preferred one first; they serve `tenant` alone (S10), None: every
    tenant of a local stack. `models` are by provider, for whoever's key is used. `preferred`
    answers where nothing else says, if there is a key (`AI_DEFAULT_PROVIDER`).
    """

    providers: Sequence[ConfiguredProvider] = ()
    models: Mapping[str, str] = field(default_factory=dict[str, str])
    tenant: str | None = ""
    preferred: str = ""


def environment_models(
    variables: Mapping[str, str], *, preferred: str = "", preferred_model: str = ""
) -> dict[str, str]:
    """Return the models that a deployment names, by provider; whoever's key is used (O72).

    Args:
        variables: `{provider}_model`, where set.
        preferred: `AI_DEFAULT_PROVIDER`.
        preferred_model: `AI_DEFAULT_MODEL`, the preferred provider's.

    """
    named = {name: variables.get(f"{name}_model", "") for name in PRESETS}
    if preferred_model and preferred in named:
        named[preferred] = preferred_model
    return {name: model for name, model in named.items() if model}


def environment_providers(
    variables: Mapping[str, str], *, preferred: str = ""
) -> list[ConfiguredProvider]:
    """Return the providers that a deployment has keys for, the preferred one first.

    Args:
        variables: `{provider}_api_key`, `{provider}_base_url`, where set.
        preferred: `AI_DEFAULT_PROVIDER`.

    """
    found: list[ConfiguredProvider] = []
    for name, preset in PRESETS.items():
        key, base_url = variables.get(f"{name}_api_key"), variables.get(f"{name}_base_url")
        if not (key or base_url):
            continue
        found.append(
            ConfiguredProvider(
                connection=_connection(name, base_url or preset.base_url, key or ""),
                model=preset.model,
            )
        )
    return sorted(found, key=lambda each: each.connection.provider != preferred)


def own_provider(settings: TenantSettings) -> ConfiguredProvider | None:
    """Return what the tenant configured, if it can be reached: a key, or an address of one."""
    provider = own_name(settings)
    preset = PRESETS.get(provider, NO_PRESET)
    if not (_is_own(settings) or preset.keyless):
        return None
    base_url = settings.chat_base_url or preset.base_url
    if not base_url or provider == EMBEDDED:
        return None
    return ConfiguredProvider(
        connection=_connection(provider, base_url, ""),
        model=preset.model,
        sealed_key=settings.sealed_chat_api_key,
    )


def keyed_providers(settings: TenantSettings) -> list[ConfiguredProvider]:
    """Return the well-known providers that the tenant gave keys for, at their own addresses."""
    return [
        ConfiguredProvider(
            connection=_connection(name, preset.base_url, ""),
            model=preset.model,
            sealed_key=settings.sealed_provider_keys[name],
            key_field=provider_key_field(name),
        )
        for name, preset in PRESETS.items()
        if name in settings.sealed_provider_keys
    ]


def _is_own(settings: TenantSettings) -> bool:
    return bool(settings.sealed_chat_api_key or settings.chat_base_url)


def own_name(settings: TenantSettings) -> str:
    """Return the name of the tenant's own provider: an address alone speaks OpenAI's format."""
    return settings.chat_provider or ("openai" if _is_own(settings) else "")


def _connection(provider: str, base_url: str, key: str) -> ProviderConnection:
    return ProviderConnection(
        provider=provider,
        base_url=base_url,
        key=key,
        wire_format=wire_format_of(provider, base_url),
    )
