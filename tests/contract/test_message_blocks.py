"""Earlier messages of a conversation in blocks: nothing is lost or double, and little is read."""

import threading
from collections.abc import Sequence
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest

from archivolt.adapters.dynamodb.conversations import DynamoConversations
from archivolt.adapters.dynamodb.message_blocks import BLOCK_MESSAGES, BLOCKS_SHOWN
from archivolt.adapters.dynamodb.table import DynamoTable, Page
from archivolt.domain.conversation import (
    Author,
    Citation,
    Conversation,
    Message,
    ToolCallRecord,
    WaitingTurn,
)
from archivolt.domain.limits import MAX_HISTORY_MESSAGES
from tests.builders import ACME, a_conversation, a_message
from tests.contract.conftest import NewTable
from tests.contract.test_conversation_store import a_full_message
from tests.fakes.clock import START
from tests.fakes.conversations import InMemoryConversations

pytestmark = pytest.mark.dynamodb_local

UNTIL = START + timedelta(minutes=5)
PK = f"CONVERSATION#{ACME}#c1"


class WatchedTable(DynamoTable):
    """A table that counts what is read of it, and lets something happen between two reads."""

    def __init__(self, table: DynamoTable) -> None:
        self.__dict__.update(table.__dict__)
        self.pages: list[int] = []
        self.between: Any = None
        self.single_first = False
        self._was_read = threading.Event()

    def page(self, *arguments: Any, **named: Any) -> Page:  # noqa: ANN401  as the table
        between, first = self.between, named.get("descending", False) is self.single_first
        if between and not first:
            assert self._was_read.wait(30)
        page = super().page(*arguments, **named)
        self.pages.append(len(page.items))
        if between and first:
            self.between = None
            between()
            self._was_read.set()
        return page


class Both:
    """A conversation that is kept in a table and in memory alike."""

    def __init__(self, new_table: NewTable) -> None:
        self.table = WatchedTable(new_table("ConversationsTable"))
        self.kept = DynamoConversations(self.table)
        self.expected = InMemoryConversations()
        self.now: Conversation = a_conversation()
        self.kept.create(self.now)
        self.expected.create(self.now)

    def turn(self, text: str = "Hello", *, fails: bool = False) -> None:
        """Take a turn as the chat does: it reads the end, stores the question, then the answer."""
        self.now = self.kept.latest(ACME, self.now.id)
        self.say([a_message(self.now.message_count + 1, text)], busy=True)
        answer = a_message(self.now.message_count + 1, text, author=Author.ASSISTANT)
        self.say([] if fails else [answer], busy=False)

    def append(self, count: int, text: str = "Hello", *, busy: bool = False) -> None:
        """Append many messages at once, of the person and of the model in turns."""
        authors = (Author.ASSISTANT, Author.USER)
        first = self.now.message_count + 1
        numbers = range(first, first + count)
        self.say([a_message(n, text, author=authors[n % 2]) for n in numbers], busy=busy)

    def say(self, messages: Sequence[Message], *, busy: bool) -> None:
        """Append messages."""
        until = UNTIL if busy else None
        self.expected.append(self.now, list(messages), busy_until=until)
        self.now = self.kept.append(self.now, list(messages), busy_until=until)

    def check(self) -> None:
        """Both have the same, whole and at the end."""
        assert self.kept.get(ACME, self.now.id) == self.expected.get(ACME, self.now.id)
        assert self.kept.latest(ACME, self.now.id) == self.expected.latest(ACME, self.now.id)

    def items(self) -> tuple[int, int]:
        """How many blocks there are, and how many single messages."""
        kinds = [item["sk"].partition("#")[0] for item in self.table.items(PK)]
        return kinds.count("EARLIER"), kinds.count("MESSAGE")


@pytest.fixture
def both(new_local_table: NewTable) -> Both:
    return Both(new_local_table)


def test_twenty_messages_come_together_with_the_answer_after_them(both: Both) -> None:
    both.append(17)
    both.turn()
    assert both.items() == (0, 19)
    for _ in range(2):
        # Nobody answers the twentieth message, nor the one after it.
        both.turn(fails=True)
    both.check()
    assert both.items() == (0, 21)

    both.turn()

    both.check()
    assert both.items() == (1, 3)


def test_a_message_is_in_a_block_as_it_was(both: Both) -> None:
    empty, full = a_message(1, ""), replace(a_full_message(), number=2)
    both.say([empty, full], busy=True)
    both.append(BLOCK_MESSAGES - 2)

    both.check()

    assert both.items() == (1, 0)


def test_long_messages_stay_single(both: Both) -> None:
    both.append(30, "x" * 2_500)
    both.append(30)

    both.check()

    # Ten long ones and ten short ones fit together.
    assert both.items() == (2, 20)


@pytest.mark.parametrize("counts", [(98, 98), (19, 98, 3), (7, 40, 1)])
def test_many_messages_at_once_come_together(both: Both, counts: tuple[int, ...]) -> None:
    for count in counts:
        both.append(count)
        both.check()

    assert both.items() == divmod(sum(counts), BLOCK_MESSAGES)


def test_what_was_never_put_together_is_read_as_before(both: Both) -> None:
    for _ in range(3):
        # A claim leaves messages single; earlier versions of the product left all of them so.
        both.append(80, busy=True)

    both.check()

    assert both.items() == (0, 240)
    both.table.pages.clear()
    both.kept.latest(ACME, both.now.id)
    assert sorted(both.table.pages) == [1, MAX_HISTORY_MESSAGES]
    both.turn()
    both.check()


def test_a_deletion_takes_the_blocks_along(both: Both) -> None:
    both.append(50)

    both.kept.delete(both.now)

    assert list(both.table.items(PK)) == []


@pytest.mark.parametrize("past", [119, 1_019])
def test_the_end_of_a_long_conversation_is_two_small_reads(both: Both, past: int) -> None:
    while both.now.message_count < past:
        both.append(min(90, past - both.now.message_count))
        both.now = replace(both.now, messages=both.now.messages[-BLOCK_MESSAGES:])
    both.table.pages.clear()

    latest = both.kept.latest(ACME, both.now.id)

    assert len(latest.messages) == min(past, MAX_HISTORY_MESSAGES)
    assert len(both.table.pages) == 2
    assert sum(both.table.pages) <= 1 + BLOCKS_SHOWN + BLOCK_MESSAGES


@pytest.mark.parametrize("single_first", [True, False])
def test_messages_that_come_together_between_two_reads_are_read(
    both: Both, *, single_first: bool
) -> None:
    both.append(BLOCK_MESSAGES - 2)
    reader = WatchedTable(both.table)
    reader.single_first, reader.between = single_first, both.turn

    latest = DynamoConversations(reader).latest(ACME, both.now.id)

    assert latest == both.expected.latest(ACME, both.now.id)


def test_answers_that_cite_and_call_much_come_together_too(both: Both) -> None:
    call = ToolCallRecord(
        tool_id="call-1",
        tool_name="read_file",
        arguments={"vault": "notes", "path": "meetings/2026/the key of the house.md"},
        status="success",
        size=1_234,
    )
    path = "meetings/2026/the key of the house.md"
    cited = Citation(uri=f"vault://notes/{path}", vault="notes", path=path, heading="Under the mat")
    for _ in range(3):
        first = both.now.message_count + 1
        asked = [a_message(number) for number in range(first, first + 80)]
        for at in range(1, 80, 2):
            asked[at] = replace(
                asked[at], author=Author.ASSISTANT, tool_calls=(call,) * 6, citations=(cited,) * 12
            )
        both.say(asked, busy=False)
    both.table.pages.clear()

    latest = both.kept.latest(ACME, both.now.id)

    assert sorted(both.table.pages) == [0, 1 + BLOCKS_SHOWN]
    assert both.items() == (12, 0)
    assert latest == both.expected.latest(ACME, both.now.id)


def test_a_large_turn_that_waits_behind_blocks_is_read_whole(both: Both) -> None:
    both.append(BLOCK_MESSAGES)
    waiting = WaitingTurn(sealed="s" * 2_400_000, expires_at=START + timedelta(hours=1))
    answers = [a_message(n, author=Author.ASSISTANT) for n in range(21, 21 + BLOCK_MESSAGES)]
    both.kept.append(both.now, answers, waiting=waiting)

    latest = both.kept.latest(ACME, both.now.id)

    assert both.items() == (2, 0)
    assert latest.waiting == waiting


def test_messages_that_come_together_between_two_pages_of_all_are_read(both: Both) -> None:
    # A page has at most a megabyte.
    both.append(BLOCK_MESSAGES, "x" * 60_000)
    both.append(BLOCK_MESSAGES - 2)
    reader = WatchedTable(both.table)
    reader.between = both.turn

    found = DynamoConversations(reader).get(ACME, both.now.id)

    assert both.items() == (1, BLOCK_MESSAGES)
    assert found == both.expected.get(ACME, both.now.id)
