"""Races, on the real store only: one winner, and no call uncounted."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from threading import Barrier

import pytest

from archivolt.adapters.dynamodb.conversations import DynamoConversations
from archivolt.adapters.dynamodb.rates import DynamoRateCounter
from archivolt.adapters.dynamodb.vaults import DynamoVaultDirectory
from archivolt.domain.errors import ConflictError, NotFoundError
from archivolt.domain.vault import VaultRole
from tests.builders import ACME, ALICE, BOB, a_conversation, a_message, a_vault
from tests.contract.conftest import NewTable

pytestmark = pytest.mark.dynamodb_local

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


def test_of_several_vaults_of_one_name_one_is_made(new_local_table: NewTable) -> None:
    directory = DynamoVaultDirectory(new_local_table("ControlTable"))

    outcomes = race(
        lambda number: directory.create(a_vault("notes", vault_id=f"v{number}"), owner=ALICE)
    )

    assert outcomes.count(None) == 1
    [ref] = directory.all_refs()
    assert ref.id == f"v{outcomes.index(None)}"


def test_no_call_is_uncounted(new_local_table: NewTable) -> None:
    counter = DynamoRateCounter(new_local_table("LedgerTable"))
    counts: list[int] = []

    def count(_: int) -> None:
        counts.append(counter.increment("a", window_start=60, expires_at=120))

    race(count, runners=CALLS)

    assert sorted(counts) == list(range(1, CALLS + 1))


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
