"""Trying a key that a tenant gave for a provider, before people meet its refusal."""

from collections.abc import Callable
from dataclasses import replace

from archivolt.chat.configured import ConfiguredProvider, keyed_providers, own_provider
from archivolt.domain.errors import NotFoundError
from archivolt.domain.identity import Principal
from archivolt.domain.settings import TenantSettings
from archivolt.governance.tenants import reached
from archivolt.ports.governance import SecretBox, TenantSettingsStore
from archivolt.ports.provider_keys import KeyTrial, ProviderKeyCheck


class KeyTests:
    """Asks a provider whether it takes the key that a tenant's settings hold for it.

    Args:
        settings: The tenants' settings.
        secrets: Opens their keys, each for its one trial (S11).
        check: Gives what asks, when first needed.

    """

    def __init__(
        self,
        settings: TenantSettingsStore,
        secrets: Callable[[], SecretBox],
        check: Callable[[], ProviderKeyCheck],
    ) -> None:
        self._settings = settings
        self._secrets = secrets
        self._check = check

    def test(self, principal: Principal, tenant: str, provider: str) -> KeyTrial:
        """Return what the provider says of the key.

        Raises:
            NotFoundError: `tenant_not_found`, `provider_key_not_found`.
            InvalidRequestError: `address_not_allowed`.
            UnavailableError: `secret_unreadable`.

        """
        of = reached(principal, tenant)
        found = _keyed(self._settings.load(of), provider)
        if found is None:
            raise NotFoundError("provider_key_not_found", provider=provider)
        key = self._secrets().open(found.sealed_key, tenant=of, field=found.key_field)
        return self._check().check(replace(found.connection, key=key))


def _keyed(settings: TenantSettings, provider: str) -> ConfiguredProvider | None:
    """Return a provider that the settings hold a key for, the tenant's own before all others."""
    own = own_provider(settings)
    configured = [*([own] if own else []), *keyed_providers(settings)]
    return next(
        (each for each in configured if each.sealed_key and each.connection.provider == provider),
        None,
    )
