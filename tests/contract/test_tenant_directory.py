"""What every `TenantDirectory` promises."""

from dataclasses import replace
from datetime import date, timedelta

import pytest

from archivolt.adapters.dynamodb.tenants import DynamoTenants
from archivolt.domain.errors import ConflictError, NotFoundError
from archivolt.domain.identity import Role, TenantId
from archivolt.domain.tenancy import Standing, Tenant, TenantState, TenantUser, UserState
from archivolt.ports.tenancy import TenantDirectory
from tests.builders import ACME, ALICE, BOB, GLOBEX
from tests.contract.conftest import FAKE
from tests.fakes.clock import START
from tests.fakes.tenancy import InMemoryTenants

NOBODY = Standing()
LATER = START + timedelta(days=1, microseconds=7)
SEEN = TenantUser(tenant=ACME, id=ALICE, role=Role.DEVOPS, first_seen=START, last_seen=START.date())


@pytest.fixture
def tenants(store: str, request: pytest.FixtureRequest) -> TenantDirectory:
    if store == FAKE:
        return InMemoryTenants()
    return DynamoTenants(request.getfixturevalue("new_table")("ControlTable"))


def test_nothing_is_known_of_who_never_came(tenants: TenantDirectory) -> None:
    assert tenants.standing(ACME, ALICE) == NOBODY
    assert tenants.tenant(ACME) is None
    assert tenants.user(ACME, ALICE) is None
    assert not tenants.tenants(limit=9)
    assert not tenants.users(ACME, limit=9)


def test_who_is_seen_is_known_with_their_tenant(tenants: TenantDirectory) -> None:
    tenants.note(SEEN, known=NOBODY)

    known = tenants.standing(ACME, ALICE)
    assert known == Standing(tenant=Tenant(id=ACME, first_seen=START), user=SEEN)
    assert list(tenants.tenants(limit=9)) == [known.tenant]
    assert list(tenants.users(ACME, limit=9)) == [SEEN]
    assert tenants.standing(ACME, BOB) == replace(known, user=None)
    assert tenants.standing(GLOBEX, ALICE) == NOBODY


def test_who_is_seen_again_keeps_their_first_day(tenants: TenantDirectory) -> None:
    tenants.note(SEEN, known=NOBODY)

    again = replace(SEEN, role=Role.VIEWER, first_seen=LATER, last_seen=date(2027, 1, 2))
    tenants.note(again, known=tenants.standing(ACME, ALICE))

    assert tenants.user(ACME, ALICE) == replace(again, first_seen=START)


def test_who_is_seen_meanwhile_stays_suspended(tenants: TenantDirectory) -> None:
    tenants.note(SEEN, known=NOBODY)
    known = tenants.standing(ACME, ALICE)
    tenants.set_state(ACME, TenantState.SUSPENDED, LATER)
    tenants.set_user_state(ACME, ALICE, UserState.SUSPENDED)

    tenants.note(SEEN, known=known)
    tenants.note(replace(SEEN, id=BOB), known=NOBODY)

    found = tenants.standing(ACME, ALICE)
    assert found.tenant is not None
    assert found.tenant.state is TenantState.SUSPENDED
    assert found.user == replace(SEEN, state=UserState.SUSPENDED)


def test_a_tenant_is_made_once(tenants: TenantDirectory) -> None:
    made = Tenant(id=ACME, name="Acme", first_seen=START, calls_per_window=7)
    tenants.add(made)

    with pytest.raises(ConflictError, match="tenant_exists"):
        tenants.add(replace(made, name="Other"))

    assert tenants.tenant(ACME) == made


def test_who_was_seen_first_is_no_new_tenant(tenants: TenantDirectory) -> None:
    tenants.note(SEEN, known=NOBODY)

    with pytest.raises(ConflictError, match="tenant_exists"):
        tenants.add(Tenant(id=ACME))


def test_tenants_and_people_are_listed_in_pages(tenants: TenantDirectory) -> None:
    for number in range(5):
        seen = replace(SEEN, tenant=TenantId(f"t{number}"))
        tenants.note(seen, known=NOBODY)
        tenants.note(replace(SEEN, id=type(ALICE)(f"u{number}")), known=NOBODY)

    first = tenants.tenants(limit=3)
    assert [each.id for each in first] == ["acme", "t0", "t1"]
    assert [each.id for each in tenants.tenants(limit=9, after="t1")] == ["t2", "t3", "t4"]
    assert [each.id for each in tenants.users(ACME, limit=2)] == ["u0", "u1"]
    assert [each.id for each in tenants.users(ACME, limit=9, after="u1")] == ["u2", "u3", "u4"]


def test_a_name_and_a_limit_change_alone(tenants: TenantDirectory) -> None:
    tenants.add(Tenant(id=ACME, name="Acme"))

    assert tenants.change(ACME, name=None, calls=9).name == "Acme"
    assert tenants.change(ACME, name="ACME", calls=None) == Tenant(
        id=ACME, name="ACME", calls_per_window=9
    )
    with pytest.raises(NotFoundError, match="tenant_not_found"):
        tenants.change(GLOBEX, name="x", calls=None)


def test_a_tenant_is_suspended_and_resumed(tenants: TenantDirectory) -> None:
    tenants.add(Tenant(id=ACME, name="Acme"))

    suspended = tenants.set_state(ACME, TenantState.SUSPENDED, LATER)
    assert suspended == Tenant(id=ACME, name="Acme", state=TenantState.SUSPENDED, changed_at=LATER)
    assert tenants.set_state(ACME, TenantState.ACTIVE, LATER).state is TenantState.ACTIVE
    with pytest.raises(NotFoundError, match="tenant_not_found"):
        tenants.set_state(GLOBEX, TenantState.SUSPENDED, LATER)


def test_a_deletion_has_no_way_back(tenants: TenantDirectory) -> None:
    tenants.add(Tenant(id=ACME, name="Acme", calls_per_window=7))
    tenants.set_state(ACME, TenantState.DELETING, START)
    tenants.set_state(ACME, TenantState.DELETING, START)

    for state in (TenantState.ACTIVE, TenantState.SUSPENDED):
        with pytest.raises(ConflictError, match="tenant_going"):
            tenants.set_state(ACME, state, LATER)
    with pytest.raises(ConflictError, match="tenant_going"):
        tenants.change(ACME, name="x", calls=None)
    tenants.set_state(ACME, TenantState.DELETED, LATER)
    with pytest.raises(ConflictError, match="tenant_going"):
        tenants.set_state(ACME, TenantState.DELETING, LATER)
    with pytest.raises(ConflictError, match="tenant_going"):
        tenants.change(ACME, name="x", calls=9)

    assert tenants.tenant(ACME) == Tenant(id=ACME, state=TenantState.DELETED, changed_at=LATER)


@pytest.mark.parametrize("seen", [True, False])
def test_who_is_shut_out_stays_so_until_they_are_forgotten(
    tenants: TenantDirectory, *, seen: bool
) -> None:
    if seen:
        tenants.note(SEEN, known=NOBODY)
    tenants.shut_out(ACME, ALICE)
    tenants.shut_out(ACME, ALICE)

    for state in (UserState.ACTIVE, UserState.SUSPENDED):
        with pytest.raises(ConflictError, match="user_going"):
            tenants.set_user_state(ACME, ALICE, state)
    # A request that was under way.
    tenants.note(SEEN, known=NOBODY)

    found = tenants.user(ACME, ALICE)
    assert found is not None
    assert found.state is UserState.DELETING
    assert found.id == ALICE
    tenants.forget_user(ACME, ALICE)
    assert tenants.user(ACME, ALICE) is None


def test_only_who_was_seen_can_be_suspended_or_forgotten(tenants: TenantDirectory) -> None:
    tenants.note(SEEN, known=NOBODY)

    assert tenants.set_user_state(ACME, ALICE, UserState.SUSPENDED).state is UserState.SUSPENDED
    assert tenants.set_user_state(ACME, ALICE, UserState.ACTIVE) == SEEN
    with pytest.raises(NotFoundError, match="user_not_found"):
        tenants.set_user_state(ACME, BOB, UserState.SUSPENDED)
    tenants.forget_user(ACME, ALICE)
    tenants.forget_user(ACME, ALICE)

    assert tenants.user(ACME, ALICE) is None
