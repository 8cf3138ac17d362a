"""Reservations that nobody ended end daily, of every tenant, whoever asks for nothing more."""

from dataclasses import replace
from datetime import datetime, timedelta

import pytest

from archivolt.domain.errors import UnavailableError
from archivolt.domain.identity import TenantId
from archivolt.domain.spending_limits import MAX_SWEPT, RESERVATION_SECONDS
from archivolt.domain.tenancy import Tenant
from archivolt.domain.usage import Balance, Reservation
from archivolt.governance.lost_calls import LostCalls, LostCallsEnded
from tests.builders import ACME, GLOBEX
from tests.fakes.ledger import InMemoryLedger
from tests.fakes.tenancy import InMemoryTenants
from tests.unit.governance.test_metering import ACCOUNT, MONTH, WORST, Metering

PLENTY = timedelta(minutes=10)


class Half(InMemoryLedger):
    """A ledger that does not answer for one tenant."""

    def expired(self, tenant: TenantId, now: datetime, *, limit: int) -> list[Reservation]:
        if tenant == ACME:
            raise UnavailableError("unavailable")
        return super().expired(tenant, now, limit=limit)


@pytest.fixture
def metering() -> Metering:
    return Metering()


def over(metering: Metering) -> LostCalls:
    tenants = InMemoryTenants()
    for tenant in (ACME, GLOBEX):
        tenants.add(Tenant(id=tenant))
    return LostCalls(metering.meter, tenants)


def lose(metering: Metering, number: int = 1, *, tenant: TenantId = ACME, sent: bool) -> None:
    for _ in range(number):
        metering.meter.reserve(replace(ACCOUNT, tenant=tenant), WORST, sent=sent)


def test_what_every_tenant_lost_ends_and_what_is_under_way_does_not(metering: Metering) -> None:
    lose(metering, sent=False)
    lose(metering, tenant=GLOBEX, sent=True)
    metering.clock.advance(seconds=RESERVATION_SECONDS + 1)
    lose(metering, sent=True)

    assert over(metering).run(time_left=lambda: PLENTY) == LostCallsEnded(ended=2)

    assert metering.ledger.balance(ACME, MONTH) == Balance(reserved=200)
    assert metering.ledger.balance(GLOBEX, MONTH) == Balance(spent=200)
    assert [each.tenant for each in metering.events.used] == [GLOBEX]


def test_many_of_one_tenant_end_in_one_run(metering: Metering) -> None:
    lose(metering, MAX_SWEPT + 1, sent=False)
    metering.clock.advance(seconds=RESERVATION_SECONDS + 1)

    assert over(metering).end_of(ACME) == MAX_SWEPT + 1
    assert metering.ledger.held == {}


def test_a_tenants_trouble_is_not_anothers() -> None:
    metering = Metering(ledger=Half())
    for tenant in (ACME, GLOBEX):
        lose(metering, tenant=tenant, sent=False)
    metering.clock.advance(seconds=RESERVATION_SECONDS + 1)

    found = over(metering).run(time_left=lambda: PLENTY)

    assert found == LostCallsEnded(ended=1, tenants_failed=1)


def test_a_run_without_time_says_that_it_did_not_reach_everybody(metering: Metering) -> None:
    lose(metering, sent=False)
    metering.clock.advance(seconds=RESERVATION_SECONDS + 1)

    found = over(metering).run(time_left=lambda: timedelta(seconds=1))

    assert found == LostCallsEnded(complete=False)
    assert len(metering.ledger.held) == 1
