"""Who comes in, and when a suspension is in force."""

from dataclasses import replace
from decimal import Decimal
from threading import Event, Timer

import pytest

from archivolt.domain.errors import (
    ForbiddenError,
    NotFoundError,
    UnauthenticatedError,
    UnavailableError,
)
from archivolt.domain.identity import Principal, Role, TenantId, TokenKind, UserId
from archivolt.domain.tenancy import Standing, Tenant, TenantState, TenantUser, UserState
from archivolt.domain.tenancy_limits import BEGINNING_SECONDS, STANDING_SECONDS
from archivolt.domain.usage import Account, ModelPrice, Tokens
from archivolt.governance.admission import Admission, AdmittingVerifier, EarlyVerifier
from archivolt.governance.metering import Meter
from tests.builders import ACME, ALICE, BOB, GLOBEX, principal
from tests.fakes.clock import START, FrozenClock
from tests.fakes.governance import KnownTokens
from tests.fakes.ledger import InMemoryLedger, RecordedUsage
from tests.fakes.tenancy import InMemoryTenants


@pytest.fixture
def clock() -> FrozenClock:
    return FrozenClock()


@pytest.fixture
def tenants() -> InMemoryTenants:
    return InMemoryTenants()


@pytest.fixture
def admission(tenants: InMemoryTenants, clock: FrozenClock) -> Admission:
    return Admission(lambda: tenants, clock)


def refused(admission: Admission, who: Principal) -> str:
    with pytest.raises(ForbiddenError) as error:
        admission.admit(who)
    return error.value.code


def test_who_is_new_comes_in_and_is_known_with_their_tenant(
    admission: Admission, tenants: InMemoryTenants
) -> None:
    admission.admit(principal(ALICE, role=Role.DEVOPS))

    assert tenants.standing(ACME, ALICE) == Standing(
        tenant=Tenant(id=ACME, first_seen=START),
        user=TenantUser(
            tenant=ACME, id=ALICE, role=Role.DEVOPS, first_seen=START, last_seen=START.date()
        ),
    )


def test_a_crowd_of_requests_costs_one_look_in_so_many_seconds(
    admission: Admission, tenants: InMemoryTenants, clock: FrozenClock
) -> None:
    for _ in range(STANDING_SECONDS * 2):
        admission.admit(principal(ALICE))
        clock.advance(seconds=0.5)
    assert tenants.reads == 1

    admission.admit(principal(ALICE))
    assert tenants.reads == 2


def test_the_day_and_the_role_are_those_of_the_last_own_sign_in(
    admission: Admission, tenants: InMemoryTenants, clock: FrozenClock
) -> None:
    admission.admit(principal(ALICE, role=Role.TENANT_ADMIN))
    clock.advance(days=1)
    admission.admit(principal(ALICE, kind=TokenKind.PERSONAL))

    seen = tenants.user(ACME, ALICE)
    assert seen is not None
    assert (seen.role, seen.last_seen) == (Role.TENANT_ADMIN, clock.now().date())
    assert seen.first_seen == START

    admission.admit(principal(ALICE, role=Role.VIEWER))
    changed = tenants.user(ACME, ALICE)
    assert changed is not None
    assert changed.role is Role.VIEWER


@pytest.mark.parametrize(
    ("state", "code"),
    [
        (TenantState.SUSPENDED, "tenant_suspended"),
        (TenantState.DELETING, "tenant_deleting"),
        (TenantState.DELETED, "tenant_deleting"),
    ],
)
def test_nobody_of_a_suspended_tenant_comes_in_after_some_seconds(
    admission: Admission,
    tenants: InMemoryTenants,
    clock: FrozenClock,
    state: TenantState,
    code: str,
) -> None:
    for who in (principal(ALICE), principal(BOB), principal(ALICE, tenant=GLOBEX)):
        admission.admit(who)
    tenants.set_state(ACME, state, clock.now())
    clock.advance(seconds=STANDING_SECONDS)

    assert refused(admission, principal(ALICE)) == code
    assert refused(admission, principal(BOB, role=Role.CPI_ADMIN)) == code
    assert refused(admission, principal("who never came", kind=TokenKind.MCP)) == code
    admission.admit(principal(ALICE, tenant=GLOBEX))
    with pytest.raises(ForbiddenError, match=code):
        admission.require_tenant(ACME)
    assert tenants.user(ACME, UserId("who never came")) is None


def test_where_it_is_suspended_it_is_so_at_once(
    admission: Admission, tenants: InMemoryTenants, clock: FrozenClock
) -> None:
    admission.admit(principal(ALICE))
    tenants.set_state(ACME, TenantState.SUSPENDED, clock.now())
    admission.forget(ACME)

    assert refused(admission, principal(ALICE)) == "tenant_suspended"

    tenants.set_state(ACME, TenantState.ACTIVE, clock.now())
    admission.forget(ACME)
    admission.admit(principal(ALICE))


def test_a_suspended_user_does_not_come_in_and_others_do(
    admission: Admission, tenants: InMemoryTenants, clock: FrozenClock
) -> None:
    admission.admit(principal(ALICE))
    tenants.set_user_state(ACME, ALICE, UserState.SUSPENDED)
    clock.advance(seconds=STANDING_SECONDS)

    assert refused(admission, principal(ALICE)) == "user_suspended"
    admission.admit(principal(BOB))
    admission.admit(principal(ALICE, tenant=GLOBEX))
    admission.require_tenant(ACME)


def test_nobody_comes_in_while_it_cannot_be_read(clock: FrozenClock) -> None:
    class Down(InMemoryTenants):
        def standing(self, tenant: TenantId, user: UserId) -> Standing:
            raise UnavailableError("unavailable")

    down = Down()
    with pytest.raises(UnavailableError):
        Admission(lambda: down, clock).admit(principal(ALICE))


def test_nobody_is_turned_away_for_want_of_a_note(clock: FrozenClock) -> None:
    class Unnoted(InMemoryTenants):
        def note(self, seen: TenantUser, *, known: Standing) -> None:
            raise UnavailableError("unavailable")

    unnoted = Unnoted()
    Admission(lambda: unnoted, clock).admit(principal(ALICE))
    assert unnoted.user(ACME, ALICE) is None


def test_a_tenants_own_limit_is_told(admission: Admission, tenants: InMemoryTenants) -> None:
    tenants.add(Tenant(id=ACME, calls_per_window=7))

    assert admission.calls_per_window(ACME) == 7
    assert admission.calls_per_window(GLOBEX) == 0


def test_a_token_opens_no_door_to_who_may_not_come_in(
    admission: Admission, tenants: InMemoryTenants, clock: FrozenClock
) -> None:
    verifier = AdmittingVerifier(KnownTokens({"alice": principal(ALICE)}), admission)
    assert verifier.verify("alice") == principal(ALICE)
    tenants.set_state(ACME, TenantState.SUSPENDED, clock.now())
    clock.advance(seconds=STANDING_SECONDS)

    with pytest.raises(ForbiddenError, match="tenant_suspended"):
        verifier.verify("alice")
    with pytest.raises(UnauthenticatedError):
        verifier.verify("nobody")


ACCOUNT = Account(
    tenant=ACME,
    user=ALICE,
    provider="openai",
    model="m",
    price=ModelPrice(input=Decimal(1), output=Decimal(2)),
)


def metered(admission: Admission, clock: FrozenClock) -> Meter:
    ledger = InMemoryLedger()
    return Meter(lambda: ledger, RecordedUsage, clock, admission.require_account)


def test_no_provider_is_asked_once_a_turns_tenant_is_suspended(
    admission: Admission, tenants: InMemoryTenants, clock: FrozenClock
) -> None:
    meter = metered(admission, clock)
    admission.admit(principal(ALICE))
    assert meter.reserve(ACCOUNT, Tokens(input=1, output=1), sent=True)
    tenants.set_state(ACME, TenantState.SUSPENDED, clock.now())
    clock.advance(seconds=STANDING_SECONDS)

    for account in (ACCOUNT, replace(ACCOUNT, user=UserId(""))):
        with pytest.raises(ForbiddenError, match="tenant_suspended"):
            meter.reserve(account, Tokens(input=1, output=1), sent=True)


def test_no_provider_is_asked_once_a_turns_user_is_suspended_but_for_others_it_is(
    admission: Admission, tenants: InMemoryTenants, clock: FrozenClock
) -> None:
    meter = metered(admission, clock)
    admission.admit(principal(ALICE))
    assert meter.reserve(ACCOUNT, Tokens(input=1, output=1), sent=True)
    tenants.set_user_state(ACME, ALICE, UserState.SUSPENDED)
    clock.advance(seconds=STANDING_SECONDS)

    with pytest.raises(ForbiddenError, match="user_suspended"):
        meter.reserve(ACCOUNT, Tokens(input=1, output=1), sent=True)
    for user in (BOB, UserId("")):
        assert meter.reserve(replace(ACCOUNT, user=user), Tokens(input=1, output=1), sent=True)


def early(admission: Admission) -> tuple[EarlyVerifier, str]:
    tokens = KnownTokens()
    token = tokens.issue("alice", principal(ALICE))
    whole = AdmittingVerifier(tokens, admission)
    return EarlyVerifier(whole, tokens, admission.was_welcome), token


def test_who_came_in_a_while_ago_may_begin_before_they_are_looked_at_again(
    admission: Admission, tenants: InMemoryTenants, clock: FrozenClock
) -> None:
    verifier, token = early(admission)
    for seconds, reads in ((0, 1), (BEGINNING_SECONDS - 1, 1), (1, 2)):
        clock.advance(seconds=seconds)

        assert verifier.verify(token) == principal(ALICE)
        assert tenants.reads == reads


def test_who_was_turned_away_begins_nothing(
    admission: Admission, tenants: InMemoryTenants, clock: FrozenClock
) -> None:
    verifier, token = early(admission)
    verifier.verify(token)
    tenants.set_user_state(ACME, ALICE, UserState.SUSPENDED)
    clock.advance(seconds=STANDING_SECONDS)
    assert refused(admission, principal(ALICE)) == "user_suspended"

    with pytest.raises(ForbiddenError):
        verifier.verify(token)
    with pytest.raises(UnauthenticatedError):
        verifier.verify("another")


def test_who_may_not_come_in_hears_that_and_nothing_of_what_they_asked_for(
    admission: Admission, tenants: InMemoryTenants
) -> None:
    def work() -> None:
        raise NotFoundError("conversation_not_found")

    with pytest.raises(NotFoundError):
        admission.admit_while(principal(ALICE), work)
    tenants.set_user_state(ACME, ALICE, UserState.SUSPENDED)
    admission.forget(ACME)

    with pytest.raises(ForbiddenError):
        admission.admit_while(principal(ALICE), work)


def test_what_is_read_to_let_somebody_in_tells_their_tenants_limit_too(
    clock: FrozenClock,
) -> None:
    begun, asked = Event(), Event()

    class Slow(InMemoryTenants):
        def standing(self, tenant: TenantId, user: UserId) -> Standing:
            begun.set()
            assert asked.wait(30)
            return Standing(tenant=None, user=None)

        def tenant(self, tenant: TenantId) -> Tenant | None:
            raise AssertionError("it is read twice")

    admission = Admission(Slow, clock)
    limits: list[int] = []

    def count() -> None:
        assert begun.wait(30)
        Timer(0, asked.set).start()
        limits.append(admission.calls_per_window(ACME))

    admission.admit_while(principal(ALICE), count)

    assert limits == [0]
