"""The chain of the audit log on real tables, and what every change to them shows."""

import threading
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from datetime import UTC, date, datetime, timedelta
from typing import TYPE_CHECKING

import pytest
from moto import mock_aws

from archivolt.adapters.dynamodb.audit import DynamoAuditLog
from archivolt.adapters.dynamodb.audit_seals import DynamoAuditSeals
from archivolt.adapters.dynamodb.table import ConditionFailedError, DynamoTable, StoredItem
from archivolt.adapters.dynamodb.writes import Delete, Key, Put, Update, Write
from archivolt.adapters.s3.objects import Bucket
from archivolt.domain.audit import AuditEntry, entry_digest
from archivolt.domain.errors import UnavailableError
from archivolt.domain.identity import UserId
from archivolt.governance.audit_check import AuditCheck, AuditReport
from archivolt.governance.audit_lane import Fault
from archivolt.governance.audit_sealing import AuditSealing
from tests.builders import ACME, GLOBEX, principal
from tests.contract.conftest import REGION, NewTable, client_of, make_table
from tests.fakes.audit import NoAuditSeals
from tests.fakes.clock import FrozenClock

if TYPE_CHECKING:
    from types_boto3_s3 import S3Client

NOON = datetime(2026, 9, 1, 12, tzinfo=UTC)
TODAY = NOON.date()
MUCH = timedelta(minutes=15)
BUCKET = "documents"


def an_entry(at: datetime = NOON, action: str = "read_file") -> AuditEntry:
    return AuditEntry(
        principal=principal(),
        action=action,
        at=at,
        outcome="ok",
        surface="mcp",
        milliseconds=12,
        vault="notes",
        path="a.md",
    )


class Log:
    """A log in one lane or in all, with its seals, and a clock."""

    def __init__(self, table: DynamoTable, s3: "S3Client") -> None:
        self.table = table
        self.s3 = s3
        self.clock = FrozenClock(NOON)
        self.log = DynamoAuditLog(table)
        self.seals = DynamoAuditSeals(table, Bucket(s3, BUCKET))

    def write(self, count: int, *, at: datetime = NOON) -> None:
        for number in range(count):
            self.log.append(an_entry(at + timedelta(seconds=number)))

    def seal(self, time_left: Callable[[], timedelta] = lambda: MUCH) -> int:
        return AuditSealing(self.log, self.seals, self.clock).run(time_left=time_left).days

    def check(self) -> AuditReport:
        return AuditCheck(self.log, self.seals, self.clock).check(ACME)

    def faults(self) -> list[Fault]:
        return [found.fault for found in self.check().faults]

    def items(self, day: date = TODAY) -> Sequence[StoredItem]:
        """The entries of a day in the order of their numbers."""
        found = self.table.items(f"TENANT#acme#{day}")
        return sorted(found, key=lambda item: (item["lane"], item["number"]))

    def change(self, item: StoredItem, **values: str | int) -> None:
        self.table.update(Update(key=Key(item["pk"], item["sk"]), set=values))

    def remove(self, item: StoredItem) -> None:
        self.table.write(Delete(key=Key(item["pk"], item["sk"])))


@pytest.fixture
def log(monkeypatch: pytest.MonkeyPatch) -> Iterator[Log]:
    """A log whose entries are all in one lane, so that a test knows which follow each other."""
    monkeypatch.setattr("archivolt.adapters.dynamodb.audit.AUDIT_LANES", 1)
    with mock_aws():
        s3 = client_of("s3")
        s3.create_bucket(Bucket=BUCKET, CreateBucketConfiguration={"LocationConstraint": REGION})
        yield Log(make_table(client_of("dynamodb"), "AuditTable"), s3)


def test_a_log_that_nobody_touched_is_whole(log: Log) -> None:
    log.write(5)
    log.log.append(replace(an_entry(), principal=principal(tenant=GLOBEX)))
    DynamoAuditLog(log.table).append(an_entry(NOON + timedelta(minutes=1)))

    report = log.check()

    assert (report.entries, report.faults) == (6, [])
    assert set(log.log.tenants()) == {ACME, GLOBEX}
    assert [item["number"] for item in log.items()] == [1, 2, 3, 4, 5, 6]


def test_a_tenant_without_entries_has_a_whole_log(log: Log) -> None:
    assert log.check().faults == []
    assert log.seal() == 0


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("user", "mallory"),
        ("action", "list_files"),
        ("outcome", "forbidden"),
        ("path", "b.md"),
        ("milliseconds", 13),
        ("role", "cpi-admin"),
        ("at", "2026-09-01T12:00:02.5+00:00"),
        ("number", 77),
        ("who_salt", ""),
        ("what_salt", "0" * 32),
        ("what", "0" * 64),
    ],
)
def test_a_changed_entry_shows(log: Log, name: str, value: str | int) -> None:
    log.write(5)

    log.change(log.items()[2], **{name: value})

    found = {(found.fault, found.number) for found in log.check().faults}
    if name == "number":
        assert (Fault.MISSING, 3) in found or (Fault.CUT_OFF, 3) in found
    else:
        assert found == {(Fault.CHANGED, 3)}


def test_what_a_person_is_named_by_can_be_taken_out_and_the_chain_holds(log: Log) -> None:
    log.write(3)

    log.change(log.items()[1], user="", token_id="", who_salt="")
    log.change(log.items()[2], vault="", path="", what_salt="")

    report = log.check()
    assert (report.faults, report.unnamed) == ([], 2)


def test_nobody_is_named_instead_of_who_was_taken_out(log: Log) -> None:
    log.write(3)

    log.change(log.items()[0], user="mallory", who_salt="")
    log.change(log.items()[1], vault="", path="innocent.md", what_salt="")
    log.change(log.items()[2], vault="", path="", what_salt="", user="mallory")

    found = {(found.fault, found.number) for found in log.check().faults}
    assert found == {(Fault.CHANGED, number) for number in (1, 2, 3)}


@pytest.mark.parametrize(
    ("removed", "fault"),
    [(0, Fault.MISSING), (2, Fault.MISSING), (4, Fault.CUT_OFF)],
)
def test_a_removed_entry_shows(log: Log, removed: int, fault: Fault) -> None:
    log.write(5)

    log.remove(log.items()[removed])

    [found] = log.check().faults
    assert (found.fault, found.number, found.count) == (fault, removed + 1, 1)


def test_all_entries_of_a_day_removed_show(log: Log) -> None:
    log.write(2, at=NOON - timedelta(days=1))
    log.write(3)
    log.write(2, at=NOON + timedelta(days=1))
    log.clock.advance(days=1)
    for item in log.items():
        log.remove(item)

    [found] = log.check().faults

    assert (found.fault, found.number, found.count) == (Fault.MISSING, 3, 3)


def test_an_entry_put_in_by_hand_shows(log: Log) -> None:
    log.write(3)
    item = log.items()[1]

    log.table.write(Put(item={**item, "sk": item["sk"][:-1] + "x"}))
    assert log.faults() == [Fault.DOUBLED]

    without_place = {name: value for name, value in item.items() if name != "number"}
    log.table.write(Put(item={**without_place, "sk": item["sk"][:-1] + "x"}))
    assert log.faults() == [Fault.UNCHAINED]


def test_an_exchanged_entry_with_a_digest_of_its_own_shows(log: Log) -> None:
    log.write(3)
    forged = replace(an_entry(NOON + timedelta(seconds=1)), action="list_files")
    # Written as ours are, in the place of the second entry.
    [_, second, _] = sorted(log.log.entries(ACME, NOON.date()), key=lambda kept: kept.place.number)
    digest = entry_digest(forged, second.place, who=second.who, what=second.what)
    log.change(log.items()[1], action="list_files", digest=digest)

    [found] = log.check().faults

    assert (found.fault, found.number) == (Fault.UNLINKED, 3)


def test_a_head_that_was_set_back_shows(log: Log) -> None:
    log.write(3)
    second = log.items()[1]

    log.table.update(
        Update(key=Key("HEADS#acme", "00"), set={"number": 2, "digest": second["digest"]})
    )

    [found] = log.check().faults
    assert (found.fault, found.number, found.count) == (Fault.BEYOND_HEAD, 3, 1)


def test_days_that_are_over_are_sealed_once_and_exported(log: Log) -> None:
    log.write(3, at=NOON - timedelta(days=3))
    log.write(2, at=NOON - timedelta(days=1))
    log.write(1)

    assert log.seal() == 2
    assert log.seal() == 0

    first, second = log.seals.seals(ACME)
    assert (first.entries, second.entries, second.previous) == (3, 2, first.digest)
    assert log.seals.exported_seal(ACME, second.day) == second
    content = log.seals.content(ACME, second.day)
    assert content is not None
    assert content.count(b"\n") == 2
    report = log.check()
    assert (report.faults, report.sealed_days, report.entries) == ([], 2, 6)


def test_a_day_is_sealed_only_when_no_call_of_it_can_still_run(log: Log) -> None:
    log.write(1, at=datetime(2026, 8, 31, 23, 59, tzinfo=UTC))

    log.clock = FrozenClock(datetime(2026, 9, 1, 1, 59, tzinfo=UTC))
    assert log.seal() == 0
    log.clock = FrozenClock(datetime(2026, 9, 1, 2, 0, tzinfo=UTC))
    assert log.seal() == 1


def test_a_seal_stops_in_time_and_the_next_run_goes_on(log: Log) -> None:
    for days in (3, 2, 1):
        log.write(1, at=NOON - timedelta(days=days))
    left = iter([MUCH, MUCH, timedelta(seconds=5)])

    assert log.seal(lambda: next(left)) == 1
    assert log.seal() == 2
    assert log.faults() == []


def test_an_export_that_broke_off_is_made_again(log: Log, monkeypatch: pytest.MonkeyPatch) -> None:
    log.write(2, at=NOON - timedelta(days=1))

    def broken(_: Put | Delete) -> None:
        raise UnavailableError("unavailable")

    with monkeypatch.context() as patched:
        patched.setattr(log.table, "write", broken)
        done = AuditSealing(log.log, log.seals, log.clock).run(time_left=lambda: MUCH)
        assert (done.days, done.failed_tenants, done.complete) == (0, 1, False)
    log.write(1, at=NOON - timedelta(days=1, seconds=-30))

    assert log.seal() == 1
    assert log.faults() == []


def test_what_was_sealed_cannot_be_cut_off_with_its_head(log: Log) -> None:
    log.write(3, at=NOON - timedelta(days=1))
    assert log.seal() == 1
    items = log.items(date(2026, 8, 31))

    log.remove(items[2])
    log.table.update(
        Update(key=Key("HEADS#acme", "00"), set={"number": 2, "digest": items[1]["digest"]})
    )

    assert log.faults() == [Fault.DAY_CHANGED]


def test_sealed_days_removed_with_their_seals_and_the_end_set_back_show(log: Log) -> None:
    for days in (3, 2, 1):
        log.write(1, at=NOON - timedelta(days=days))
    assert log.seal() == 3
    [first] = log.items(date(2026, 8, 29))

    for day in ("2026-08-30", "2026-08-31"):
        log.remove(log.items(date.fromisoformat(day))[0])
        log.table.write(Delete(key=Key("SEALS#acme", day)))
    log.table.update(
        Update(key=Key("HEADS#acme", "00"), set={"number": 1, "digest": first["digest"]})
    )

    assert log.faults() == [Fault.SEAL_MISSING, Fault.SEAL_MISSING]


def test_a_tenant_whose_whole_log_was_removed_is_still_known(log: Log) -> None:
    log.write(2, at=NOON - timedelta(days=1))
    log.seal()

    for pk in ("TENANT#acme#2026-08-31", "HEADS#acme", "SEALS#acme", "TENANTS"):
        for item in list(log.table.items(pk)):
            log.remove(item)

    check = AuditCheck(log.log, log.seals, log.clock)
    assert list(check.tenants()) == [ACME]
    assert log.faults() == [Fault.SEAL_MISSING]


@pytest.mark.parametrize(
    ("ending", "body", "fault"),
    [
        ("jsonl.gz", None, Fault.EXPORT_MISSING),
        ("jsonl.gz", b"", Fault.EXPORT_CHANGED),
        ("jsonl.gz", b"no gzip", Fault.EXPORT_CHANGED),
        ("seal.json", None, Fault.EXPORT_MISSING),
        ("seal.json", b"{}", Fault.EXPORT_MISSING),
    ],
)
def test_a_touched_export_shows(log: Log, ending: str, body: bytes | None, fault: Fault) -> None:
    log.write(3, at=NOON - timedelta(days=1))
    log.seal()
    key = f"audit/acme/2026-08-31.{ending}"

    if body is None:
        log.s3.delete_object(Bucket=BUCKET, Key=key)
    else:
        log.s3.put_object(Bucket=BUCKET, Key=key, Body=body)

    assert log.faults() == [fault]


def test_a_touched_seal_shows(log: Log) -> None:
    for days in (3, 2, 1):
        log.write(1, at=NOON - timedelta(days=days))
    log.seal()

    log.table.write(Delete(key=Key("SEALS#acme", "2026-08-30")))
    assert set(log.faults()) == {Fault.SEAL_CHANGED, Fault.SEAL_MISSING}
    log.table.update(Update(key=Key("SEALS#acme", "2026-08-29"), set={"entries": 2}))
    assert set(log.faults()) == {
        *(Fault.SEAL_CHANGED, Fault.SEAL_MISSING),
        *(Fault.DAY_CHANGED, Fault.EXPORT_CHANGED),
    }


def test_entries_past_their_time_may_be_gone_and_the_rest_still_holds(
    log: Log, monkeypatch: pytest.MonkeyPatch
) -> None:
    for module in ("governance.audit_check", "governance.audit_sealing", "adapters.dynamodb.audit"):
        monkeypatch.setattr(f"archivolt.{module}.AUDIT_KEPT_DAYS", 20)
    log.write(3, at=NOON - timedelta(days=25))
    log.clock = FrozenClock(NOON - timedelta(days=24))
    assert log.seal() == 1
    log.write(2, at=NOON - timedelta(days=10))
    log.clock = FrozenClock(NOON)
    assert log.seal() == 1
    for item in log.items(date(2026, 8, 7)):
        assert item["ttl"] < NOON.timestamp()
        log.remove(item)

    assert log.faults() == []
    log.remove(log.items(date(2026, 8, 22))[0])
    assert set(log.faults()) == {Fault.MISSING, Fault.DAY_CHANGED}


def test_an_entry_that_began_before_another_may_be_written_after_it(log: Log) -> None:
    midnight = datetime(2026, 9, 1, tzinfo=UTC)
    log.log.append(an_entry(midnight + timedelta(seconds=1)))
    log.log.append(an_entry(midnight - timedelta(seconds=1)))
    log.log.append(an_entry(midnight + timedelta(seconds=2)))

    assert log.faults() == []
    log.seal()
    assert log.faults() == []


def test_an_entry_whose_answer_was_lost_is_there_once(
    log: Log, monkeypatch: pytest.MonkeyPatch
) -> None:
    transact = log.table.transact

    def losing(writes: Sequence[Write]) -> None:
        transact(writes)
        # As the repetition of an attempt whose answer was lost ends.
        raise ConditionFailedError

    monkeypatch.setattr(log.table, "transact", losing)
    log.log.append(an_entry())

    assert [item["number"] for item in log.items()] == [1]
    assert log.faults() == []


@pytest.mark.dynamodb_local
def test_many_writers_at_once_write_one_whole_log(new_local_table: NewTable) -> None:
    table = new_local_table("AuditTable")
    failed: list[BaseException] = []

    def write(number: int) -> None:
        log = DynamoAuditLog(table)
        try:
            for second in range(5):
                log.append(replace(an_entry(NOON + timedelta(seconds=second)), milliseconds=number))
        except BaseException as error:  # noqa: BLE001  told by the test
            failed.append(error)

    threads = [threading.Thread(target=write, args=(number,)) for number in range(12)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert failed == []
    log = DynamoAuditLog(table)
    report = AuditCheck(log, NoAuditSeals(), FrozenClock(NOON)).check(ACME)
    assert (report.entries, report.faults) == (60, [])


def test_entries_of_one_tool_are_read_with_its_steps(log: Log) -> None:
    for action in ("delete_file", "propose:delete_file", "read_file", "apply:delete_file"):
        log.log.append(an_entry(action=action))

    page = log.log.page(
        ACME,
        since=NOON - timedelta(days=1),
        until=NOON + timedelta(days=1),
        user=UserId("alice"),
        action="delete_file",
        limit=10,
    )

    assert sorted(entry.action for entry in page.entries) == [
        "apply:delete_file",
        "delete_file",
        "propose:delete_file",
    ]
