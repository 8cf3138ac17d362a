"""What every `ScheduleStore` promises."""

from dataclasses import replace
from datetime import timedelta

import pytest

from archivolt.adapters.dynamodb.schedules import DynamoSchedules
from archivolt.domain.errors import ConflictError, NotFoundError
from archivolt.domain.language import Language
from archivolt.domain.schedule import Firing, StandingPermission
from archivolt.ports.schedules import ScheduleStore
from tests.builders import ACME, ALICE, BOB, GLOBEX, a_schedule
from tests.contract.conftest import FAKE
from tests.fakes.clock import START
from tests.fakes.schedules import InMemorySchedules

PERMISSION = StandingPermission(
    id="p1",
    tools=("create_file", "edit_file"),
    vault="v1",
    folder="Été/notes",
    given_at=START,
    expires_at=START + timedelta(days=30),
    most=5,
    uses=2,
)
FULL = replace(
    a_schedule("Où est la clé ?"),
    name="Chaque jour",
    language=Language.FR,
    vaults=("v1",),
    enabled=False,
    permissions=(PERMISSION, replace(PERMISSION, id="p2", most=None)),
    last=Firing(
        due="2026-09-02T08:30:00Z", at=START, outcome="ok", run="r1", before="r0", settled=False
    ),
)


@pytest.fixture
def schedules(store: str, request: pytest.FixtureRequest) -> ScheduleStore:
    if store == FAKE:
        return InMemorySchedules()
    return DynamoSchedules(request.getfixturevalue("new_table")("ControlTable"))


def test_what_was_kept_is_given_back(schedules: ScheduleStore) -> None:
    full = schedules.create(FULL)
    plain = schedules.create(a_schedule(schedule_id="s0"))

    assert full == replace(FULL, revision=1)
    assert schedules.get(ACME, ALICE, "s1") == full
    assert schedules.of_user(ACME, ALICE) == [plain, full]


def test_an_id_is_taken_once(schedules: ScheduleStore) -> None:
    schedules.create(FULL)

    with pytest.raises(ConflictError, match="conflict"):
        schedules.create(a_schedule())
    assert schedules.get(ACME, ALICE, "s1").name == FULL.name


def test_of_two_who_change_one_at_a_time_the_second_reads_it_again(
    schedules: ScheduleStore,
) -> None:
    kept = schedules.create(a_schedule())
    changed = schedules.save(replace(kept, name="first"))

    with pytest.raises(ConflictError, match="conflict"):
        schedules.save(replace(kept, name="second"))
    assert schedules.get(ACME, ALICE, "s1") == changed
    assert schedules.save(replace(changed, enabled=False)).revision == 3


def test_everybody_has_their_own(schedules: ScheduleStore) -> None:
    schedules.create(FULL)

    assert schedules.of_user(ACME, BOB) == schedules.of_user(GLOBEX, ALICE) == []
    with pytest.raises(NotFoundError, match="schedule_not_found"):
        schedules.get(ACME, BOB, "s1")
    schedules.delete(replace(FULL, owner=BOB))
    assert len(schedules.of_user(ACME, ALICE)) == 1


@pytest.mark.parametrize("odd", ["absent", "", "\ud800", "x" * 3_000])
def test_what_is_not_there_is_told(schedules: ScheduleStore, odd: str) -> None:
    with pytest.raises(NotFoundError, match="schedule_not_found"):
        schedules.get(ACME, ALICE, odd)


def test_what_was_removed_is_gone_and_does_not_come_back(schedules: ScheduleStore) -> None:
    kept = schedules.create(FULL)
    schedules.delete(kept)
    schedules.delete(kept)

    assert schedules.of_user(ACME, ALICE) == []
    with pytest.raises(ConflictError, match="conflict"):
        schedules.save(kept)
