"""Conversations that are over age: hidden at once, and gone with the daily purge."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest

from archivolt.domain.conversation import ConversationId
from archivolt.domain.errors import NotFoundError, UnavailableError
from archivolt.domain.identity import TenantId
from archivolt.domain.retention import RETENTION_DAYS, UNLIMITED, kept_since
from archivolt.domain.run import Run, RunId
from archivolt.domain.settings import TenantSettings
from archivolt.governance.kept_conversations import KeptConversations
from archivolt.governance.kept_runs import KeptRuns
from archivolt.governance.retention import RetentionSweep
from tests.builders import ACME, ALICE, GLOBEX, a_conversation, principal
from tests.fakes.clock import START, FrozenClock
from tests.fakes.conversations import InMemoryConversations
from tests.fakes.governance import InMemoryTenantSettings
from tests.fakes.retention import InMemoryAges, InMemoryPlace
from tests.fakes.runs import InMemoryRuns

HOUR = timedelta(hours=1)


class World:
    """Conversations of two tenants, and the purge."""

    def __init__(self, *, now: datetime = START) -> None:
        self.clock = FrozenClock(now)
        self.ages = InMemoryAges()
        self.settings = InMemoryTenantSettings()
        self.place = InMemoryPlace()
        self.sweep = RetentionSweep(self.ages, self.settings, self.place, self.clock)

    def keep_for(self, days: int, *, tenant: TenantId = ACME) -> None:
        self.settings.save(tenant, TenantSettings(chat_retention_days=days))

    def used(self, name: str, *, days_ago: float, tenant: TenantId = ACME) -> None:
        self.ages.add(tenant, name, self.clock.now() - timedelta(days=days_ago))

    def names(self) -> list[str]:
        return sorted(name for _, name in self.ages.kept)


def plenty() -> timedelta:
    return HOUR


@pytest.mark.parametrize("days", RETENTION_DAYS)
def test_a_conversation_goes_with_the_day_after_its_last_and_not_before(days: int) -> None:
    world = World()
    world.keep_for(days)
    for name, age in (("before", days - 1), ("last day", days), ("after", days + 1)):
        world.used(name, days_ago=age)

    found = world.sweep.run(time_left=plenty)

    assert world.names() == ["before", "last day"]
    assert (found.due, found.purged, found.kept, found.complete) == (1, 1, 2, True)
    assert found.oldest_kept == START - timedelta(days=days)


def test_ninety_days_are_the_rule_where_a_tenant_chose_nothing() -> None:
    world = World()
    for age in (89, 90, 91):
        world.used(f"{age}", days_ago=age)

    world.sweep.run(time_left=plenty)

    assert world.names() == ["89", "90"]


def test_without_an_end_nothing_ever_goes() -> None:
    world = World()
    world.keep_for(UNLIMITED)
    world.used("ancient", days_ago=4_000)

    assert world.sweep.run(time_left=plenty).due == 0
    assert world.names() == ["ancient"]


def test_each_tenant_keeps_as_long_as_it_chose() -> None:
    world = World()
    world.keep_for(30)
    world.keep_for(180, tenant=GLOBEX)
    world.used("a", days_ago=100)
    world.used("g", days_ago=100, tenant=GLOBEX)

    world.sweep.run(time_left=plenty)

    assert world.names() == ["g"]


@pytest.mark.parametrize(
    "now",
    [
        datetime(2027, 3, 28, 0, 59, tzinfo=UTC),  # an hour before Paris goes to summer time
        datetime(2027, 3, 28, 1, 1, tzinfo=UTC),
        datetime(2026, 10, 25, 1, 30, tzinfo=UTC),  # the hour that Paris has twice
        datetime(2028, 2, 29, 12, 0, tzinfo=UTC),  # a leap day
        datetime(2028, 3, 1, 0, 0, tzinfo=UTC),
    ],
)
def test_days_are_of_twenty_four_hours_whatever_the_calendar_does(now: datetime) -> None:
    since = kept_since(now.astimezone(ZoneInfo("Europe/Paris")).astimezone(UTC), 90)

    assert since is not None
    assert now - since == timedelta(hours=90 * 24)
    world = World(now=now)
    world.ages.add(ACME, "to the second", now - timedelta(days=90))
    world.ages.add(ACME, "a second more", now - timedelta(days=90, seconds=1))
    world.sweep.run(time_left=plenty)
    assert world.names() == ["to the second"]


def test_a_purge_that_was_killed_is_done_again_from_where_it_stopped() -> None:
    world = World()
    for number in range(7):
        world.used(f"c{number}", days_ago=200)
    world.used("kept", days_ago=1)

    def dies(name: str) -> None:
        if name == "c3":
            raise KeyboardInterrupt

    world.ages.before_purge = dies
    with pytest.raises(KeyboardInterrupt):
        world.sweep.run(time_left=plenty)
    assert world.names() == ["c3", "c4", "c5", "c6", "kept"]

    world.ages.before_purge = lambda _: None
    found = world.sweep.run(time_left=plenty)

    assert world.names() == ["kept"]
    assert found.purged == 4
    assert found.complete


def test_a_run_ends_with_its_number_and_the_next_goes_on_there() -> None:
    world = World()
    for number in range(6):
        world.used(f"c{number}", days_ago=200)

    first = world.sweep.run(time_left=plenty, most=3)
    assert (first.purged, first.complete) == (3, False)
    assert world.place.place is not None

    second = world.sweep.run(time_left=plenty)
    assert (second.purged, second.complete) == (3, True)
    assert world.names() == []
    assert world.place.place is None


def test_a_run_that_goes_on_in_the_middle_comes_by_the_beginning_too() -> None:
    world = World()
    for number in range(6):
        world.used(f"c{number}", days_ago=200)
    world.used("b", days_ago=89.5)
    world.used("d", days_ago=1)
    world.sweep.run(time_left=plenty, most=3)
    # What was not due at the beginning of the walk is now.
    world.clock.advance(seconds=24 * 3_600)

    found = world.sweep.run(time_left=plenty)

    assert world.names() == ["d"]
    assert (found.due, found.purged, found.kept, found.complete) == (4, 4, 1, True)
    assert world.place.place is None


def test_a_run_that_goes_on_in_the_middle_looks_at_nothing_twice() -> None:
    world = World()
    for number in range(9):
        world.used(f"c{number}", days_ago=200 if number in {0, 3} else 1)
    world.place.place = f"{ACME}/c2"

    found = world.sweep.run(time_left=plenty)

    assert (found.purged, found.kept, found.complete) == (2, 7, True)


def test_what_cannot_be_removed_stops_no_run() -> None:
    world = World()
    for number in range(6):
        world.used(f"c{number}", days_ago=200)

    def refuses(name: str) -> None:
        if name < "c4":
            raise UnavailableError("unavailable")

    world.ages.before_purge = refuses
    found = world.sweep.run(time_left=plenty, most=2)

    assert (found.purged, found.failed, found.complete) == (2, 4, True)
    assert world.names() == ["c0", "c1", "c2", "c3"]


def test_what_takes_all_the_time_and_cannot_be_removed_is_passed_by_the_next_run() -> None:
    world = World()
    for number in range(4):
        world.used(f"c{number}", days_ago=200)
    moments = iter([HOUR])

    def refuses(name: str) -> None:
        if name < "c2":
            raise UnavailableError("unavailable")

    world.ages.before_purge = refuses
    first = world.sweep.run(time_left=lambda: next(moments, timedelta()))
    assert (first.purged, first.failed, first.complete) == (0, 1, False)

    moments = iter([HOUR] * 3)
    world.sweep.run(time_left=lambda: next(moments, timedelta()))

    assert world.names() == ["c0", "c1"]


def test_a_run_ends_in_time() -> None:
    world = World()
    world.used("c", days_ago=200)

    found = world.sweep.run(time_left=lambda: timedelta(seconds=1))

    assert (found.purged, found.complete) == (0, False)
    assert world.names() == ["c"]


def test_a_dry_run_counts_what_would_go_and_leaves_everything_as_it_was() -> None:
    world = World()
    world.place.place = "somewhere"
    world.used("old", days_ago=91)
    world.used("young", days_ago=1)

    found = world.sweep.run(time_left=plenty, dry=True)

    assert (found.due, found.purged, found.kept) == (1, 0, 1)
    assert world.names() == ["old", "young"]
    assert world.place.place == "somewhere"


def test_a_tenants_trouble_leaves_the_others_alone() -> None:
    class Broken(InMemoryTenantSettings):
        def load(self, tenant: TenantId) -> TenantSettings:
            if tenant == ACME:
                raise UnavailableError("unavailable")
            return super().load(tenant)

    world = World()
    world.sweep = RetentionSweep(world.ages, Broken(), world.place, world.clock)
    world.used("a1", days_ago=200)
    world.used("a2", days_ago=200)
    world.used("g", days_ago=200, tenant=GLOBEX)

    found = world.sweep.run(time_left=plenty)

    assert world.names() == ["a1", "a2"]
    assert (found.tenants_failed, found.purged) == (1, 1)


def test_a_conversation_that_cannot_go_leaves_the_others_alone() -> None:
    world = World()
    for number in range(3):
        world.used(f"c{number}", days_ago=200)

    def refuses(name: str) -> None:
        if name == "c1":
            raise UnavailableError("unavailable")

    world.ages.before_purge = refuses
    found = world.sweep.run(time_left=plenty)

    assert world.names() == ["c1"]
    assert (found.purged, found.failed) == (2, 1)


def test_a_conversation_that_is_used_again_in_time_stays() -> None:
    world = World()
    world.used("c", days_ago=200)
    world.ages.before_purge = lambda name: world.used(name, days_ago=0)

    found = world.sweep.run(time_left=plenty)

    assert world.names() == ["c"]
    assert (found.due, found.purged, found.failed) == (1, 0, 0)


class CountingSettings(InMemoryTenantSettings):
    """Tells how often it was asked."""

    loads = 0

    def load(self, tenant: TenantId) -> TenantSettings:
        self.loads += 1
        return super().load(tenant)


def test_what_is_over_age_is_not_there_whether_it_was_purged_or_not() -> None:
    clock, store = FrozenClock(), InMemoryConversations()
    shown = KeptConversations(store, InMemoryTenantSettings(), clock)
    for name, age in (("old", 91), ("last day", 90), ("young", 1)):
        used = START - timedelta(days=age)
        store.create(replace(a_conversation(name), updated_at=used))

    page, next_after = shown.of_user(ACME, ALICE, limit=9)

    assert [each.id for each in page] == ["young", "last day"]
    assert next_after is None
    for read in (shown.get, shown.latest):
        assert read(ACME, ConversationId("last day")).id == "last day"
        with pytest.raises(NotFoundError) as absent:
            read(ACME, ConversationId("old"))
        assert absent.value.code == "conversation_not_found"


def test_a_run_that_is_over_age_is_not_there_whether_it_was_purged_or_not() -> None:
    clock, store, settings = FrozenClock(), InMemoryRuns(), CountingSettings()
    shown = KeptRuns(store, settings, clock)
    ages = {"old": 91, "last day": 90, "young": 1}
    for name, age in ages.items():
        used = START - timedelta(days=age)
        run = Run(id=RunId(name), principal=principal(), goal="g", created_at=used, updated_at=used)
        shown.create(run, "sealed", [])

    assert shown.get(ACME, RunId("young")).id == "young"
    assert settings.loads == 0
    page, next_after = shown.of_user(ACME, ALICE, limit=9)

    assert ([each.id for each in page], next_after) == (["young", "last day"], None)
    assert shown.get(ACME, RunId("last day")).id == "last day"
    with pytest.raises(NotFoundError) as absent:
        shown.get(ACME, RunId("old"))
    assert absent.value.code == "run_not_found"


def test_a_list_ends_where_age_does() -> None:
    clock, store = FrozenClock(), InMemoryConversations()
    shown = KeptConversations(store, InMemoryTenantSettings(), clock)
    for age in (1, 91, 92, 93):
        used = START - timedelta(days=age)
        store.create(replace(a_conversation(f"c{age}"), updated_at=used))

    page, next_after = shown.of_user(ACME, ALICE, limit=2)

    assert [each.id for each in page] == ["c1"]
    assert next_after is None


def test_what_was_used_lately_is_shown_without_a_look_at_the_settings() -> None:
    clock, store, settings = FrozenClock(), InMemoryConversations(), CountingSettings()
    shown = KeptConversations(store, settings, clock)
    store.create(replace(a_conversation("c"), updated_at=START - timedelta(days=29)))

    shown.get(ACME, ConversationId("c"))
    shown.of_user(ACME, ALICE, limit=9)

    assert settings.loads == 0
