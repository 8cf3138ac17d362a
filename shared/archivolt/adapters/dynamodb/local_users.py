"""Those who sign in with a password, in the control table of the stack on one machine.

LOCAL_USERS    {name}    somebody, and the hash of their password
"""

from typing import Final

from archivolt.adapters.dynamodb.table import DynamoTable, StoredItem
from archivolt.adapters.dynamodb.writes import Delete, Key, Put
from archivolt.domain.identity import Role, TenantId, UserId
from archivolt.domain.oauth import LocalUser, Person

_PARTITION: Final = "LOCAL_USERS"


class DynamoLocalUsers:
    """A `LocalUserStore` in the control table."""

    def __init__(self, table: DynamoTable) -> None:
        self._table = table

    def find(self, name: UserId) -> LocalUser | None:
        """Return somebody by the name they sign in with."""
        item = self._table.get(Key(_PARTITION, name))
        return _user(item) if item else None

    def put(self, user: LocalUser) -> None:
        """Keep somebody, in place of who had the name."""
        item = {
            "pk": _PARTITION,
            "sk": user.person.user,
            "tenant": user.person.tenant,
            "role": user.person.role.value,
            "password": user.password,
        }
        self._table.write(Put(item=item))

    def all(self) -> list[LocalUser]:
        """Return everybody, by name."""
        return [_user(item) for item in self._table.items(_PARTITION)]

    def remove(self, name: UserId) -> None:
        """Forget somebody."""
        self._table.write(Delete(key=Key(_PARTITION, name)))


def _user(item: StoredItem) -> LocalUser:
    person = Person(
        tenant=TenantId(item["tenant"]), user=UserId(item["sk"]), role=Role(item["role"])
    )
    return LocalUser(person=person, password=item["password"])
