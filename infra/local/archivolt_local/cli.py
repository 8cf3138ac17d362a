"""The command `archivolt`: starts the stack on this machine, issues its tokens, tells its state."""

import argparse
import asyncio
import json
import os
import re
import shlex
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, cast

import platformdirs

from archivolt.adapters.system.clock import SystemClock
from archivolt.domain.errors import InvalidRequestError
from archivolt.domain.identity import Role
from archivolt.domain.messages import Language
from archivolt.domain.vault import vault_name
from archivolt_local.audit_command import add_audit_command
from archivolt_local.environment import variables
from archivolt_local.people import AddCommand, add_people_commands
from archivolt_local.places import SAMPLE_VAULT, TEMPLATE, DataFolder
from archivolt_local.private_files import read_json
from archivolt_local.problems import StartError
from archivolt_local.tenants import add_tenant_command
from archivolt_local.tokens import TokenSubject, issue_token

_DEFAULT_PORT = 8080
_LAST_PORT = 65_535
_TABLES = ("auto", "ministack", "dynamodb-local")
_ASSIGNMENT = re.compile(r"([^=]+)=(.+)", re.DOTALL)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command and return its exit status."""
    options = _parser(variables()).parse_args(arguments)
    try:
        return options.run(options)
    except StartError as error:
        print(f"archivolt: {error}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        return 130


def _parser(environment: Mapping[str, str]) -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="archivolt", description="Archivolt on this machine.")
    commands = parser.add_subparsers(required=True, metavar="COMMAND")
    default_data = environment.get("DATA") or platformdirs.user_data_dir("archivolt")

    def add(name: str, run: object, summary: str) -> argparse.ArgumentParser:
        command = commands.add_parser(name, help=summary, description=summary)
        command.set_defaults(run=run)
        command.add_argument(
            "--data", type=Path, default=Path(default_data), metavar="DIR",
            help="where the stack keeps its data (DATA; default: %(default)s)",
        )  # fmt: skip
        return command

    up = add("up", _up, "Start the stack and stay in the foreground.")
    up.add_argument("--port", help="where to listen (PORT; default: 8080)")
    up.add_argument(
        "--vault", action="append", metavar="NAME=FOLDER", dest="vaults",
        help="mirror a folder into a vault (VAULTS; default: a small sample)",
    )  # fmt: skip
    up.set_defaults(environment=environment)
    token = add("token", _token, "Print a token for the running stack.")
    token.add_argument("--user", required=True)
    token.add_argument("--tenant", required=True)
    token.add_argument("--role", required=True, choices=[role.value for role in Role])
    status = add("status", _status, "Tell the vaults, what is indexed, and what waits.")
    status.add_argument("--json", action="store_true", help="as one JSON object")
    _add_upkeep_commands(add)
    add_people_commands(add)
    add_audit_command(add)
    return parser


def _add_upkeep_commands(add: AddCommand) -> None:
    add("redrive", _redrive, "Move dead letters back to the queues they came from.")
    reindex = add("reindex", _reindex, "Have the index of vaults made anew, in the background.")
    reindex.add_argument("--vault", default="", metavar="NAME", help="of this name only")
    reindex.add_argument("--tenant", default="", help="of this tenant only")
    reindex.add_argument(
        "--stack", metavar="NAME",
        help="of a stack on AWS, with the shell's credentials, and not of this machine's",
    )  # fmt: skip
    retention = add("retention", _retention, "Remove conversations that are over age, now.")
    retention.add_argument("--dry-run", action="store_true", help="only count them")
    add_tenant_command(add)


def _up(options: argparse.Namespace) -> int:
    from archivolt_local.supervisor import StackOptions, run_stack  # noqa: PLC0415  heavy

    # Documents, conversations and keys: whatever a process of the stack writes is its owner's.
    os.umask(0o077)
    environment = cast("Mapping[str, str]", options.environment)
    tables = environment.get("TABLES") or "auto"
    if tables not in _TABLES:
        raise StartError(f"TABLES has to be one of {', '.join(_TABLES)}, not {tables}.")
    stack = StackOptions(
        port=parse_port(options.port or environment.get("PORT") or str(_DEFAULT_PORT)),
        data=DataFolder(options.data.expanduser().absolute()),
        vaults=chosen_vaults(options.vaults, environment.get("VAULTS")),
        tables=tables,
        template=Path(environment.get("ARCHIVOLT_TEMPLATE") or TEMPLATE),
    )
    asyncio.run(run_stack(stack))
    print("Archivolt has stopped.", flush=True)
    return 0


def parse_port(text: str) -> int:
    """Return a port number.

    Raises:
        StartError: It is not one.

    """
    if not text.isascii() or not text.isdigit() or not 0 < int(text) <= _LAST_PORT:
        raise StartError(f"{text} is not a port; give a number from 1 to {_LAST_PORT}.")
    return int(text)


def chosen_vaults(asked: Sequence[str] | None, from_environment: str | None) -> dict[str, Path]:
    """Return the folders to mirror: those asked for, else VAULTS, else the sample.

    Raises:
        StartError: An assignment has not the form NAME=FOLDER, a name comes twice, or a folder
            is missing.

    """
    if asked:
        return parse_vaults(asked)
    if from_environment is None or not from_environment.strip():
        return {"sample": SAMPLE_VAULT}
    try:
        return parse_vaults(shlex.split(from_environment))
    except ValueError as error:
        raise StartError(
            f"VAULTS cannot be read ({error}); write NAME=FOLDER, quoted if need be."
        ) from error


def parse_vaults(assignments: Sequence[str]) -> dict[str, Path]:
    """Return the folder of each vault named by NAME=FOLDER.

    Raises:
        StartError: As for `chosen_vaults`.

    """
    vaults: dict[str, Path] = {}
    for assignment in assignments:
        match = _ASSIGNMENT.fullmatch(assignment)
        if match is None:
            raise StartError(f"{assignment!r} does not name a vault; write NAME=FOLDER.")
        name, folder = _vault_name(match.group(1)), Path(match.group(2)).expanduser().absolute()
        if name in vaults:
            raise StartError(f"The vault {name} is named twice.")
        if not folder.is_dir():
            raise StartError(f"There is no folder {folder} for the vault {name}.")
        vaults[name] = folder
    return vaults


def _vault_name(text: str) -> str:
    try:
        return vault_name(text.strip())
    except InvalidRequestError as error:
        raise StartError(error.message(Language.EN)) from error


def _token(options: argparse.Namespace) -> int:
    keys = read_json(DataFolder(options.data.expanduser().absolute()).keys)
    if not keys.get("signing"):
        raise StartError(f"No stack was ever started on {options.data}; run `archivolt up` first.")
    subject = TokenSubject(tenant=options.tenant, user=options.user, role=Role(options.role))
    print(issue_token(subject, str(keys["signing"]), SystemClock()))
    return 0


def _status(options: argparse.Namespace) -> int:
    from archivolt_local.status import describe, read_status  # noqa: PLC0415  heavy

    status = read_status(DataFolder(options.data.expanduser().absolute()))
    print(json.dumps(status, ensure_ascii=False) if options.json else describe(status))
    return 0


def _redrive(options: argparse.Namespace) -> int:
    from archivolt_local.status import (  # noqa: PLC0415  heavy
        describe_redrive,
        redrive_dead_letters,
    )

    queues = redrive_dead_letters(DataFolder(options.data.expanduser().absolute()))
    print(describe_redrive(queues))
    return 1 if any(queue["stayed"] for queue in queues) else 0


def _reindex(options: argparse.Namespace) -> int:
    from archivolt_local.status import describe_reindex, reindex_vaults  # noqa: PLC0415  heavy

    if options.stack:
        vaults = _reindex_deployed(options)
    else:
        data = DataFolder(options.data.expanduser().absolute())
        vaults = reindex_vaults(data, tenant=options.tenant, vault=options.vault)
    print(describe_reindex(vaults))
    return 0 if vaults else 1


def _retention(options: argparse.Namespace) -> int:
    from archivolt_local.status import purge_conversations  # noqa: PLC0415  heavy

    data = DataFolder(options.data.expanduser().absolute())
    counts = purge_conversations(data, dry=options.dry_run)
    done = "would be removed" if options.dry_run else f"due, {counts['purged']} removed"
    print(f"{counts['due']} conversations {done}, {counts['kept']} kept.")
    return 1 if counts["failed"] or counts["tenants_failed"] else 0


def _reindex_deployed(options: argparse.Namespace) -> list[dict[str, Any]]:
    from archivolt_local.deployed import deployed  # noqa: PLC0415  heavy
    from archivolt_local.reindex_vaults import reindex  # noqa: PLC0415  heavy

    with deployed(options.stack) as container:
        return reindex(container, tenant=options.tenant, vault=options.vault)


if __name__ == "__main__":
    sys.exit(main())
