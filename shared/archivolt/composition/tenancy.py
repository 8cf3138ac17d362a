"""Tenants, who may come in, and how often."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from archivolt.bootstrap import Container
    from archivolt.governance.admission import Admission
    from archivolt.governance.tenants import Tenants
    from archivolt.ports.tenancy import TenantDirectory
    from archivolt.tools.rate_limit import RateLimit


def admission(on: "Container") -> "Admission":
    """Return who may come in."""
    from archivolt.governance.admission import Admission

    return Admission(lambda: tenant_directory(on), on.clock)


def tenants(on: "Container") -> "Tenants":
    """Return what administrators do with tenants and their people."""
    from archivolt.composition.identity import oauth_grants, personal_tokens
    from archivolt.governance.tenants import Tenants

    return Tenants(
        tenant_directory(on),
        on.admission,
        on.clock,
        tokens=lambda: personal_tokens(on),
        grants=lambda: oauth_grants(on),
        vaults=on.vault_directory,
    )


def tenant_directory(on: "Container") -> "TenantDirectory":
    """Return where tenants and the people seen in them are kept."""
    from archivolt.adapters.dynamodb.tenants import DynamoTenants

    return DynamoTenants(on.table("control_table"))


def rate_limit(on: "Container") -> "RateLimit":
    """Return how often a token may call."""
    from archivolt.tools.rate_limit import RateLimit

    return RateLimit(
        counter=on.rate_counter,
        per_token=on.settings.archivolt_tool_rate_limit,
        per_tool=on.settings.archivolt_tool_rate_limit_per_tool,
        per_tenant=on.settings.archivolt_tenant_rate_limit,
        window=on.settings.archivolt_tool_rate_window,
        of_tenant=on.admission.calls_per_window,
    )
