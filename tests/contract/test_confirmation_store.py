"""What every `ConfirmationStore` promises."""

from dataclasses import replace
from datetime import timedelta

import pytest

from archivolt.adapters.dynamodb.confirmations import DynamoConfirmations
from archivolt.adapters.dynamodb.table import DynamoTable
from archivolt.adapters.dynamodb.writes import Update
from archivolt.domain.errors import ConflictError
from archivolt.domain.limits import PROPOSAL_KEPT_DAYS
from archivolt.ports.confirmations import ConfirmationStore, Proposal, ProposalState
from tests.builders import ACME, ALICE, BOB, GLOBEX
from tests.contract.conftest import FAKE, MOTO, NewTable, on_tables
from tests.fakes.clock import START
from tests.fakes.confirmations import InMemoryConfirmations

LEASE = START + timedelta(seconds=60)
LATER = LEASE + timedelta(seconds=60)


def a_proposal(proposal_id: str = "p1", *, call: str = "sealed") -> Proposal:
    return Proposal(
        id=proposal_id,
        tenant=ACME,
        user=ALICE,
        tool="edit_file",
        state=ProposalState.PENDING,
        created_at=START + timedelta(microseconds=17),
        expires_at=START + timedelta(minutes=10),
        sealed_call=call,
    )


@pytest.fixture
def proposals(store: str, request: pytest.FixtureRequest) -> ConfirmationStore:
    if store == FAKE:
        return InMemoryConfirmations()
    return DynamoConfirmations(request.getfixturevalue("new_table")("ConfirmationsTable"))


def taken(proposals: ConfirmationStore) -> Proposal:
    proposals.add(a_proposal())
    lease = proposals.take(a_proposal(), now=START, lease_until=LEASE)
    assert lease is not None
    return lease


def kept(proposals: ConfirmationStore) -> Proposal:
    proposal = proposals.get(ACME, "p1")
    assert proposal is not None
    return proposal


def test_a_proposal_is_read_back(proposals: ConfirmationStore) -> None:
    proposals.add(a_proposal())

    assert proposals.get(ACME, "p1") == a_proposal()


@pytest.mark.parametrize("length", [0, 350_000, 350_001, 1_500_000])
def test_a_call_of_any_length_is_kept(proposals: ConfirmationStore, length: int) -> None:
    call = "0123456789" * (length // 10) + "x" * (length % 10)
    proposals.add(a_proposal(call=call))

    assert kept(proposals).sealed_call == call
    lease = proposals.take(kept(proposals), now=START, lease_until=LEASE)
    assert lease is not None
    assert lease.sealed_call == call


@pytest.mark.parametrize("proposal_id", ["", "p", "p11", "\ud800", "x" * 3_000])
def test_what_was_never_proposed_is_none(proposals: ConfirmationStore, proposal_id: str) -> None:
    proposals.add(a_proposal())

    assert proposals.get(ACME, proposal_id) is None
    assert not proposals.decline(ACME, proposal_id)


def test_a_proposal_of_another_tenant_is_none(proposals: ConfirmationStore) -> None:
    proposals.add(a_proposal())

    assert proposals.get(GLOBEX, "p1") is None
    assert not proposals.decline(GLOBEX, "p1")
    stolen = replace(a_proposal(), tenant=GLOBEX)
    assert proposals.take(stolen, now=START, lease_until=LEASE) is None


def test_a_taken_proposal_runs_until_its_lease_ends(proposals: ConfirmationStore) -> None:
    lease = taken(proposals)

    assert lease == kept(proposals)
    assert (lease.state, lease.lease_until, lease.attempts) == (ProposalState.RUNNING, LEASE, 1)
    before = LEASE - timedelta(microseconds=1)
    assert proposals.take(lease, now=before, lease_until=LATER) is None
    again = proposals.take(lease, now=LEASE, lease_until=LATER)
    assert again is not None
    assert (again.lease_until, again.attempts) == (LATER, 2)


def test_an_outcome_is_kept_and_nothing_follows_it(proposals: ConfirmationStore) -> None:
    lease = taken(proposals)

    assert proposals.finish(lease, outcome="done it")

    done = kept(proposals)
    assert (done.state, done.outcome, done.lease_until) == (ProposalState.DONE, "done it", None)
    assert proposals.take(done, now=LATER, lease_until=LATER) is None
    assert not proposals.finish(lease, outcome="twice")
    assert not proposals.decline(ACME, "p1")
    proposals.release(lease)
    assert kept(proposals) == done


def test_who_lost_the_lease_changes_nothing(proposals: ConfirmationStore) -> None:
    lost = taken(proposals)
    held = proposals.take(lost, now=LEASE, lease_until=LATER)
    assert held is not None

    assert not proposals.finish(lost, outcome="too late")
    proposals.release(lost)

    assert kept(proposals) == held
    assert proposals.finish(held, outcome="in time")
    assert kept(proposals).outcome == "in time"


def test_a_released_proposal_is_taken_at_once_and_remembers(proposals: ConfirmationStore) -> None:
    lease = taken(proposals)

    proposals.release(lease)

    assert kept(proposals).state is ProposalState.PENDING
    assert kept(proposals).lease_until is None
    assert not proposals.decline(ACME, "p1"), "an attempt may have had effects"
    again = proposals.take(kept(proposals), now=START, lease_until=LEASE)
    assert again is not None
    assert again.attempts == 2


def test_a_declined_proposal_is_never_taken(proposals: ConfirmationStore) -> None:
    proposals.add(a_proposal())

    assert proposals.decline(ACME, "p1")

    assert kept(proposals).state is ProposalState.DECLINED
    assert not proposals.decline(ACME, "p1")
    assert proposals.take(a_proposal(), now=START, lease_until=LEASE) is None


def test_a_running_proposal_is_not_declined(proposals: ConfirmationStore) -> None:
    taken(proposals)

    assert not proposals.decline(ACME, "p1")
    assert kept(proposals).state is ProposalState.RUNNING


@on_tables
def test_a_proposal_expires_well_after_its_token(new_table: NewTable) -> None:
    table = new_table("ConfirmationsTable")
    DynamoConfirmations(table).add(a_proposal())

    items = list(table.items("PROPOSAL#acme#p1"))

    expected = a_proposal().expires_at + timedelta(days=PROPOSAL_KEPT_DAYS)
    assert [item["ttl"] for item in items] == [int(expected.timestamp())] * 2


@on_tables
def test_a_step_whose_answer_was_lost_is_not_mistaken_for_anothers(
    new_table: NewTable, monkeypatch: pytest.MonkeyPatch
) -> None:
    proposals = DynamoConfirmations(new_table("ConfirmationsTable"))
    once = DynamoTable.update

    def sent_twice(table: DynamoTable, update: Update) -> dict[str, object]:
        once(table, update)
        return once(table, update)

    monkeypatch.setattr(DynamoTable, "update", sent_twice)
    lease = taken(proposals)
    assert lease.attempts == 1
    proposals.release(lease)
    again = proposals.take(lease, now=START, lease_until=LEASE)
    assert again is not None
    assert proposals.finish(again, outcome="done it")
    proposals.add(a_proposal("p2"))
    assert proposals.decline(ACME, "p2")


@on_tables
def test_an_id_is_used_once(new_table: NewTable) -> None:
    proposals = DynamoConfirmations(new_table("ConfirmationsTable"))
    lease = taken(proposals)

    with pytest.raises(ConflictError):
        proposals.add(a_proposal())

    assert proposals.get(ACME, "p1") == lease


def test_a_yes_is_kept_while_a_proposal_waits_and_after(proposals: ConfirmationStore) -> None:
    asked = replace(a_proposal(), sealed_preview="preview")
    proposals.add(asked)

    approved = proposals.approve(ACME, "p1")

    assert approved
    assert proposals.approve(ACME, "p1")
    assert kept(proposals) == replace(asked, approved=True)
    lease = proposals.take(kept(proposals), now=START, lease_until=LEASE)
    assert lease is not None
    assert lease.approved
    assert proposals.finish(lease, outcome="done")
    assert not proposals.approve(ACME, "p1")


def test_what_waits_for_a_yes_is_listed_for_its_user_the_last_to_end_first(
    proposals: ConfirmationStore,
) -> None:
    asked = replace(
        a_proposal("p1", call="x" * 400_000), sealed_preview="preview", program="my agent"
    )
    for proposal in (
        asked,
        replace(asked, id="p2", expires_at=START + timedelta(minutes=20)),
        replace(asked, id="over", expires_at=START + timedelta(minutes=1)),
        replace(asked, id="bobs", user=BOB),
        replace(asked, id="theirs", tenant=GLOBEX),
        replace(asked, id="no", sealed_preview=""),
        replace(asked, id="approved"),
        replace(asked, id="declined"),
        replace(asked, id="running"),
    ):
        proposals.add(proposal)
    assert proposals.approve(ACME, "approved")
    assert proposals.decline(ACME, "declined")
    assert proposals.take(replace(asked, id="running"), now=START, lease_until=LEASE)
    now = START + timedelta(minutes=5)

    waiting = proposals.waiting(ACME, ALICE, now=now, limit=20)

    assert [each.id for each in waiting] == ["p2", "p1"]
    assert waiting[1] == replace(asked, sealed_call="")
    assert proposals.waiting(ACME, ALICE, now=now, limit=1) == waiting[:1]


@on_tables
def test_what_was_answered_does_not_hide_what_waits(new_table: NewTable, store: str) -> None:
    proposals = DynamoConfirmations(new_table("ConfirmationsTable"))
    asked = replace(a_proposal(), sealed_preview="preview")
    proposals.add(asked)
    # moto copies every table for each transaction.
    for number in range(24 if store == MOTO else 120):
        later = asked.expires_at + timedelta(seconds=number)
        proposals.add(replace(asked, id=f"d{number}", expires_at=later))
        assert proposals.decline(ACME, f"d{number}")

    waiting = proposals.waiting(ACME, ALICE, now=START, limit=20)

    assert [each.id for each in waiting] == ["p1"]


def test_what_is_declined_absent_or_anothers_cannot_be_approved(
    proposals: ConfirmationStore,
) -> None:
    proposals.add(a_proposal())
    proposals.decline(ACME, "p1")

    assert not proposals.approve(ACME, "p1")
    assert not proposals.approve(ACME, "none")
    assert not proposals.approve(GLOBEX, "p1")
    assert not kept(proposals).approved
