"""What an administrator may change for a tenant, and what follows of it."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from archivolt.bootstrap import Container
    from archivolt.governance.settings import SettingsService


def settings_service(on: "Container") -> "SettingsService":
    """Return it; a key for vectors lets the documents that waited for one follow."""
    from archivolt.governance.settings import SettingsService

    return SettingsService(
        on.tenant_settings,
        on.secret_box,
        embedding_origin=on.index.models.origin,
        catch_up=on.index.sync.synchronise,
    )
