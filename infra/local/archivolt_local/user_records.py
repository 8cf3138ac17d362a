"""Keeps people with passwords: `python -m archivolt_local.user_records add|list|remove [NAME]`.

It runs with a function's environment and every right, as the stack's own maintenance code does.
`add` reads what to keep as JSON from its input, so that no list of processes shows it.
"""

import json
import sys
from collections.abc import Sequence
from typing import Any

from archivolt.adapters.dynamodb.local_users import DynamoLocalUsers
from archivolt.adapters.dynamodb.table import DynamoTable
from archivolt.bootstrap import Container
from archivolt.domain.identity import Role, TenantId, UserId
from archivolt.domain.oauth import LocalUser, Person
from archivolt.ports.oauth import LocalUserStore
from archivolt.settings import load_settings


def change(users: LocalUserStore, arguments: Sequence[str], told: str) -> list[dict[str, str]]:
    """Do one thing, and return everybody's name, tenant and role."""
    action, *names = arguments
    if action == "add":
        users.put(_user(json.loads(told)))
    elif action == "remove":
        users.remove(UserId(names[0]))
    return [
        {"name": user.person.user, "tenant": user.person.tenant, "role": user.person.role.value}
        for user in users.all()
    ]


def _user(record: dict[str, Any]) -> LocalUser:
    person = Person(
        tenant=TenantId(record["tenant"]),
        user=UserId(record["name"]),
        role=Role(record["role"]),
    )
    return LocalUser(person=person, password=record["password"])


def _store() -> LocalUserStore:
    on = Container(load_settings())
    return DynamoLocalUsers(DynamoTable(on.aws.dynamodb, on.settings.required("control_table")))


if __name__ == "__main__":
    print(json.dumps(change(_store(), sys.argv[1:], sys.stdin.read())))
