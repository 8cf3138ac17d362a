"""Tenants and the people seen in them, in the control table.

    TENANT#{tenant}    STATE       a tenant
    TENANTS            {tenant}    that it is there, for who lists them
    PEOPLE#{tenant}    {user}      somebody who was seen

Functions that may only note who was seen change no `state`: it is an attribute that they do not
name (template.yaml, "NotePeople").
"""

from collections.abc import Sequence
from datetime import date, datetime
from typing import Final

from boto3.dynamodb.conditions import Attr, ConditionBase
from boto3.dynamodb.conditions import Key as KeyCondition

from archivolt.adapters.dynamodb.moments import from_number, to_number
from archivolt.adapters.dynamodb.table import ConditionFailedError, DynamoTable, StoredItem
from archivolt.adapters.dynamodb.values import Value
from archivolt.adapters.dynamodb.writes import ABSENT, PRESENT, Delete, Key, Put, Update
from archivolt.domain.errors import ConflictError, NotFoundError
from archivolt.domain.identity import Role, TenantId, UserId
from archivolt.domain.tenancy import GOING, Standing, Tenant, TenantState, TenantUser, UserState

_LIST: Final = "TENANTS"
_GOING: Final = tuple(state.value for state in GOING)
_COMES: Final = ~Attr("state").is_in(_GOING)


class DynamoTenants:
    """A `TenantDirectory` in the control table."""

    def __init__(self, table: DynamoTable) -> None:
        self._table = table

    def standing(self, tenant: TenantId, user: UserId) -> Standing:
        """Return what is known of a caller; it costs one read."""
        found = self._table.get_many([_key(tenant), _person_key(tenant, user)])
        of_tenant, of_user = found.get(_key(tenant)), found.get(_person_key(tenant, user))
        return Standing(
            tenant=_tenant(of_tenant) if of_tenant else None,
            user=_user(tenant, of_user) if of_user else None,
        )

    def note(self, seen: TenantUser, *, known: Standing) -> None:
        """Note that somebody was seen."""
        moment = to_number(seen.first_seen) if seen.first_seen else 0
        if known.tenant is None:
            # The list first: what breaks off between the two is done again at the next request.
            self._table.update(Update(key=_listed(seen.tenant), set={"id": seen.tenant}))
            first: dict[str, Value] = {"id": seen.tenant, "first_seen": moment}
            self._table.update(Update(key=_key(seen.tenant), set=first))
        changes: dict[str, Value] = {"id": seen.id, "role": seen.role.value}
        if known.user is None:
            changes["first_seen"] = moment
        if seen.last_seen is not None:
            changes["last_seen"] = seen.last_seen.isoformat()
        self._table.update(Update(key=_person_key(seen.tenant, seen.id), set=changes))

    def add(self, tenant: Tenant) -> None:
        """Keep a new tenant."""
        item: dict[str, Value] = {
            **_key(tenant.id)._asdict(),
            "id": tenant.id,
            "name": tenant.name,
            "state": tenant.state.value,
            "first_seen": to_number(tenant.first_seen) if tenant.first_seen else 0,
            "calls": tenant.calls_per_window,
        }
        listed = {**_listed(tenant.id)._asdict(), "id": tenant.id}
        try:
            self._table.transact([Put(item=item, condition=ABSENT), Put(item=listed)])
        except ConditionFailedError as error:
            raise ConflictError("tenant_exists", tenant=tenant.id) from error

    def tenant(self, tenant: TenantId) -> Tenant | None:
        """Return a tenant; None: it is not known."""
        item = self._table.get(_key(tenant))
        return _tenant(item) if item else None

    def tenants(self, *, limit: int, after: str = "") -> Sequence[Tenant]:
        """Return at most `limit` tenants by their ids, those after an id."""
        page = self._table.page(_after(_LIST, after), limit=limit)
        keys = [_key(TenantId(item["id"])) for item in page.items]
        found = self._table.get_many(keys)
        return [_tenant(found[key]) for key in keys if key in found]

    def change(self, tenant: TenantId, *, name: str | None, calls: int | None) -> Tenant:
        """Change a tenant's name, or its limit of calls."""
        named: dict[str, Value] = {}
        if name is not None:
            named["name"] = name
        if calls is not None:
            named["calls"] = calls
        return self._changed(tenant, named, PRESENT & _COMES)

    def set_state(self, tenant: TenantId, state: TenantState, at: datetime) -> Tenant:
        """Change a tenant's state; deleted it has neither a name nor a limit."""
        held = PRESENT
        if state.value not in _GOING:
            held &= _COMES
        elif state is TenantState.DELETING:
            held &= ~Attr("state").eq(TenantState.DELETED.value)
        changes: dict[str, Value] = {"state": state.value, "changed_at": to_number(at)}
        if state is TenantState.DELETED:
            changes |= {"name": "", "calls": 0}
        return self._changed(tenant, changes, held)

    def users(self, tenant: TenantId, *, limit: int, after: str = "") -> Sequence[TenantUser]:
        """Return at most `limit` people seen in a tenant by their ids, those after an id."""
        page = self._table.page(_after(_people(tenant), after), limit=limit)
        return [_user(tenant, item) for item in page.items]

    def user(self, tenant: TenantId, user: UserId) -> TenantUser | None:
        """Return somebody; None: they were never seen."""
        item = self._table.get(_person_key(tenant, user))
        return _user(tenant, item) if item else None

    def set_user_state(self, tenant: TenantId, user: UserId, state: UserState) -> TenantUser:
        """Change somebody's state."""
        stays = PRESENT & ~Attr("state").eq(UserState.DELETING.value)
        change = Update(key=_person_key(tenant, user), set={"state": state.value}, condition=stays)
        try:
            return _user(tenant, self._table.update(change))
        except ConditionFailedError as error:
            if self.user(tenant, user) is None:
                raise NotFoundError("user_not_found", user=user) from error
            raise ConflictError("user_going", user=user) from error

    def shut_out(self, tenant: TenantId, user: UserId) -> None:
        """Have somebody deleting, seen or not, until they are forgotten."""
        changes: dict[str, Value] = {"id": user, "state": UserState.DELETING.value}
        self._table.update(Update(key=_person_key(tenant, user), set=changes))

    def forget_user(self, tenant: TenantId, user: UserId) -> None:
        """Forget somebody; nobody is no error."""
        self._table.write(Delete(key=_person_key(tenant, user)))

    def _changed(
        self, tenant: TenantId, changes: dict[str, Value], condition: ConditionBase
    ) -> Tenant:
        try:
            item = self._table.update(Update(key=_key(tenant), set=changes, condition=condition))
        except ConditionFailedError as error:
            if self._table.get(_key(tenant)) is None:
                raise NotFoundError("tenant_not_found", tenant=tenant) from error
            raise ConflictError("tenant_going", tenant=tenant) from error
        return _tenant(item)


def _key(tenant: TenantId) -> Key:
    return Key(f"TENANT#{tenant}", "STATE")


def _listed(tenant: TenantId) -> Key:
    return Key(_LIST, tenant)


def _people(tenant: TenantId) -> str:
    return f"PEOPLE#{tenant}"


def _person_key(tenant: TenantId, user: UserId) -> Key:
    return Key(_people(tenant), user)


def _after(pk: str, after: str) -> ConditionBase:
    condition = KeyCondition("pk").eq(pk)
    return condition & KeyCondition("sk").gt(after) if after else condition


def _moment(number: int) -> datetime | None:
    return from_number(number) if number else None


def _tenant(item: StoredItem) -> Tenant:
    return Tenant(
        id=TenantId(item["id"]),
        name=item.get("name", ""),
        state=TenantState(item.get("state", TenantState.ACTIVE)),
        first_seen=_moment(item.get("first_seen", 0)),
        changed_at=_moment(item.get("changed_at", 0)),
        calls_per_window=item.get("calls", 0),
    )


def _user(tenant: TenantId, item: StoredItem) -> TenantUser:
    last_seen = item.get("last_seen")
    return TenantUser(
        tenant=tenant,
        id=UserId(item["id"]),
        role=Role(item.get("role", Role.VIEWER)),
        state=UserState(item.get("state", UserState.ACTIVE)),
        first_seen=_moment(item.get("first_seen", 0)),
        last_seen=date.fromisoformat(last_seen) if last_seen else None,
    )
