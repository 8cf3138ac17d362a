"""Checks audit logs, tells it as JSON: `python -m archivolt_local.verify_audit [TENANT]`.

It runs with a function's environment and every right, as the stack's own maintenance code does.
"""

import json
import sys
from typing import Any

from archivolt.bootstrap import Container
from archivolt.domain.identity import TenantId
from archivolt.governance.audit_check import AuditReport
from archivolt.settings import load_settings


def verify(container: Container, *, tenant: str = "") -> list[dict[str, Any]]:
    """Check the log of a tenant, or of all; return what was found of each."""
    audit = container.retention.audit
    tenants = [TenantId(tenant)] if tenant else audit.check.tenants()
    return [told_of(audit.check.check(each)) for each in tenants]


def told_of(report: AuditReport) -> dict[str, Any]:
    """Return a report as JSON."""
    return {
        "tenant": report.tenant,
        "entries": report.entries,
        "unnamed": report.unnamed,
        "sealed_days": report.sealed_days,
        "faults": [
            {
                "fault": found.fault.value,
                "day": found.day.isoformat(),
                "lane": found.lane,
                "number": found.number,
                "count": found.count,
            }
            for found in report.faults
        ],
    }


def describe_audit(reports: list[dict[str, Any]]) -> str:
    """Return what was found, for people."""
    lines: list[str] = []
    for report in reports:
        days = f"{report['entries']} entries, {report['sealed_days']} sealed days"
        unnamed = f", {report['unnamed']} without names" if report["unnamed"] else ""
        state = "NOT whole" if report["faults"] else "whole and unchanged"
        lines.append(f"{report['tenant']}: {state} ({days}{unnamed})")
        for found in report["faults"]:
            place = f", lane {found['lane']}, from number {found['number']}"
            where = place if found["lane"] >= 0 else ""
            lines.append(f"  {found['fault']}: {found['count']} on {found['day']}{where}")
    return "\n".join(lines) or "There is no audit log yet."


if __name__ == "__main__":
    print(json.dumps(verify(Container(load_settings()), tenant="".join(sys.argv[1:2]))))
