"""What every `ConversationStore` promises."""

from dataclasses import replace
from datetime import timedelta

import pytest

from archivolt.adapters.dynamodb.conversations import DynamoConversations
from archivolt.adapters.dynamodb.writes import Delete, Key, Put
from archivolt.domain.conversation import (
    Author,
    Citation,
    ConversationId,
    Message,
    ToolCallRecord,
    WaitingTurn,
)
from archivolt.domain.errors import (
    ConflictError,
    InvalidRequestError,
    NotFoundError,
    TooLargeError,
)
from archivolt.domain.limits import MAX_HISTORY_CHARS, MAX_HISTORY_MESSAGES
from archivolt.ports.conversations import ConversationStore
from tests.builders import ACME, ALICE, BOB, GLOBEX, a_conversation, a_message
from tests.contract.conftest import FAKE, NewTable, on_tables
from tests.fakes.clock import START
from tests.fakes.conversations import InMemoryConversations


@pytest.fixture
def conversations(store: str, request: pytest.FixtureRequest) -> ConversationStore:
    if store == FAKE:
        return InMemoryConversations()
    return DynamoConversations(request.getfixturevalue("new_table")("ConversationsTable"))


def a_full_message() -> Message:
    return Message(
        number=2,
        author=Author.ASSISTANT,
        text="Voilà « l'été » 🌻\n",
        written_at=START + timedelta(seconds=3, microseconds=7),
        tool_calls=(
            ToolCallRecord(
                tool_id="t1",
                tool_name="read_file",
                arguments={"vault": "notes", "lines": [1, 2.5], "deep": {"a": None}},
                status="ok",
                size=12,
            ),
        ),
        citations=(
            Citation(uri="vault://notes/a.md", vault="notes", path="a.md", heading="H", page=3),
            Citation(uri="vault://notes/b.md", vault="notes", path="b.md", excerpt="…"),
        ),
        input_tokens=10,
        output_tokens=20,
        stopped=True,
    )


def test_a_new_conversation_is_there_and_empty(conversations: ConversationStore) -> None:
    conversations.create(a_conversation(title="Été"))

    assert conversations.get(ACME, ConversationId("c1")) == a_conversation(title="Été")


def test_a_taken_id_is_a_conflict(conversations: ConversationStore) -> None:
    conversations.create(a_conversation(title="First"))

    with pytest.raises(ConflictError):
        conversations.create(a_conversation(title="Second"))

    assert conversations.get(ACME, ConversationId("c1")).title == "First"


@pytest.mark.parametrize("odd", ["absent", "", "c1#", "\ud800", "c" * 5_000])
def test_an_unknown_conversation_is_not_found(conversations: ConversationStore, odd: str) -> None:
    conversations.create(a_conversation("c1"))

    with pytest.raises(NotFoundError) as refused:
        conversations.get(ACME, ConversationId(odd))

    assert refused.value.code == "conversation_not_found"


def test_another_tenants_conversation_is_not_found(conversations: ConversationStore) -> None:
    conversations.create(a_conversation("c1"))

    with pytest.raises(NotFoundError):
        conversations.get(GLOBEX, ConversationId("c1"))


def test_messages_come_back_whole_and_in_order(conversations: ConversationStore) -> None:
    conversation = a_conversation()
    conversations.create(conversation)
    messages = [a_message(1), a_full_message()]

    returned = conversations.append(conversation, messages, title="Summer")

    assert returned.messages == tuple(messages)
    assert (returned.message_count, returned.title) == (2, "Summer")
    assert returned.updated_at == messages[-1].written_at
    assert conversations.get(ACME, conversation.id) == returned


def test_many_messages_stay_in_order(conversations: ConversationStore) -> None:
    conversation = a_conversation()
    conversations.create(conversation)
    for first in range(1, 24, 2):
        conversation = conversations.append(conversation, [a_message(first), a_message(first + 1)])

    kept = conversations.get(ACME, conversation.id)

    assert [message.number for message in kept.messages] == list(range(1, 25))


@pytest.mark.parametrize("character", ["a", "é", "漢", "🌻"])
def test_the_longest_message_is_kept(conversations: ConversationStore, character: str) -> None:
    conversation = a_conversation()
    conversations.create(conversation)

    conversations.append(conversation, [a_message(1, character * 100_000)])

    assert conversations.get(ACME, conversation.id).messages[0].text == character * 100_000


def test_a_second_turn_on_the_same_state_is_a_conflict(conversations: ConversationStore) -> None:
    read_by_both = a_conversation()
    conversations.create(read_by_both)
    conversations.append(read_by_both, [a_message(1, "first")])

    with pytest.raises(ConflictError) as refused:
        conversations.append(read_by_both, [a_message(1, "second")])

    assert refused.value.code == "conflict"
    [kept] = conversations.get(ACME, read_by_both.id).messages
    assert kept.text == "first"


def test_a_turn_on_a_deleted_conversation_is_not_found(conversations: ConversationStore) -> None:
    conversation = a_conversation()
    conversations.create(conversation)
    conversations.delete(conversation)

    with pytest.raises(NotFoundError):
        conversations.append(conversation, [a_message(1)])
    with pytest.raises(NotFoundError):
        conversations.get(ACME, conversation.id)


def test_a_listed_conversation_can_be_appended_to(conversations: ConversationStore) -> None:
    conversation = a_conversation()
    conversations.create(conversation)
    conversations.append(conversation, [a_message(1)])
    [listed], _ = conversations.of_user(ACME, ALICE, limit=10)

    appended = conversations.append(listed, [a_message(2)])

    assert [message.number for message in appended.messages] == [2]
    kept = conversations.get(ACME, conversation.id)
    assert [message.number for message in kept.messages] == [1, 2]


def test_a_conversation_can_begin_with_a_message(conversations: ConversationStore) -> None:
    until = START + timedelta(minutes=5)
    begun = replace(a_conversation(), messages=(a_message(1),), message_count=1, busy_until=until)

    conversations.create(begun)

    assert conversations.get(ACME, begun.id) == begun
    answered = conversations.append(begun, [a_message(2)])
    assert conversations.get(ACME, begun.id) == answered
    with pytest.raises(ConflictError):
        conversations.create(begun)
    assert conversations.get(ACME, begun.id) == answered


@pytest.mark.parametrize(
    ("count", "size", "least", "most"),
    [
        (0, 1, 0, 0),
        (3, 1, 3, 3),
        (230, 1, MAX_HISTORY_MESSAGES, MAX_HISTORY_MESSAGES),
        (30, MAX_HISTORY_CHARS // 2, 2, 29),
    ],
)
def test_the_latest_messages_are_as_many_as_a_model_is_shown(
    conversations: ConversationStore, count: int, size: int, least: int, most: int
) -> None:
    messages = tuple(a_message(number, "x" * size) for number in range(1, count + 1))
    begun = replace(a_conversation(), messages=messages[:9], message_count=len(messages[:9]))
    conversations.create(begun)
    for first in range(9, count, 50):
        begun = conversations.append(begun, list(messages[first : first + 50]))

    latest = conversations.latest(ACME, begun.id)

    assert latest.messages == messages[count - len(latest.messages) :]
    assert least <= len(latest.messages) <= most
    assert latest == replace(conversations.get(ACME, begun.id), messages=latest.messages)


@pytest.mark.parametrize("odd", ["absent", "", "\ud800"])
def test_the_latest_messages_of_nothing_are_not_found(
    conversations: ConversationStore, odd: str
) -> None:
    with pytest.raises(NotFoundError):
        conversations.latest(ACME, ConversationId(odd))


def test_the_latest_messages_come_with_what_waits(conversations: ConversationStore) -> None:
    conversations.create(a_conversation())
    waiting = a_waiting_turn("s" * 1_500_000)
    answered = conversations.append(a_conversation(), [a_message()], waiting=waiting)

    assert conversations.latest(ACME, ConversationId("c1")) == answered


def test_a_conversation_is_private_from_the_first_message_on_that_is(
    conversations: ConversationStore,
) -> None:
    conversations.create(a_conversation())
    open_one = conversations.append(a_conversation(), [a_message(1)])
    private = conversations.append(open_one, [replace(a_message(2), private=True)])
    conversations.append(private, [a_message(3)])

    assert (open_one.private, private.private) == (False, True)
    assert conversations.latest(ACME, ConversationId("c1")).private
    assert conversations.get(ACME, ConversationId("c1")).private


@on_tables
def test_a_conversation_of_an_earlier_version_counts_as_private(new_table: NewTable) -> None:
    table = new_table("ConversationsTable")
    store = DynamoConversations(table)
    store.create(replace(a_conversation(), messages=(a_message(1),), message_count=1))
    key = Key(f"CONVERSATION#{ACME}#c1", "CONVERSATION")
    item = table.get(key)
    assert item is not None
    del item["private"]
    table.write(Put(item=item))

    assert store.latest(ACME, ConversationId("c1")).private


def test_a_turn_holds_the_conversation_and_gives_it_back(conversations: ConversationStore) -> None:
    read_by_both = a_conversation()
    conversations.create(read_by_both)
    until = START + timedelta(minutes=5)
    held = conversations.append(read_by_both, [a_message(1)], busy_until=until)
    assert conversations.get(ACME, read_by_both.id).busy_until == held.busy_until == until

    released = conversations.append(held, [])

    assert released == replace(held, busy_until=None)
    assert conversations.get(ACME, read_by_both.id) == released
    with pytest.raises(ConflictError):
        conversations.append(held, [a_message(2)])


def test_a_turn_is_asked_to_stop_and_the_next_one_knows_nothing_of_it(
    conversations: ConversationStore,
) -> None:
    begun = a_conversation()
    conversations.create(begun)
    until, asked_at = START + timedelta(minutes=5), START + timedelta(seconds=3)
    held = conversations.append(begun, [a_message(1)], busy_until=until)
    head = conversations.head(ACME, begun.id)
    assert head == replace(held, messages=())

    conversations.ask_stop(head, asked_at)

    assert conversations.head(ACME, begun.id).stop_asked_at == asked_at
    assert conversations.latest(ACME, begun.id).stop_asked_at == asked_at
    answered = conversations.append(held, [a_message(2, author=Author.ASSISTANT)])
    assert answered.stop_asked_at is None
    assert conversations.get(ACME, begun.id) == answered
    # A late wish: the next turn has begun, at the very moment that the last one had.
    conversations.append(answered, [a_message(3)], busy_until=until)
    with pytest.raises(ConflictError):
        conversations.ask_stop(head, asked_at)
    assert conversations.head(ACME, begun.id).stop_asked_at is None


def test_a_wish_to_stop_makes_no_conversation(conversations: ConversationStore) -> None:
    with pytest.raises(NotFoundError):
        conversations.ask_stop(a_conversation(), START)
    for odd in ("missing", "", "x" * 2_000):
        with pytest.raises(NotFoundError):
            conversations.head(ACME, ConversationId(odd))
    assert conversations.of_user(ACME, ALICE, limit=10) == ([], None)


def test_a_new_title_changes_nothing_else(conversations: ConversationStore) -> None:
    conversation = a_conversation()
    conversations.create(conversation)
    before = conversations.append(conversation, [a_message(1)])

    renamed = conversations.rename(before, "Renamed")

    assert renamed == replace(before, title="Renamed")
    assert conversations.get(ACME, conversation.id) == renamed


def test_what_is_absent_cannot_be_renamed(conversations: ConversationStore) -> None:
    with pytest.raises(NotFoundError):
        conversations.rename(a_conversation(), "Renamed")
    assert conversations.of_user(ACME, ALICE, limit=10) == ([], None)


def test_a_users_conversations_are_listed_last_used_first(
    conversations: ConversationStore,
) -> None:
    for number, name in enumerate(("oldest", "middle", "newest")):
        moment = START + timedelta(minutes=number)
        conversations.create(replace(a_conversation(name), updated_at=moment, created_at=moment))
    conversations.create(a_conversation("theirs", owner=BOB))
    conversations.create(a_conversation("elsewhere", tenant=GLOBEX))
    used = replace(a_message(1), written_at=START + timedelta(hours=1))
    conversations.append(conversations.get(ACME, ConversationId("oldest")), [used])

    listed, next_page = conversations.of_user(ACME, ALICE, limit=10)

    assert [conversation.id for conversation in listed] == ["oldest", "newest", "middle"]
    assert [conversation.messages for conversation in listed] == [(), (), ()]
    assert listed[0].message_count == 1
    assert next_page is None


@pytest.mark.parametrize("limit", [1, 2, 5, 10])
def test_pages_show_every_conversation_once(conversations: ConversationStore, limit: int) -> None:
    for number in range(5):
        # Two of them at the very same moment.
        moment = START + timedelta(minutes=number // 2)
        conversations.create(replace(a_conversation(f"c{number}"), updated_at=moment))
    seen: list[str] = []
    after: str | None = None

    for _ in range(5):
        page, after = conversations.of_user(ACME, ALICE, limit=limit, after=after)
        assert 0 < len(page) <= limit
        seen += [conversation.id for conversation in page]
        if after is None:
            break

    assert seen == ["c4", "c3", "c2", "c1", "c0"]


def test_a_page_key_of_others_shows_nothing_of_others(conversations: ConversationStore) -> None:
    for number in range(3):
        conversations.create(a_conversation(f"b{number}", owner=BOB))
    conversations.create(a_conversation("mine"))
    _, after = conversations.of_user(ACME, BOB, limit=1)

    page, _ = conversations.of_user(ACME, ALICE, limit=10, after=after)

    assert {conversation.owner for conversation in page} <= {ALICE}


def test_a_deleted_conversation_is_gone_everywhere(conversations: ConversationStore) -> None:
    conversation = a_conversation()
    conversations.create(conversation)
    for number in range(1, 61):
        conversation = conversations.append(conversation, [a_message(number)])
    conversations.create(a_conversation("other"))

    conversations.delete(conversation)
    conversations.delete(conversation)

    with pytest.raises(NotFoundError):
        conversations.get(ACME, conversation.id)
    listed, _ = conversations.of_user(ACME, ALICE, limit=10)
    assert [kept.id for kept in listed] == ["other"]
    conversations.create(a_conversation())
    assert conversations.get(ACME, conversation.id).messages == ()


@on_tables
def test_a_deletion_leaves_no_trace_in_the_table(new_table: NewTable) -> None:
    table = new_table("ConversationsTable")
    conversations = DynamoConversations(table)
    conversations.create(a_conversation())
    conversations.append(a_conversation(), [a_message(1, "canary " * 30_000)])
    assert list(table.items("CONVERSATION#acme#c1"))

    conversations.delete(a_conversation())

    assert list(table.items("CONVERSATION#acme#c1")) == []


@on_tables
def test_a_made_up_page_key_is_refused(new_table: NewTable) -> None:
    conversations = DynamoConversations(new_table("ConversationsTable"))

    with pytest.raises(InvalidRequestError) as refused:
        conversations.of_user(ACME, ALICE, limit=10, after="made up")

    assert refused.value.code == "unknown_page"


@on_tables
def test_a_turn_that_no_transaction_can_carry_is_refused(new_table: NewTable) -> None:
    conversations = DynamoConversations(new_table("ConversationsTable"))
    conversations.create(a_conversation())

    with pytest.raises(TooLargeError) as refused:
        conversations.append(a_conversation(), [a_message(1, "x" * 4_000_000)])

    assert refused.value.code == "turn_too_large"
    assert conversations.get(ACME, ConversationId("c1")).messages == ()


def a_waiting_turn(sealed: str = "c2VhbGVk") -> WaitingTurn:
    return WaitingTurn(sealed=sealed, expires_at=START + timedelta(days=1))


@pytest.mark.parametrize("size", [1, 350_001, 1_000_000])
def test_an_answer_leaves_what_waits_for_a_person(
    conversations: ConversationStore, size: int
) -> None:
    conversations.create(a_conversation())
    waiting = a_waiting_turn("s" * size)

    answered = conversations.append(a_conversation(), [a_message()], waiting=waiting)

    assert answered.waiting == waiting
    assert conversations.get(ACME, ConversationId("c1")) == answered
    assert conversations.of_user(ACME, ALICE, limit=5)[0][0].waiting is None


def test_a_question_and_a_failure_leave_what_waits_as_it_is(
    conversations: ConversationStore,
) -> None:
    conversations.create(a_conversation())
    waiting = a_waiting_turn()
    answered = conversations.append(a_conversation(), [a_message()], waiting=waiting)

    busy = START + timedelta(seconds=9)
    asked = conversations.append(answered, [a_message(number=2)], busy_until=busy)
    failed = conversations.append(asked, [])

    assert (asked.waiting, failed.waiting) == (waiting, waiting)
    assert conversations.get(ACME, ConversationId("c1")) == failed


@pytest.mark.parametrize("after", [None, a_waiting_turn("short")])
def test_the_next_answer_replaces_what_waited_whole(
    conversations: ConversationStore, after: WaitingTurn | None
) -> None:
    conversations.create(a_conversation())
    long = a_waiting_turn("s" * 1_000_000)
    answered = conversations.append(a_conversation(), [a_message()], waiting=long)

    conversations.append(answered, [a_message(number=2)], waiting=after)

    assert conversations.get(ACME, ConversationId("c1")).waiting == after


def test_what_waits_goes_with_the_conversation(conversations: ConversationStore) -> None:
    conversations.create(a_conversation())
    kept = conversations.append(a_conversation(), [a_message()], waiting=a_waiting_turn())

    conversations.delete(kept)
    conversations.create(a_conversation())

    assert conversations.get(ACME, ConversationId("c1")) == a_conversation()


def test_a_message_that_stands_on_documents_says_so_again(
    conversations: ConversationStore,
) -> None:
    conversations.create(a_conversation())
    message = replace(a_message(), private=True)

    conversations.append(a_conversation(), [message])

    kept = conversations.get(ACME, ConversationId("c1"))
    assert (kept.messages, kept.private) == ((message,), True)


@on_tables
def test_parts_left_of_a_turn_that_expired_do_not_hide_the_next(new_table: NewTable) -> None:
    table = new_table("ConversationsTable")
    store = DynamoConversations(table)
    store.create(a_conversation())
    long = a_waiting_turn("s" * 1_000_000)
    answered = store.append(a_conversation(), [a_message()], waiting=long)
    table.write(Delete(key=Key(f"CONVERSATION#{ACME}#c1", "WAITING#000")))
    seen = store.get(ACME, answered.id)
    later = replace(a_waiting_turn("new"), expires_at=START + timedelta(days=3))

    store.append(seen, [a_message(number=2)], waiting=later)

    assert seen.waiting is None
    assert store.get(ACME, answered.id).waiting == later
