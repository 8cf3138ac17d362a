"""Personal access tokens in the control table.

    PAT#{id}         PAT              a token, without its secret
    PATS#{tenant}    {user}#{slot}    which token is one of its owner's so many

The slots hold owners to their limit whatever happens at once; one whose token has ended is free, as
the table removes what has run out days later. An id or a user holds no `#`.
"""

from contextlib import suppress
from datetime import date
from typing import Any, Final

from boto3.dynamodb.conditions import Attr, ConditionBase

from archivolt.adapters.dynamodb.moments import from_number, to_number
from archivolt.adapters.dynamodb.table import (
    ConditionFailedError,
    DynamoTable,
    StoredItem,
    is_key_text,
)
from archivolt.adapters.dynamodb.values import Value
from archivolt.adapters.dynamodb.writes import ABSENT, PRESENT, Delete, Key, Put, Update
from archivolt.domain.errors import ConflictError
from archivolt.domain.identity import TenantId, TokenReach, UserId
from archivolt.domain.personal_tokens import PersonalToken

_ATTEMPTS: Final = 5


class DynamoPersonalTokens:
    """A `PersonalTokenStore` in the control table."""

    def __init__(self, table: DynamoTable) -> None:
        self._table = table

    def add(self, token: PersonalToken, *, limit: int) -> None:
        """Keep a new token, unless its owner has `limit` tokens."""
        for attempt in range(_ATTEMPTS):
            slot = self._free_slot(token, limit)
            place = {**slot._asdict(), "id": token.id, "ttl": _ttl(token)}
            free = ABSENT | _ended(token)
            record = {**_item(token), "slot": slot.sk}
            try:
                self._table.transact(
                    [Put(item=place, condition=free), Put(item=record, condition=ABSENT)]
                )
            except ConditionFailedError:
                if attempt + 1 == _ATTEMPTS:
                    raise
            else:
                return

    def find(self, token_id: str) -> PersonalToken | None:
        """Return a token of any tenant by its id."""
        item = self._table.get(_key(token_id)) if is_key_text(token_id) else None
        return _token(item) if item else None

    def of_user(self, tenant: TenantId, user: UserId) -> list[PersonalToken]:
        """Return a user's tokens, the newest first."""
        return self._listed(tenant, f"{user}#")

    def of_tenant(self, tenant: TenantId) -> list[PersonalToken]:
        """Return the tokens of all users of a tenant."""
        return self._listed(tenant, "")

    def remove(self, token: PersonalToken) -> None:
        """Forget a token, at once."""
        item = self._table.get(_key(token.id))
        self._table.write(Delete(key=_key(token.id)))
        if item is not None:
            place = Key(_slots(token.tenant), item["slot"])
            # A slot that ran out may be another token's by now.
            with suppress(ConditionFailedError):
                self._table.write(Delete(key=place, condition=Attr("id").eq(token.id)))

    def note_use(self, token: PersonalToken, day: date) -> None:
        """Note the day of a token's use."""
        used = {"last_used": day.isoformat()}
        with suppress(ConditionFailedError):
            self._table.update(Update(key=_key(token.id), set=used, condition=PRESENT))

    def _free_slot(self, token: PersonalToken, limit: int) -> Key:
        pk = _slots(token.tenant)
        now = int(token.created_at.timestamp())
        slots = self._table.items(pk, prefix=f"{token.user}#")
        taken = {slot["sk"] for slot in slots if slot["ttl"] > now}
        for number in range(limit):
            if (slot := f"{token.user}#{number:03d}") not in taken:
                return Key(pk, slot)
        raise ConflictError("too_many_tokens", limit=limit)

    def _listed(self, tenant: TenantId, prefix: str) -> list[PersonalToken]:
        ids = [item["id"] for item in self._table.items(_slots(tenant), prefix=prefix)]
        found = self._table.get_many([_key(token_id) for token_id in ids])
        tokens = sorted(map(_token, found.values()), key=lambda one: one.created_at, reverse=True)
        return sorted(tokens, key=lambda one: one.user)


def _key(token_id: str) -> Key:
    return Key(f"PAT#{token_id}", "PAT")


def _slots(tenant: TenantId) -> str:
    return f"PATS#{tenant}"


def _ttl(token: PersonalToken) -> int:
    return int(token.expires_at.timestamp())


def _ended(new: PersonalToken) -> ConditionBase:
    return Attr("ttl").lte(int(new.created_at.timestamp()))


def _item(token: PersonalToken) -> dict[str, Value]:
    vaults = token.reach.vaults
    return {
        **_key(token.id)._asdict(),
        "id": token.id,
        "tenant": token.tenant,
        "user": token.user,
        "name": token.name,
        "read_only": token.reach.read_only,
        "vaults": None if vaults is None else sorted(vaults),
        "digest": token.digest,
        "fingerprint": token.fingerprint,
        "created_at": to_number(token.created_at),
        "expires_at": to_number(token.expires_at),
        "ttl": _ttl(token),
    }


def _token(item: StoredItem) -> PersonalToken:
    vaults: Any = item["vaults"]
    last_used = item.get("last_used")
    return PersonalToken(
        id=item["id"],
        tenant=TenantId(item["tenant"]),
        user=UserId(item["user"]),
        name=item["name"],
        reach=TokenReach(
            read_only=item["read_only"], vaults=None if vaults is None else frozenset(vaults)
        ),
        digest=item["digest"],
        fingerprint=item["fingerprint"],
        created_at=from_number(item["created_at"]),
        expires_at=from_number(item["expires_at"]),
        last_used=date.fromisoformat(last_used) if last_used else None,
    )
