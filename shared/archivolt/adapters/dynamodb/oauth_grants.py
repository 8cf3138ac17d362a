"""Codes and grants in the control table, their secrets as digests.

    CODE#{digest}       CODE            a code
    GRANT#{id}          GRANT           a grant
    GRANTS#{tenant}     {user}#{id}     whose it is

An id or a user holds no `#`. A write with a condition is a transaction, though it be of one:
repeating a request whose answer was lost cannot conflict with itself.
"""

from datetime import timedelta
from typing import Any, Final

from boto3.dynamodb.conditions import Attr

from archivolt.adapters.dynamodb.moments import from_number, to_number
from archivolt.adapters.dynamodb.table import DynamoTable, StoredItem, is_key_text
from archivolt.adapters.dynamodb.values import Value
from archivolt.adapters.dynamodb.writes import ABSENT, PRESENT, Delete, Key, Put, Update
from archivolt.domain.identity import Role, TenantId, TokenReach, UserId
from archivolt.domain.oauth import AccessDigest, AuthorizationCode, OAuthGrant, Person

# As long as a code is remembered, whoever brings it again ends what it gave.
_REMEMBERED: Final = timedelta(days=1)


class DynamoOAuthGrants:
    """An `OAuthGrantStore` in the control table."""

    def __init__(self, table: DynamoTable) -> None:
        self._table = table

    def add_code(self, code: AuthorizationCode) -> None:
        """Keep a new code, and remember it for a while after it expired or was exchanged."""
        item = {
            **_code_key(code.digest)._asdict(),
            **_agreed(code.person, code.reach),
            "digest": code.digest,
            "client_id": code.client_id,
            "client_name": code.client_name,
            "redirect_uri": code.redirect_uri,
            "challenge": code.challenge,
            "expires_at": to_number(code.expires_at),
            "grant": code.grant,
            "ttl": int((code.expires_at + _REMEMBERED).timestamp()),
        }
        self._table.transact([Put(item=item, condition=ABSENT)])

    def find_code(self, digest: str) -> AuthorizationCode | None:
        """Return a code, even one that has expired or was exchanged."""
        item = self._table.get(_code_key(digest))
        if item is None:
            return None
        return AuthorizationCode(
            digest=item["digest"],
            client_id=item["client_id"],
            client_name=item["client_name"],
            redirect_uri=item["redirect_uri"],
            challenge=item["challenge"],
            person=_person(item),
            reach=_reach(item),
            expires_at=from_number(item["expires_at"]),
            grant=item["grant"],
        )

    def exchange(self, code: AuthorizationCode, grant: OAuthGrant) -> None:
        """Keep a new grant in exchange for a code, once whatever happens at the same time."""
        spent = Update(
            key=_code_key(code.digest), set={"grant": grant.id}, condition=Attr("grant").eq("")
        )
        place = {**_place(grant)._asdict(), "id": grant.id, "ttl": _ttl(grant)}
        self._table.transact(
            [
                spent,
                Put(item=_item(grant), condition=ABSENT),
                Put(item=place, condition=ABSENT),
            ]
        )

    def find(self, grant_id: str) -> OAuthGrant | None:
        """Return a grant of any tenant."""
        item = self._table.get(_key(grant_id)) if is_key_text(grant_id) else None
        return _grant(item) if item else None

    def renew(self, before: OAuthGrant, after: OAuthGrant) -> None:
        """Keep a grant's new tokens, if those of `before` are still its own."""
        same = PRESENT & Attr("refresh").eq(before.refresh)
        self._table.transact([Put(item=_item(after), condition=same)])

    def of_user(self, tenant: TenantId, user: UserId) -> list[OAuthGrant]:
        """Return what a person granted, the newest first."""
        return self._listed(tenant, f"{user}#")

    def of_tenant(self, tenant: TenantId) -> list[OAuthGrant]:
        """Return what everybody of a tenant granted, by user, the newest first."""
        return self._listed(tenant, "")

    def remove(self, grant: OAuthGrant) -> None:
        """End a grant, at once."""
        self._table.write(Delete(key=_key(grant.id)))
        self._table.write(Delete(key=_place(grant)))

    def _listed(self, tenant: TenantId, prefix: str) -> list[OAuthGrant]:
        places = self._table.items(f"GRANTS#{tenant}", prefix=prefix)
        found = self._table.get_many([_key(place["id"]) for place in places])
        grants = map(_grant, found.values())
        newest = sorted(grants, key=lambda grant: (grant.created_at, grant.id), reverse=True)
        return sorted(newest, key=lambda grant: grant.person.user)


def _code_key(digest: str) -> Key:
    return Key(f"CODE#{digest}", "CODE")


def _key(grant_id: str) -> Key:
    return Key(f"GRANT#{grant_id}", "GRANT")


def _place(grant: OAuthGrant) -> Key:
    return Key(f"GRANTS#{grant.person.tenant}", f"{grant.person.user}#{grant.id}")


def _ttl(grant: OAuthGrant) -> int:
    return int(grant.expires_at.timestamp())


def _agreed(person: Person, reach: TokenReach) -> dict[str, Value]:
    return {
        "tenant": person.tenant,
        "user": person.user,
        "role": person.role.value,
        "read_only": reach.read_only,
        "vaults": None if reach.vaults is None else sorted(reach.vaults),
    }


def _person(item: StoredItem) -> Person:
    return Person(
        tenant=TenantId(item["tenant"]), user=UserId(item["user"]), role=Role(item["role"])
    )


def _reach(item: StoredItem) -> TokenReach:
    vaults: Any = item["vaults"]
    return TokenReach(
        read_only=item["read_only"], vaults=None if vaults is None else frozenset(vaults)
    )


def _item(grant: OAuthGrant) -> dict[str, Value]:
    return {
        **_key(grant.id)._asdict(),
        **_agreed(grant.person, grant.reach),
        "id": grant.id,
        "client_id": grant.client_id,
        "client_name": grant.client_name,
        "family": grant.family,
        "refresh": grant.refresh,
        "access": [
            {"digest": each.digest, "expires_at": to_number(each.expires_at)}
            for each in grant.access
        ],
        "created_at": to_number(grant.created_at),
        "expires_at": to_number(grant.expires_at),
        "ttl": _ttl(grant),
    }


def _grant(item: StoredItem) -> OAuthGrant:
    return OAuthGrant(
        id=item["id"],
        client_id=item["client_id"],
        client_name=item["client_name"],
        person=_person(item),
        reach=_reach(item),
        family=item["family"],
        refresh=item["refresh"],
        access=tuple(
            AccessDigest(digest=each["digest"], expires_at=from_number(each["expires_at"]))
            for each in item["access"]
        ),
        created_at=from_number(item["created_at"]),
        expires_at=from_number(item["expires_at"]),
    )
