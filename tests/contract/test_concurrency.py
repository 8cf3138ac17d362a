"""Races, on the real stores only: one winner, and no call uncounted."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from datetime import timedelta
from threading import Barrier
from typing import TYPE_CHECKING

import pytest

from archivolt.adapters.dynamodb.confirmations import DynamoConfirmations
from archivolt.adapters.dynamodb.conversations import DynamoConversations
from archivolt.adapters.dynamodb.operations import DynamoOperations
from archivolt.adapters.dynamodb.rates import DynamoRateCounter
from archivolt.adapters.dynamodb.vaults import DynamoVaultDirectory
from archivolt.adapters.s3.files import S3Files
from archivolt.domain.errors import ConflictError, NotFoundError
from archivolt.domain.paths import VaultPath
from archivolt.domain.vault import VaultRole
from tests.builders import ACME, ALICE, BOB, a_conversation, a_message, a_vault, vault_ref
from tests.contract.conftest import MINISTACK, NewBucket, NewTable
from tests.contract.test_confirmation_store import LATER, LEASE, a_proposal
from tests.contract.test_file_history import send
from tests.contract.test_operation_store import an_operation
from tests.fakes.clock import START

if TYPE_CHECKING:
    from archivolt.ports.confirmations import Proposal
    from archivolt.ports.operations import Operation

WRITERS = 8
CALLS = 50


def race(action: Callable[[int], object], *, runners: int = WRITERS) -> list[BaseException | None]:
    """Start `action` in every runner at once and return what each raised."""
    together = Barrier(runners)

    def run(number: int) -> BaseException | None:
        together.wait()
        try:
            action(number)
        except (ConflictError, NotFoundError) as error:
            return error
        return None

    with ThreadPoolExecutor(runners) as pool:
        return list(pool.map(run, range(runners)))


@pytest.mark.dynamodb_local
def test_of_several_turns_on_the_same_state_one_is_kept(new_local_table: NewTable) -> None:
    conversations = DynamoConversations(new_local_table("ConversationsTable"))
    conversation = a_conversation()
    conversations.create(conversation)

    outcomes = race(
        lambda number: conversations.append(
            conversation, [a_message(1, f"{number}"), a_message(2, f"{number}")]
        )
    )

    assert outcomes.count(None) == 1
    kept = conversations.get(ACME, conversation.id).messages
    assert [message.text for message in kept] == [f"{outcomes.index(None)}"] * 2


@pytest.mark.dynamodb_local
def test_wishes_to_stop_that_meet_the_next_turn_are_never_about_it(
    new_local_table: NewTable,
) -> None:
    conversations = DynamoConversations(new_local_table("ConversationsTable"))
    until = START + timedelta(minutes=5)
    first = replace(a_conversation(), busy_until=until)
    conversations.create(first)

    def act(number: int) -> object:
        if number:
            return conversations.ask_stop(first, START)
        answered = conversations.append(first, [a_message(1)])
        return conversations.append(answered, [a_message(2)], busy_until=until)

    outcomes = race(act)

    assert outcomes[0] is None
    now = conversations.head(ACME, first.id)
    assert (now.message_count, now.busy_until, now.stop_asked_at) == (2, until, None)


@pytest.mark.dynamodb_local
def test_of_several_vaults_of_one_name_one_is_made(new_local_table: NewTable) -> None:
    directory = DynamoVaultDirectory(new_local_table("ControlTable"))

    outcomes = race(
        lambda number: directory.create(a_vault("notes", vault_id=f"v{number}"), owner=ALICE)
    )

    assert outcomes.count(None) == 1
    [ref] = directory.all_refs()
    assert ref.id == f"v{outcomes.index(None)}"


@pytest.mark.dynamodb_local
def test_no_call_is_uncounted(new_local_table: NewTable) -> None:
    counter = DynamoRateCounter(new_local_table("LedgerTable"))
    counts: list[int] = []

    def count(_: int) -> None:
        counts.append(counter.add("a", ["calls"], window=60, expires_at=120)["calls"])

    race(count, runners=CALLS)

    assert sorted(counts) == list(range(1, CALLS + 1))


@pytest.mark.dynamodb_local
def test_a_member_is_added_and_removed_on_both_sides_or_neither(new_local_table: NewTable) -> None:
    directory = DynamoVaultDirectory(new_local_table("ControlTable"))
    vault = a_vault("notes")
    directory.create(vault, owner=ALICE)

    def change(number: int) -> None:
        if number % 2:
            directory.set_member(vault.ref, BOB, VaultRole.READER)
        else:
            directory.remove_member(vault.ref, BOB)

    race(change)

    is_member = BOB in dict(directory.members(vault.ref))
    assert is_member == bool(directory.accessible(ACME, BOB))


@pytest.mark.dynamodb_local
@pytest.mark.parametrize("role", [None, VaultRole.READER])
def test_owners_who_push_each_other_out_leave_one(
    new_local_table: NewTable, role: VaultRole | None
) -> None:
    directory = DynamoVaultDirectory(new_local_table("ControlTable"))
    vault = a_vault("notes")
    directory.create(vault, owner=ALICE)
    directory.set_member(vault.ref, BOB, VaultRole.OWNER)

    def push_out(number: int) -> None:
        other = (ALICE, BOB)[number % 2]
        if role is None:
            directory.remove_member(vault.ref, other)
        else:
            directory.set_member(vault.ref, other, role)

    race(push_out)

    assert [held for _, held in directory.members(vault.ref)].count(VaultRole.OWNER) == 1


@pytest.mark.dynamodb_local
def test_a_deletion_among_turns_leaves_nothing_behind(new_local_table: NewTable) -> None:
    table = new_local_table("ConversationsTable")
    conversations = DynamoConversations(table)
    conversation = a_conversation()
    conversations.create(conversation)

    def append_or_delete(number: int) -> None:
        if number == 0:
            conversations.delete(conversation)
        else:
            conversations.append(conversations.get(ACME, conversation.id), [a_message(1)])

    race(append_or_delete)

    assert list(table.items("CONVERSATION#acme#c1")) == []


@pytest.mark.dynamodb_local
def test_of_many_applies_at_once_one_takes_the_proposal(new_local_table: NewTable) -> None:
    proposals = DynamoConfirmations(new_local_table("ConfirmationsTable"))
    proposals.add(a_proposal())
    taken: list[Proposal | None] = []

    def take(number: int) -> None:
        # Each at a moment of its own, as on many machines.
        now = START + timedelta(microseconds=number)
        taken.append(proposals.take(a_proposal(), now=now, lease_until=LEASE))

    race(take, runners=CALLS)

    [winner] = [lease for lease in taken if lease is not None]
    assert len(taken) == CALLS
    assert winner.attempts == 1
    assert proposals.get(ACME, "p1") == winner


@pytest.mark.dynamodb_local
def test_when_a_lease_has_ended_one_of_many_goes_on_and_the_first_changes_nothing(
    new_local_table: NewTable,
) -> None:
    proposals = DynamoConfirmations(new_local_table("ConfirmationsTable"))
    proposals.add(a_proposal())
    lost = proposals.take(a_proposal(), now=START, lease_until=LEASE)
    assert lost is not None
    taken: list[Proposal | None] = []
    finished: list[bool] = []

    def take_or_finish(number: int) -> None:
        if number == 0:
            finished.append(proposals.finish(lost, outcome="the first's"))
        else:
            taken.append(proposals.take(lost, now=LEASE, lease_until=LATER))

    race(take_or_finish, runners=CALLS)

    winners = [lease for lease in taken if lease is not None]
    assert len(winners) + finished.count(True) == 1, "whichever of them was faster"
    for winner in winners:
        assert proposals.finish(winner, outcome="the second's")
        assert not proposals.finish(lost, outcome="the first's")
    kept = proposals.get(ACME, "p1")
    assert kept is not None
    assert kept.outcome == ("the second's" if winners else "the first's")


@pytest.mark.dynamodb_local
def test_a_proposal_is_either_declined_or_taken(new_local_table: NewTable) -> None:
    proposals = DynamoConfirmations(new_local_table("ConfirmationsTable"))
    proposals.add(a_proposal())
    done: list[bool] = []

    def take_or_decline(number: int) -> None:
        if number % 2:
            done.append(proposals.decline(ACME, "p1"))
        else:
            lease = proposals.take(a_proposal(), now=START, lease_until=LEASE)
            done.append(lease is not None)

    race(take_or_decline)

    assert done.count(True) == 1


@pytest.mark.dynamodb_local
def test_of_those_who_start_one_operation_one_is_noted_with_its_own_files(
    new_local_table: NewTable, new_bucket: NewBucket
) -> None:
    operations = DynamoOperations(new_local_table("ControlTable"), *new_bucket(MINISTACK))
    noted: list[Operation] = []

    def start(number: int) -> None:
        mine = replace(an_operation(), total=number)
        noted.append(operations.start(mine, [("a.md", f"{number}")]))

    race(start)

    [kept] = operations.operations(an_operation().vault)
    assert noted == [kept] * WRITERS
    assert list(operations.manifest(kept)) == [("a.md", f"{kept.total}")]


A, B = VaultPath("a.md"), VaultPath("b.md")
VAULT = vault_ref()


def test_of_several_copies_to_one_place_one_is_made(ministack_files: S3Files) -> None:
    sources = [VaultPath(f"{number}.md") for number in range(WRITERS)]
    etags = [ministack_files.create(VAULT, path, path.encode()).etag for path in sources]

    outcomes = race(
        lambda number: ministack_files.copy(VAULT, sources[number], A, expected=etags[number])
    )

    assert outcomes.count(None) == 1
    assert ministack_files.read(VAULT, A).data == sources[outcomes.index(None)].encode()
    assert len(ministack_files.versions(VAULT, A)) == 1


def test_a_copy_and_a_new_file_do_not_overwrite_each_other(ministack_files: S3Files) -> None:
    etag = ministack_files.create(VAULT, A, b"copied").etag

    def copy_or_create(number: int) -> None:
        if number % 2:
            ministack_files.copy(VAULT, A, B, expected=etag)
        else:
            ministack_files.create(VAULT, B, b"written")

    assert race(copy_or_create).count(None) == 1
    assert len(ministack_files.versions(VAULT, B)) == 1


def test_an_edit_and_a_deletion_of_one_version_exclude_each_other(
    ministack_files: S3Files,
) -> None:
    first = ministack_files.create(VAULT, A, b"first")

    def edit_or_delete(number: int) -> None:
        if number % 2:
            ministack_files.replace(VAULT, A, f"{number}".encode(), expected=first.etag)
        else:
            ministack_files.delete(VAULT, A, expected=first.etag)

    outcomes = race(edit_or_delete)

    assert outcomes.count(None) == 1
    newest, oldest = ministack_files.versions(VAULT, A)
    assert oldest.version == first.version
    assert newest.deletion == (outcomes.index(None) % 2 == 0)


def test_no_edit_is_lost_among_many_that_try_again(ministack_files: S3Files) -> None:
    ministack_files.create(VAULT, A, b"")

    def append(number: int) -> None:
        while True:
            seen = ministack_files.read(VAULT, A)
            try:
                ministack_files.replace(
                    VAULT, A, seen.data + f"{number},".encode(), expected=seen.info.etag
                )
            except ConflictError:
                continue
            return

    race(append)

    written = ministack_files.read(VAULT, A).data.decode().split(",")[:-1]
    assert sorted(written) == sorted(f"{number}" for number in range(WRITERS))
    assert len(ministack_files.versions(VAULT, A)) == WRITERS + 1


def test_of_several_uploads_to_one_place_one_arrives(ministack_files: S3Files) -> None:
    forms = [
        ministack_files.upload_form(VAULT, A, size=1, content_type="text/plain", seconds=60)
        for _ in range(WRITERS)
    ]
    statuses: list[int] = []

    race(lambda number: statuses.append(send(forms[number], f"{number}".encode())))

    assert sorted(statuses) == [200] + [412] * (WRITERS - 1)
    assert len(ministack_files.versions(VAULT, A)) == 1
