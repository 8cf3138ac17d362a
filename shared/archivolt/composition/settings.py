"""What an administrator may change for a tenant, and what follows of it."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from archivolt.bootstrap import Container
    from archivolt.chat.key_tests import KeyTests
    from archivolt.governance.settings import SettingsService


def settings_service(on: "Container") -> "SettingsService":
    """Return it; a key for vectors lets the documents that waited for one follow."""
    from archivolt.composition.tenancy import tenant_directory
    from archivolt.governance.settings import SettingsService

    return SettingsService(
        on.tenant_settings,
        on.secret_box,
        tenant_directory(on),
        embedding_origin=on.index.models.origin,
        catch_up=on.index.sync.synchronise,
    )


def key_tests(on: "Container") -> "KeyTests":
    """Return what tries the keys that tenants gave."""
    from archivolt.adapters.provider_keys.check import HttpProviderKeyCheck
    from archivolt.chat.key_tests import KeyTests

    return KeyTests(
        on.tenant_settings,
        lambda: on.secret_box,
        lambda: HttpProviderKeyCheck(lambda: on.outbound_client),
    )
