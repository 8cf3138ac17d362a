"""What every `RunStore` promises."""

from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from datetime import timedelta

import pytest

from archivolt.adapters.dynamodb.runs import DynamoRuns
from archivolt.domain.errors import (
    ConflictError,
    InvalidRequestError,
    NotFoundError,
    TooLargeError,
)
from archivolt.domain.identity import Principal, TokenKind, TokenReach
from archivolt.domain.language import Language
from archivolt.domain.run import (
    ApprovalState,
    Run,
    RunApproval,
    RunCaps,
    RunEvent,
    RunId,
    RunPhase,
    RunStatus,
    RunUse,
)
from archivolt.domain.run_limits import MAX_RUN_SEALED_CHARS
from archivolt.ports.runs import RunStore
from tests.builders import ACME, ALICE, BOB, GLOBEX, a_message, principal
from tests.contract.conftest import FAKE, NewTable, on_tables
from tests.fakes.clock import START
from tests.fakes.runs import InMemoryRuns


@pytest.fixture
def runs(store: str, request: pytest.FixtureRequest) -> RunStore:
    if store == FAKE:
        return InMemoryRuns()
    return DynamoRuns(request.getfixturevalue("new_table")("ConversationsTable"))


def a_run(run_id: str = "r1", by: Principal | None = None, *, minutes: int = 0) -> Run:
    at = START + timedelta(minutes=minutes)
    return Run(
        id=RunId(run_id),
        principal=by or principal(ALICE),
        goal="Do « it ».",
        created_at=at,
        updated_at=at,
    )


def a_full_run() -> Run:
    caller = replace(
        principal(ALICE, kind=TokenKind.MCP),
        reach=TokenReach(read_only=True, vaults=frozenset({"v1", "v2"})),
        program="Some client",
    )
    return replace(
        a_run("full", caller),
        caps=RunCaps(steps=3, tool_calls=4, minutes=5, micro_dollars=6),
        use=RunUse(steps=1, input_tokens=2, output_tokens=3, micro_dollars=4, waited_seconds=1.5),
        reason="answer_cut",
        reason_details={"limit": 7, "reason": None},
        phase=RunPhase.APPROVAL,
        language=Language.FR,
        answers_in=Language.FR,
        provider="openai",
        model="m",
        digest="d",
        started_at=START,
        waiting_since=START + timedelta(seconds=1),
        failing_since=START + timedelta(seconds=2),
        unsettled=True,
    )


def an_event(name: str = "message", **data: str) -> RunEvent:
    return RunEvent(name=name, data=dict(data), at=START)


def an_approval(place: str = "1.0", number: int = 1) -> RunApproval:
    return RunApproval(
        id=f"{place}.{number}",
        call=place,
        tool="create_file",
        expires_at=START + timedelta(days=1),
        sealed=f"sealed {number}",
        proposal=f"p{number}",
        vault="v1",
    )


def numbers(runs: RunStore, run: Run) -> list[int]:
    return [event.number for event in runs.events(run, after=0, limit=100)]


def test_a_run_is_kept_as_it_is(runs: RunStore) -> None:
    kept = runs.create(a_full_run(), "sealed", [an_event()])

    assert runs.get(ACME, kept.id) == kept
    assert replace(kept, revision=0, event_count=0) == a_full_run()
    assert runs.sealed_state(kept) == "sealed"


def test_an_id_is_taken_once(runs: RunStore) -> None:
    runs.create(a_run(), "", [])

    with pytest.raises(ConflictError):
        runs.create(a_run(), "", [])


@pytest.mark.parametrize("run_id", ["absent", "", "\ud800", "x" * 2_000])
def test_a_run_that_is_not_there_is_not_found(runs: RunStore, run_id: str) -> None:
    with pytest.raises(NotFoundError) as caught:
        runs.get(ACME, RunId(run_id))

    assert caught.value.code == "run_not_found"


def test_another_tenants_run_is_not_found(runs: RunStore) -> None:
    runs.create(a_run(by=principal(ALICE, tenant=GLOBEX)), "", [])

    with pytest.raises(NotFoundError):
        runs.get(ACME, RunId("r1"))


def test_a_state_is_kept_with_its_events(runs: RunStore) -> None:
    run = runs.create(a_run(), "long" * 200_000, [an_event("run_started")])

    saved = runs.save(
        replace(run, status=RunStatus.RUNNING), sealed="short", events=[an_event(text="é\n")]
    )

    assert runs.get(ACME, run.id) == saved
    assert runs.sealed_state(saved) == "short"
    assert runs.events(run, after=0, limit=9) == [
        replace(an_event("run_started"), number=1),
        replace(an_event(text="é\n"), number=2),
    ]


def test_a_state_that_somebody_else_replaced_is_not_kept(runs: RunStore) -> None:
    run = runs.create(a_run(), "", [])
    runs.save(replace(run, reason="first"))

    with pytest.raises(ConflictError):
        runs.save(replace(run, reason="second"), events=[an_event()])

    assert runs.get(ACME, run.id).reason == "first"
    assert numbers(runs, run) == []


def test_events_beside_do_not_get_in_the_way_of_a_state(runs: RunStore) -> None:
    run = runs.create(a_run(), "", [])
    runs.keep_outcome(run, "1.0", "sealed", [an_event("a"), an_event("b")])

    saved = runs.save(run, events=[an_event("c")])

    assert [e.name for e in runs.events(run, after=0, limit=9)] == ["a", "b", "c"]
    assert numbers(runs, run) == [1, 2, 3]
    assert saved.event_count == 3


def test_events_are_read_from_where_a_reader_was(runs: RunStore) -> None:
    run = runs.create(a_run(), "", [an_event(str(n)) for n in range(5)])

    assert [e.number for e in runs.events(run, after=2, limit=2)] == [3, 4]
    for after in (5, 99_999_990, 10**9):
        assert runs.events(run, after=after, limit=20) == []


def test_nothing_is_told_after_the_end(runs: RunStore) -> None:
    run = runs.create(a_run(), "", [])
    over = runs.save(replace(run, status=RunStatus.CANCELLED), events=[an_event("run_end")])

    runs.keep_outcome(run, "1.0", "sealed", [an_event("late")])

    assert numbers(runs, over) == [1]


def test_a_run_that_is_over_keeps_its_result_and_nothing_of_what_was_said(runs: RunStore) -> None:
    run = runs.create(a_run(), "sealed", [])
    runs.keep_outcome(run, "1.0", "sealed")

    over = runs.save(replace(run, status=RunStatus.COMPLETED), result=a_message(text="Here."))
    runs.forget(over)

    assert runs.result(over) == a_message(text="Here.")
    assert runs.outcome(over, "1.0") is None
    with pytest.raises(NotFoundError):
        runs.sealed_state(over)


def test_of_the_changes_of_a_run_that_is_over_only_who_said_what_is_kept(runs: RunStore) -> None:
    run = runs.create(a_run(), "sealed", [])
    for place in ("1.0", "1.1"):
        runs.put_approval(run, an_approval(place))
        runs.keep_task_token(run, an_approval(place), "token")
    runs.decide(run, an_approval(), ApprovalState.APPROVED, by=BOB, at=START)
    end = START + timedelta(hours=1)

    over = runs.save(replace(run, status=RunStatus.CANCELLED, updated_at=end))

    agreed, waited = (replace(an_approval(place), sealed="") for place in ("1.0", "1.1"))
    assert runs.approvals(over) == [
        replace(agreed, state=ApprovalState.APPROVED, decided_by=BOB, decided_at=START),
        replace(waited, state=ApprovalState.DECLINED, decided_at=end),
    ]
    assert runs.keep_task_token(over, waited, "late") is None


@pytest.mark.parametrize("ends", ["over", "gone"])
def test_nothing_is_kept_of_a_run_that_is_over_or_gone(runs: RunStore, ends: str) -> None:
    run = runs.create(a_run(), "sealed", [])
    runs.put_approval(run, an_approval())
    over = runs.save(replace(run, status=RunStatus.CANCELLED), events=[an_event("run_end")])
    if ends == "gone":
        runs.delete(over)

    late = [an_event("late")]
    assert not runs.keep_outcome(run, "1.0", "sealed", late)
    assert not runs.put_approval(run, an_approval("1.1"), events=late)
    assert not runs.put_approval(run, an_approval(number=2), instead_of="1.0.1", events=late)
    said = runs.decide(run, an_approval(), ApprovalState.APPROVED, by=BOB, at=START, events=late)

    assert said is None
    assert runs.outcome(run, "1.0") is None
    assert len(runs.approvals(run)) == (1 if ends == "over" else 0)
    assert [e.name for e in runs.events(run, after=0, limit=9)] == ["run_end"] * (ends == "over")


def test_what_happens_is_kept_and_told_together(runs: RunStore) -> None:
    run = runs.create(a_run(), "", [])
    for _ in range(2):
        runs.keep_outcome(run, "1.1", "sealed", [an_event("came to")])
        runs.put_approval(run, an_approval(), events=[an_event("asked")])
        runs.put_approval(
            run, an_approval(number=2), instead_of="1.0.1", events=[an_event("edited")]
        )
        runs.decide(
            run,
            an_approval(number=2),
            ApprovalState.APPROVED,
            by=BOB,
            at=START,
            events=[an_event("decided")],
        )

    told = [event.name for event in runs.events(run, after=0, limit=9)]
    assert told == ["came to", "asked", "edited", "decided"]
    assert runs.get(ACME, run.id).event_count == 4


def test_a_run_without_a_result_has_none(runs: RunStore) -> None:
    assert runs.result(runs.create(a_run(), "", [])) is None


def test_an_outcome_is_kept_once(runs: RunStore) -> None:
    run = runs.create(a_run(), "", [])

    assert runs.outcome(run, "1.0") is None
    assert runs.keep_outcome(run, "1.0", "first")
    assert not runs.keep_outcome(run, "1.0", "second")
    assert runs.outcome(run, "1.0") == "first"


def test_what_no_item_holds_is_too_large(runs: RunStore) -> None:
    run = runs.create(a_run(), "", [])
    sealed = "x" * (MAX_RUN_SEALED_CHARS + 1)

    with pytest.raises(TooLargeError):
        runs.keep_outcome(run, "1.0", sealed)
    with pytest.raises(TooLargeError):
        runs.put_approval(run, replace(an_approval(), sealed=sealed))
    runs.keep_outcome(run, "1.0", sealed[1:], [an_event(text="\u4e2d" * 70_000)])


def test_changes_are_listed_by_their_places(runs: RunStore) -> None:
    run = runs.create(a_run(), "", [])
    for place in ("10.0", "2.11", "2.3"):
        assert runs.put_approval(run, an_approval(place))

    assert [each.call for each in runs.approvals(run)] == ["2.3", "2.11", "10.0"]


def test_a_place_holds_one_change_unless_it_is_replaced(runs: RunStore) -> None:
    run = runs.create(a_run(), "", [])
    runs.put_approval(run, an_approval())
    runs.keep_task_token(run, an_approval(), "t1")

    assert not runs.put_approval(run, an_approval(number=2))
    assert not runs.put_approval(run, an_approval(number=3), instead_of="1.0.2")
    assert runs.put_approval(run, an_approval(number=2), instead_of="1.0.1")
    assert runs.approvals(run) == [replace(an_approval(number=2), task_token="t1")]


def test_a_change_is_decided_on_once(runs: RunStore) -> None:
    run = runs.create(a_run(), "", [])
    runs.put_approval(run, an_approval())

    first = runs.decide(run, an_approval(), ApprovalState.APPROVED, by=BOB, at=START)
    second = runs.decide(run, an_approval(), ApprovalState.DECLINED, by=ALICE, at=START)

    decided = replace(an_approval(), state=ApprovalState.APPROVED, decided_by=BOB, decided_at=START)
    assert (first, second) == (decided, None)
    assert not runs.put_approval(run, an_approval(number=2), instead_of="1.0.1")
    assert runs.approvals(run) == [decided]
    anew = replace(decided, id="1.0.2", decided_by="permission:p", sealed="anew")
    assert runs.put_approval(run, anew, instead_of="1.0.1")
    assert runs.approvals(run) == [anew]


def test_nobody_agrees_to_what_was_replaced(runs: RunStore) -> None:
    run = runs.create(a_run(), "", [])
    runs.put_approval(run, an_approval())
    runs.put_approval(run, an_approval(number=2), instead_of="1.0.1")

    assert runs.decide(run, an_approval(), ApprovalState.APPROVED, by=BOB, at=START) is None


def test_who_waits_is_told_what_was_decided(runs: RunStore) -> None:
    run = runs.create(a_run(), "", [])
    runs.put_approval(run, an_approval())
    runs.decide(run, an_approval(), ApprovalState.DECLINED, by=BOB, at=START)

    kept = runs.keep_task_token(run, an_approval(), "late")

    assert kept is not None
    assert (kept.state, kept.task_token) == (ApprovalState.DECLINED, "late")
    assert runs.keep_task_token(run, an_approval("9.9"), "t") is None


def test_a_users_runs_are_listed_last_active_first(runs: RunStore) -> None:
    for number in range(5):
        runs.create(a_run(f"r{number}", minutes=number), "", [])
    runs.create(a_run("bobs", principal(BOB)), "", [])
    first = runs.get(ACME, RunId("r0"))
    runs.save(replace(first, updated_at=START + timedelta(hours=1)))

    page, after = runs.of_user(ACME, ALICE, limit=3)
    rest, end = runs.of_user(ACME, ALICE, limit=3, after=after)

    assert [run.id for run in (*page, *rest)] == ["r0", "r4", "r3", "r2", "r1"]
    assert end is None


def test_what_is_not_over_is_found(runs: RunStore) -> None:
    run = runs.create(a_run(), "", [])
    runs.create(a_run("other", principal(ALICE, tenant=GLOBEX)), "", [])

    assert sorted(runs.unfinished()) == [(ACME, "r1"), (GLOBEX, "other")]

    runs.save(replace(run, status=RunStatus.FAILED))
    assert list(runs.unfinished()) == [(GLOBEX, "other")]


def test_a_deleted_run_is_gone(runs: RunStore) -> None:
    run = runs.create(a_run(), "sealed", [an_event()])
    runs.put_approval(run, an_approval())

    for _ in range(2):
        runs.delete(run)

    with pytest.raises(NotFoundError):
        runs.get(ACME, run.id)
    assert list(runs.unfinished()) == []
    assert runs.of_user(ACME, ALICE, limit=9) == ([], None)
    runs.keep_outcome(run, "1.0", "sealed", [an_event()])
    with pytest.raises(ConflictError):
        runs.save(run)


@on_tables
def test_a_page_that_nobody_gave_out_is_unknown(new_table: NewTable) -> None:
    with pytest.raises(InvalidRequestError):
        DynamoRuns(new_table("ConversationsTable")).of_user(ACME, ALICE, limit=1, after="nothing")


@on_tables
def test_a_state_beyond_a_transaction_is_too_large(new_table: NewTable) -> None:
    runs = DynamoRuns(new_table("ConversationsTable"))

    with pytest.raises(TooLargeError):
        runs.create(a_run(), "x" * 3_000_001, [])


@pytest.mark.dynamodb_local
def test_events_of_many_workers_are_all_told_in_order(new_local_table: NewTable) -> None:
    runs = DynamoRuns(new_local_table("ConversationsTable"))
    run = runs.create(a_run(), "", [])

    def add_two(number: int) -> None:
        runs.keep_outcome(run, f"1.{number}", "sealed", [an_event(str(number))] * 2)

    with ThreadPoolExecutor(8) as pool:
        list(pool.map(add_two, range(8)))

    assert numbers(runs, run) == list(range(1, 17))


@pytest.mark.dynamodb_local
def test_of_two_who_decide_at_once_one_is_heard(new_local_table: NewTable) -> None:
    runs = DynamoRuns(new_local_table("ConversationsTable"))
    run = runs.create(a_run(), "", [])
    runs.put_approval(run, an_approval())
    said = [ApprovalState.APPROVED, ApprovalState.DECLINED] * 4

    def say(state: ApprovalState) -> RunApproval | None:
        return runs.decide(run, an_approval(), state, by=BOB, at=START)

    with ThreadPoolExecutor(8) as pool:
        heard = list(pool.map(say, said))

    decided = [each for each in heard if each is not None]
    assert decided == runs.approvals(run)
