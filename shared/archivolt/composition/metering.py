"""What meters calls to providers."""

from typing import TYPE_CHECKING

from archivolt.governance.metering import Meter

if TYPE_CHECKING:
    from archivolt.bootstrap import Container
    from archivolt.governance.usage import UsageReports
    from archivolt.ports.ledger import Ledger, UsageEvents


def meter_of(container: "Container") -> Meter:
    """Return what meters the calls of a container; nothing is built before the first."""
    return Meter(
        lambda: ledger_of(container),
        lambda: _events_of(container),
        container.clock,
        container.admission.require_tenant,
    )


def ledger_of(container: "Container") -> "Ledger":
    """Return what was used, and what is set aside."""
    from archivolt.adapters.dynamodb.ledger import DynamoLedger
    from archivolt.adapters.dynamodb.table import DynamoTable

    table = container.settings.required("ledger_table")
    return DynamoLedger(DynamoTable(container.aws.dynamodb, table))


def usage_reports(container: "Container") -> "UsageReports":
    """Return what tells people what was used."""
    from archivolt.governance.usage import UsageReports

    return UsageReports(
        lambda: ledger_of(container),
        container.tenant_settings,
        meter_of(container),
        container.clock,
    )


def _events_of(container: "Container") -> "UsageEvents":
    from archivolt.adapters.eventbridge.usage_events import EventBridgeUsage

    return EventBridgeUsage(container.aws.events, container.settings.usage_event_bus)
