"""Keeps people with passwords: `python -m archivolt_local.user_records add|list|remove …`.

It runs with a function's environment and every right, as the stack's own maintenance code does.
`remove` takes a name and a tenant. `add` reads what to keep as JSON from its input, so that no list
of processes shows it.
"""

import json
import sys
from collections.abc import Sequence
from typing import Any

from archivolt.adapters.dynamodb.local_users import DynamoLocalUsers
from archivolt.adapters.dynamodb.oauth_grants import DynamoOAuthGrants
from archivolt.bootstrap import Container
from archivolt.domain.identity import Role, TenantId, UserId
from archivolt.domain.oauth import LocalUser, Person
from archivolt.ports.oauth import LocalUserStore, OAuthGrantStore
from archivolt.settings import load_settings


def change(
    users: LocalUserStore, grants: OAuthGrantStore, arguments: Sequence[str], told: str
) -> list[dict[str, str]]:
    """Do one thing, and return everybody's name, tenant and role."""
    action, *names = arguments
    if action == "add":
        users.put(_user(json.loads(told)))
    elif action == "remove":
        _remove(users, grants, UserId(names[0]), TenantId(names[1]))
    return [
        {"name": user.person.user, "tenant": user.person.tenant, "role": user.person.role.value}
        for user in users.all()
    ]


def _remove(users: LocalUserStore, grants: OAuthGrantStore, name: UserId, tenant: TenantId) -> None:
    """Forget somebody, and end what the programs that they let in may do.

    `tenant` is that of who has no password and signs in by links alone.
    """
    user = users.find(name)
    for grant in grants.of_user(user.person.tenant if user else tenant, name):
        grants.remove(grant)
    # Last: what failed is done again by the same command.
    users.remove(name)


def _user(record: dict[str, Any]) -> LocalUser:
    person = Person(
        tenant=TenantId(record["tenant"]),
        user=UserId(record["name"]),
        role=Role(record["role"]),
    )
    return LocalUser(person=person, password=record["password"])


def _stores() -> tuple[LocalUserStore, OAuthGrantStore]:
    on = Container(load_settings())
    table = on.table("control_table")
    return DynamoLocalUsers(table), DynamoOAuthGrants(table)


if __name__ == "__main__":
    print(json.dumps(change(*_stores(), sys.argv[1:], sys.stdin.read())))
