"""The command `tenant …`: the tenants of the stack on this machine."""

import argparse
from typing import Any

from archivolt.domain.errors import UnauthenticatedError
from archivolt.domain.identity import tenant_id
from archivolt_local.people import AddCommand
from archivolt_local.places import DataFolder
from archivolt_local.problems import StartError
from archivolt_local.status import ask, running_stack

_MODULE = "archivolt_local.tenant_records"


def add_tenant_command(add: AddCommand) -> None:
    """Add the command `tenant …` to those of `archivolt`."""
    command = add("tenant", _tenant, "List the tenants, or suspend or resume one.")
    command.add_argument("action", choices=["list", "suspend", "resume"])
    command.add_argument("id", nargs="?", default="")


def _tenant(options: argparse.Namespace) -> int:
    arguments = [options.action]
    if options.action != "list":
        try:
            arguments.append(tenant_id(options.id))
        except UnauthenticatedError as error:
            raise StartError(
                "Give the id of a tenant; `archivolt tenant list` has them."
            ) from error
    stack = running_stack(DataFolder(options.data.expanduser().absolute()))
    answer: dict[str, Any] = ask(stack, _MODULE, *arguments)
    if "problem" in answer:
        raise StartError(answer["problem"])
    for tenant in answer["tenants"]:
        print(f"{tenant['id']}  {tenant['state']}")
    return 0
