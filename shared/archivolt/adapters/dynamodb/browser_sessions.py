"""Browser sessions in the control table.

SESSION#{digest}    SESSION    a browser in which somebody signed in
SPENT#{mark}        SPENT      something that was good for one use

A write with a condition is a transaction, though it be of one: repeating a request whose answer was
lost cannot conflict with itself.
"""

from datetime import datetime

from archivolt.adapters.dynamodb.moments import from_number, to_number
from archivolt.adapters.dynamodb.table import DynamoTable
from archivolt.adapters.dynamodb.writes import ABSENT, Delete, Key, Put
from archivolt.domain.identity import Role, TenantId, UserId
from archivolt.domain.oauth import BrowserSession, Person


class DynamoBrowserSessions:
    """A `BrowserSessionStore` in the control table."""

    def __init__(self, table: DynamoTable) -> None:
        self._table = table

    def add(self, session: BrowserSession) -> None:
        """Keep a new session."""
        item = {
            **_key(session.digest)._asdict(),
            "digest": session.digest,
            "tenant": session.person.tenant,
            "user": session.person.user,
            "role": session.person.role.value,
            "expires_at": to_number(session.expires_at),
            "ttl": int(session.expires_at.timestamp()),
        }
        self._table.transact([Put(item=item, condition=ABSENT)])

    def find(self, digest: str) -> BrowserSession | None:
        """Return a session, even one that has expired."""
        item = self._table.get(_key(digest))
        if item is None:
            return None
        person = Person(
            tenant=TenantId(item["tenant"]), user=UserId(item["user"]), role=Role(item["role"])
        )
        return BrowserSession(
            digest=item["digest"], person=person, expires_at=from_number(item["expires_at"])
        )

    def remove(self, digest: str) -> None:
        """End a session, at once."""
        self._table.write(Delete(key=_key(digest)))

    def spend(self, mark: str, *, until: datetime) -> None:
        """Note that something which is good for one use was used."""
        item = {"pk": f"SPENT#{mark}", "sk": "SPENT", "ttl": int(until.timestamp())}
        self._table.transact([Put(item=item, condition=ABSENT)])


def _key(digest: str) -> Key:
    return Key(f"SESSION#{digest}", "SESSION")
