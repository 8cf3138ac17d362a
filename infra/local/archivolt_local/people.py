"""Commands about people of the stack on this machine: who signs in, and by which link."""

import argparse
import getpass
import json
import sys
from collections.abc import Callable
from typing import Any

from archivolt.adapters.system.clock import SystemClock
from archivolt.domain.errors import InvalidRequestError, UnauthenticatedError
from archivolt.domain.identity import Role, tenant_id, user_id
from archivolt.domain.messages import Language
from archivolt.governance.sign_in.passwords import hashed
from archivolt_local.places import DataFolder
from archivolt_local.private_files import read_json
from archivolt_local.problems import StartError
from archivolt_local.status import ask, running_stack
from archivolt_local.tokens import LOCAL_TENANT, LOCAL_USER, TokenSubject, sign_in_link

AddCommand = Callable[[str, object, str], argparse.ArgumentParser]
_MODULE = "archivolt_local.user_records"
_REMOVED = (
    "{user} cannot sign in any more, and programs they let in are out. Sessions go on for up to"
    " eight hours; personal access tokens and vaults stay: an administrator lists the tokens by"
    " GET /api/v1/tokens?everybody=true and ends each by DELETE /api/v1/tokens/ID."
)


def add_people_commands(add: AddCommand) -> None:
    """Add the commands `sign-in` and `user …` to those of `archivolt`."""
    link = add("sign-in", _sign_in, "Print a link that signs somebody in in a browser, once.")
    link.add_argument("--user", default=LOCAL_USER)
    _add_who(link)
    user = add("user", _user, "Keep the people who sign in with a password.")
    user.add_argument("action", choices=["add", "list", "remove"])
    user.add_argument("name", nargs="?", default="")
    _add_who(user)


def _add_who(command: argparse.ArgumentParser) -> None:
    command.add_argument("--tenant", default=LOCAL_TENANT)
    command.add_argument(
        "--role", choices=[role.value for role in Role],
        help=f"(default: tenant-admin for {LOCAL_USER}, viewer for others)",
    )  # fmt: skip


def _sign_in(options: argparse.Namespace) -> int:
    data = _data(options)
    stack = running_stack(data)
    signing = str(read_json(data.keys)["signing"])
    subject = _subject(options, options.user)
    print(sign_in_link(stack["url"], subject, signing, SystemClock()))
    return 0


def _user(options: argparse.Namespace) -> int:
    stack = running_stack(_data(options))
    if options.action == "list":
        for user in ask(stack, _MODULE, "list"):
            print(f"{user['name']}  {user['role']} of {user['tenant']}")
        return 0
    subject = _subject(options, options.name)
    if options.action == "remove":
        ask(stack, _MODULE, "remove", subject.user, subject.tenant)
        print(_REMOVED.format(user=subject.user))
        return 0
    record: dict[str, Any] = {"password": _hash_of_a_password(subject.user)}
    record |= {"name": subject.user, "tenant": subject.tenant, "role": subject.role.value}
    ask(stack, _MODULE, "add", told=json.dumps(record))
    print(f"{subject.user} can sign in at {stack['url']}/oauth/sign-in.")
    return 0


def _data(options: argparse.Namespace) -> DataFolder:
    return DataFolder(options.data.expanduser().absolute())


def _subject(options: argparse.Namespace, name: str) -> TokenSubject:
    usual = Role.TENANT_ADMIN if name == LOCAL_USER else Role.VIEWER
    try:
        tenant, user = tenant_id(options.tenant), user_id(name)
    except UnauthenticatedError as error:
        raise StartError("Give a name without spaces, slashes or #, of 1 to 128.") from error
    return TokenSubject(
        tenant=tenant, user=user, role=Role(options.role) if options.role else usual
    )


def _hash_of_a_password(name: str) -> str:
    """Ask for a password, or read it from a pipe, and return what may be kept of it."""
    if sys.stdin.isatty():
        password = getpass.getpass(f"Password for {name}: ")
        if getpass.getpass("Once more: ") != password:
            raise StartError("The two passwords are not the same.")
    else:
        password = sys.stdin.readline().rstrip("\n")
    try:
        return hashed(password)
    except InvalidRequestError as error:
        raise StartError(error.message(Language.EN)) from error
