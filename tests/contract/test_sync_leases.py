"""What every store of `SyncLeases` promises."""

from datetime import timedelta

import pytest

from archivolt.adapters.dynamodb.sync_leases import DynamoSyncLeases
from archivolt.domain.limits import SYNC_LEASE_SECONDS
from archivolt.ports.sync import SyncLeases
from tests.builders import ACME, ALICE, BOB, GLOBEX
from tests.contract.conftest import FAKE
from tests.fakes.clock import FrozenClock
from tests.fakes.sync import InMemorySyncLeases


@pytest.fixture
def clock() -> FrozenClock:
    return FrozenClock()


@pytest.fixture
def leases(store: str, request: pytest.FixtureRequest, clock: FrozenClock) -> SyncLeases:
    if store == FAKE:
        return InMemorySyncLeases(clock)
    return DynamoSyncLeases(request.getfixturevalue("new_table")("ControlTable"), clock)


def pass_the_length(clock: FrozenClock) -> None:
    clock.advance(seconds=timedelta(seconds=SYNC_LEASE_SECONDS).total_seconds())


def test_a_user_holds_one_lease_and_others_hold_theirs(leases: SyncLeases) -> None:
    assert leases.take(ACME, ALICE, "one")
    assert not leases.take(ACME, ALICE, "two")
    assert leases.take(ACME, BOB, "one")
    assert leases.take(GLOBEX, ALICE, "one")


def test_a_lease_that_is_given_back_can_be_taken(leases: SyncLeases) -> None:
    leases.take(ACME, ALICE, "one")
    leases.give_back(ACME, ALICE, "one")

    assert not leases.keep(ACME, ALICE, "one")
    assert leases.take(ACME, ALICE, "two")


def test_a_lease_ends_by_itself(leases: SyncLeases, clock: FrozenClock) -> None:
    leases.take(ACME, ALICE, "one")
    pass_the_length(clock)

    assert leases.take(ACME, ALICE, "two")
    assert not leases.keep(ACME, ALICE, "one")


def test_who_lost_a_lease_takes_nothing_from_the_next(leases: SyncLeases) -> None:
    leases.take(ACME, ALICE, "two")
    leases.give_back(ACME, ALICE, "one")

    assert not leases.take(ACME, ALICE, "three")


def test_a_lease_that_is_kept_is_held_for_its_whole_length_again(
    leases: SyncLeases, clock: FrozenClock
) -> None:
    leases.take(ACME, ALICE, "one")
    clock.advance(seconds=SYNC_LEASE_SECONDS - 1)
    assert leases.keep(ACME, ALICE, "one")
    clock.advance(seconds=SYNC_LEASE_SECONDS - 1)

    assert not leases.take(ACME, ALICE, "two")


def test_a_lease_that_ended_and_that_nobody_took_is_held_again(
    leases: SyncLeases, clock: FrozenClock
) -> None:
    leases.take(ACME, ALICE, "one")
    pass_the_length(clock)

    assert leases.keep(ACME, ALICE, "one")
    assert not leases.take(ACME, ALICE, "two")
