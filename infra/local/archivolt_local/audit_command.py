"""The command `archivolt audit verify`: whether the audit log is whole and unchanged."""

import argparse
import json
from typing import Any

from archivolt_local.people import AddCommand
from archivolt_local.places import DataFolder


def add_audit_command(add: AddCommand) -> None:
    """Add the command to those of `archivolt`."""
    audit = add("audit", _verify, "Check that the audit log is whole and unchanged.")
    audit.add_argument("action", choices=["verify"])
    audit.add_argument("--tenant", default="", help="of this tenant only")
    audit.add_argument("--json", action="store_true", help="as one JSON list")
    audit.add_argument(
        "--stack", metavar="NAME",
        help="of a stack on AWS, with the shell's credentials, and not of this machine's",
    )  # fmt: skip


def _verify(options: argparse.Namespace) -> int:
    from archivolt_local.verify_audit import describe_audit  # noqa: PLC0415  heavy

    reports = _deployed(options) if options.stack else _local(options)
    print(json.dumps(reports) if options.json else describe_audit(reports))
    return 1 if any(report["faults"] for report in reports) else 0


def _local(options: argparse.Namespace) -> list[dict[str, Any]]:
    from archivolt_local.status import verify_audit  # noqa: PLC0415  heavy

    return verify_audit(DataFolder(options.data.expanduser().absolute()), tenant=options.tenant)


def _deployed(options: argparse.Namespace) -> list[dict[str, Any]]:
    from archivolt_local.deployed import deployed  # noqa: PLC0415  heavy
    from archivolt_local.verify_audit import verify  # noqa: PLC0415  heavy

    with deployed(options.stack) as container:
        return verify(container, tenant=options.tenant)
