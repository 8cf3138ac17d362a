"""Runs by a timetable: whose they are, when they start, and why one does not."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from archivolt.domain.errors import (
    ConflictError,
    ForbiddenError,
    InvalidRequestError,
    NotFoundError,
    UnavailableError,
)
from archivolt.domain.identity import Role, TokenKind, TokenReach
from archivolt.domain.language import Language
from archivolt.domain.run import RunStatus
from archivolt.domain.schedule import Schedule, Timetable
from archivolt.domain.schedule_limits import MAX_SCHEDULES
from archivolt.domain.tenancy import TenantState, UserState
from archivolt.domain.tenancy_limits import STANDING_SECONDS
from archivolt.domain.vault import VaultRole
from archivolt.runs.firing import STARTED
from archivolt.runs.permitting import PermissionDraft
from archivolt.runs.requests import RunRequest
from tests.builders import ACME, ALICE, BOB, principal
from tests.scheduled_world import DAILY, DUE, LATER, Scheduled, draft


def test_a_firing_starts_a_run_as_the_schedules_owner() -> None:
    on = Scheduled()
    schedule = on.planned(vaults=("notes",))

    assert on.fire(schedule) == STARTED

    [run] = on.run_service.page(principal(ALICE), limit=9)[0]
    ended = on.drive(run)
    last = on.kept(schedule).last
    assert (ended.status, run.schedule, run.language) == (
        RunStatus.COMPLETED,
        schedule.id,
        Language.FR,
    )
    assert run.principal.kind is TokenKind.SCHEDULED
    assert run.principal.reach.vaults == {on.home.id}
    assert last is not None
    assert (last.run, last.outcome, last.due) == (run.id, STARTED, DUE)
    assert on.told(run, "run_started")[0].data["schedule"] == schedule.id
    assert on.outcomes() == [("create", "ok"), ("fire", STARTED)]


def test_a_firing_that_is_told_twice_starts_one_run() -> None:
    on = Scheduled()
    schedule = on.planned()

    assert [on.fire(schedule), on.fire(schedule)] == [STARTED, STARTED]
    assert len(on.engine.started) == 1


def test_a_key_of_a_persons_own_stands_in_no_firings_way() -> None:
    on = Scheduled()
    schedule = on.planned()
    key = f"schedule/{schedule.id}/{DUE}"
    on.run_service.start(
        principal(ALICE), RunRequest(goal="Mine.", idempotency_key=key), language=Language.FR
    )

    assert on.fire(schedule) == STARTED
    assert len(on.engine.started) == 2


def test_a_worker_that_dies_at_any_moment_of_a_firing_starts_one_run() -> None:
    for moment in range(60):
        on = Scheduled()
        schedule = on.planned()
        on.line.strike_after(moment)
        try:
            on.fire(schedule)
        except BaseException:  # noqa: BLE001  the worker died
            on.line.calm()
        else:
            on.line.calm()
            assert moment > 0
            return
        assert on.fire(schedule) == STARTED
        runs, _ = on.run_service.page(principal(ALICE), limit=9)
        assert len(runs) == len(on.engine.started) == 1
        last = on.kept(schedule).last
        assert last is not None
        assert last.run == runs[0].id
    pytest.fail("a firing has more moments than were tried")


def test_two_firings_start_two_runs_once_the_first_is_over() -> None:
    on = Scheduled()
    schedule = on.planned()
    on.fire(schedule)

    assert on.fire(schedule, LATER) == "schedule_busy"
    [run] = on.run_service.page(principal(ALICE), limit=9)[0]
    on.drive(run)
    assert on.fire(schedule, "2026-09-04T08:30:00Z") == STARTED
    assert len(on.engine.started) == 2


def test_what_fires_once_is_over_then() -> None:
    on = Scheduled()
    once = Timetable(expression="at(2026-09-02T08:30:00)", zone="UTC")
    schedule = on.planned(timetable=once)
    assert on.timetables.next_firing(schedule) is not None

    on.fire(schedule)

    assert not on.kept(schedule).enabled
    assert on.timetables.next_firing(on.kept(schedule)) is None
    assert on.fire(schedule, LATER) == "schedule_paused"


def suspend(on: Scheduled) -> None:
    on.admission.admit(principal(ALICE))
    on.tenants.set_user_state(ACME, ALICE, UserState.SUSPENDED)


def suspend_tenant(on: Scheduled) -> None:
    on.admission.admit(principal(ALICE))
    on.tenants.set_state(ACME, TenantState.SUSPENDED, on.clock.now())


def lose_vault(on: Scheduled) -> None:
    on.directory.set_member(on.home, BOB, VaultRole.OWNER)
    on.directory.remove_member(on.home, ALICE)


def turn_chat_off(on: Scheduled) -> None:
    on.settings.save(ACME, replace(on.settings.load(ACME), chat_enabled=False))


@pytest.mark.parametrize(
    ("happens", "code"),
    [
        (suspend, "user_suspended"),
        (suspend_tenant, "tenant_suspended"),
        (lose_vault, "vault_not_found"),
        (turn_chat_off, "chat_disabled"),
    ],
)
def test_what_became_of_the_owner_meanwhile_keeps_a_run_from_starting(
    happens: Callable[[Scheduled], None], code: str
) -> None:
    on = Scheduled()
    schedule = on.planned(vaults=("notes",))
    happens(on)
    on.clock.advance(seconds=STANDING_SECONDS)

    assert on.fire(schedule) == code

    last = on.kept(schedule).last
    assert last is not None
    assert (last.outcome, last.run) == (code, "")
    assert on.outcomes()[-1] == ("fire", code)
    assert on.engine.started == []


def test_while_the_deployments_chat_is_off_no_run_starts_and_the_schedule_stays() -> None:
    on = Scheduled()
    schedule = on.planned()
    on.chat_enabled = False

    assert on.fire(schedule) == "chat_disabled"
    assert (on.kept(schedule).enabled, on.engine.started) == (True, [])
    assert on.outcomes()[-1] == ("fire", "chat_disabled")

    on.chat_enabled = True
    assert on.fire(schedule, LATER) == STARTED


def test_a_run_has_the_role_that_its_owner_had_last() -> None:
    on = Scheduled()
    schedule = on.planned()
    on.admission.admit(principal(ALICE, role=Role.TENANT_ADMIN))
    on.clock.advance(days=1)
    on.admission.admit(principal(ALICE, role=Role.VIEWER))

    on.fire(schedule)

    [run] = on.run_service.page(principal(ALICE), limit=9)[0]
    assert run.principal.role is Role.VIEWER


def test_what_is_down_is_tried_again_and_says_so_meanwhile() -> None:
    on = Scheduled()
    once = Timetable(expression="at(2026-09-02T08:30:00)", zone="UTC")
    schedule = on.planned(timetable=once)
    on.line.take_down("create")

    with pytest.raises(UnavailableError):
        on.fire(schedule)

    last = on.kept(schedule).last
    assert last is not None
    assert (last.outcome, last.due, last.run) == ("unavailable", DUE, "")
    on.line.calm()
    assert on.fire(schedule) == STARTED
    assert not on.kept(schedule).enabled


def test_a_run_that_is_not_over_is_remembered_however_many_times_are_left_out() -> None:
    on = Scheduled()
    schedule = on.planned(vaults=("notes",))
    on.fire(schedule)
    days = [f"2026-09-0{day}T08:30:00Z" for day in range(3, 7)]

    assert on.fire(schedule, days[0]) == "schedule_busy"
    lose_vault(on)
    assert on.fire(schedule, days[1]) == "vault_not_found"
    on.directory.set_member(on.home, ALICE, VaultRole.WRITER)
    assert [on.fire(schedule, due) for due in days[2:]] == ["schedule_busy"] * 2
    assert len(on.engine.started) == 1


def test_a_late_word_of_a_time_before_starts_nothing_and_leaves_the_last_one() -> None:
    on = Scheduled()
    schedule = on.planned()
    on.fire(schedule, LATER)
    [run] = on.run_service.page(principal(ALICE), limit=9)[0]
    on.drive(run)
    last = on.kept(schedule).last

    on.fire(schedule, DUE)

    assert (on.kept(schedule).last, len(on.engine.started)) == (last, 1)


def test_a_timer_without_its_schedule_removes_itself() -> None:
    on = Scheduled()
    schedule = on.planned()
    on.schedules.delete(schedule)
    assert schedule.id in on.timer.set

    assert on.fire(schedule) == "schedule_not_found"
    assert on.timer.set == {}


def test_a_paused_schedule_fires_no_more_until_it_goes_on() -> None:
    on = Scheduled()
    schedule = on.planned()
    on.timetables.enable(principal(ALICE), schedule.id, enabled=False)

    assert not on.timer.set[schedule.id].enabled
    assert on.fire(schedule) == "schedule_paused"
    on.timetables.enable(principal(ALICE), schedule.id, enabled=True)
    assert on.fire(schedule) == STARTED


def test_a_schedule_is_its_owners_alone() -> None:
    on = Scheduled()
    schedule = on.planned()
    bob = principal(BOB)

    assert on.timetables.own(bob) == []
    for attempt in (
        lambda: on.timetables.read(bob, schedule.id),
        lambda: on.timetables.change(bob, schedule.id, draft()),
        lambda: on.timetables.enable(bob, schedule.id, enabled=False),
        lambda: on.timetables.delete(bob, schedule.id),
    ):
        with pytest.raises(NotFoundError, match="schedule_not_found"):
            attempt()
    assert on.kept(schedule).enabled


@pytest.mark.parametrize(
    ("kind", "reach", "code"),
    [
        (TokenKind.PERSONAL, TokenReach(), "person_required"),
        (TokenKind.MCP, TokenReach(), "person_required"),
        (TokenKind.SCHEDULED, TokenReach(), "person_required"),
        (TokenKind.INTERACTIVE, TokenReach(read_only=True), "token_read_only"),
    ],
)
def test_only_a_persons_own_sign_in_makes_a_schedule(
    kind: TokenKind, reach: TokenReach, code: str
) -> None:
    on = Scheduled()
    caller = replace(principal(ALICE), kind=kind, reach=reach)

    with pytest.raises(ForbiddenError, match=code):
        on.timetables.create(caller, draft(), Language.EN)
    assert on.timer.set == {}


@pytest.mark.parametrize(
    ("asked", "code"),
    [
        ({"goal": "  "}, "invalid_request"),
        ({"vaults": ("absent",)}, "vault_not_found"),
        ({"timetable": Timetable(expression="rate(1 minute)", zone="UTC")}, "schedule_too_often"),
        ({"timetable": Timetable(expression="soon", zone="UTC")}, "schedule_expression"),
        ({"timetable": Timetable(expression="rate(1 day)", zone="Mars")}, "time_zone_unknown"),
    ],
)
def test_what_cannot_be_done_is_told_before_it_is_kept(asked: dict[str, Any], code: str) -> None:
    on = Scheduled()

    with pytest.raises((InvalidRequestError, NotFoundError), match=code):
        on.planned(**asked)
    assert (on.timer.set, on.timetables.own(principal(ALICE))) == ({}, [])


def test_a_user_has_so_many_schedules_and_no_more() -> None:
    on = Scheduled()
    for _ in range(MAX_SCHEDULES):
        on.planned()

    with pytest.raises(ConflictError, match="schedules_too_many"):
        on.planned()
    assert len(on.timer.set) == MAX_SCHEDULES


def test_a_schedule_that_cannot_be_fired_is_not_kept() -> None:
    on = Scheduled()
    on.timer.down = True

    with pytest.raises(UnavailableError):
        on.planned()
    assert on.timetables.own(principal(ALICE)) == []


def test_what_the_timer_does_not_take_changes_nothing() -> None:
    on = Scheduled()
    schedule = on.planned()
    on.timer.down = True

    with pytest.raises(UnavailableError):
        on.timetables.change(principal(ALICE), schedule.id, draft("Something else."))
    assert on.kept(schedule) == schedule


def test_what_the_timer_does_not_take_goes_not_on() -> None:
    on = Scheduled()
    schedule = on.planned()
    on.timetables.enable(principal(ALICE), schedule.id, enabled=False)
    on.timer.down = True

    with pytest.raises(UnavailableError):
        on.timetables.enable(principal(ALICE), schedule.id, enabled=True)
    assert not on.kept(schedule).enabled


def test_of_two_changes_at_once_the_timer_has_the_one_that_is_kept() -> None:
    on = Scheduled()
    schedule = on.planned()
    weekly = Timetable(expression="rate(7 days)", zone="UTC")
    save, beside = on.schedules.save, [draft("Another.", timetable=weekly)]

    def after_another(changed: Schedule) -> Schedule:
        if beside:
            on.timetables.change(principal(ALICE), schedule.id, beside.pop())
        return save(changed)

    on.schedules.save = after_another  # type: ignore[method-assign]
    on.timetables.change(principal(ALICE), schedule.id, draft("Mine."))

    assert on.timer.set[schedule.id].timetable == on.kept(schedule).timetable == DAILY


def test_a_changed_schedule_keeps_its_permissions_and_asks_something_else() -> None:
    on = Scheduled()
    schedule = on.planned(vaults=("notes",))
    weekly = Timetable(expression="rate(7 days)", zone="UTC")
    permitted = PermissionDraft(tools=("create_file",), vault="notes", folder="", days=1)
    given = on.timetables.permissions.give(principal(ALICE), schedule.id, permitted)

    changed = on.timetables.change(
        principal(ALICE), schedule.id, draft("Find the mat.", timetable=weekly, name="Weekly")
    )
    on.fire(schedule)

    [run] = on.run_service.page(principal(ALICE), limit=9)[0]
    assert (run.goal, changed.name, changed.vaults) == ("Find the mat.", "Weekly", ())
    assert on.timer.set[schedule.id].timetable == weekly
    assert on.kept(schedule).permissions == (given,)


def test_a_deleted_schedule_is_gone_with_its_timer_and_its_runs_stay() -> None:
    on = Scheduled()
    schedule = on.planned()
    on.fire(schedule)

    on.timetables.delete(principal(ALICE), schedule.id)

    assert (on.timer.set, on.timetables.own(principal(ALICE))) == ({}, [])
    assert len(on.run_service.page(principal(ALICE), limit=9)[0]) == 1
