"""Earlier messages of a conversation, twenty to an item, so that a long one is read in a few.

    CONVERSATION#{tenant}#{id}    EARLIER#{countdown}    twenty messages, the latest such item first

Messages are moved there with the answer after which twenty are there. Long ones stay where they
are: of those, a few items are all that a model is shown.
"""

from collections.abc import Iterable, Sequence
from itertools import takewhile
from typing import Final

from archivolt.adapters.dynamodb.messages import to_block, to_parts
from archivolt.adapters.dynamodb.table import StoredItem
from archivolt.adapters.dynamodb.writes import ABSENT, Delete, Key, Put
from archivolt.domain.conversation import Author, Message
from archivolt.domain.limits import MAX_HISTORY_MESSAGES

BLOCK_MESSAGES: Final = 20
BLOCKS_SHOWN: Final = -(-MAX_HISTORY_MESSAGES // BLOCK_MESSAGES)
PREFIX: Final = "EARLIER#"
"""Between the head of a conversation and its single messages."""

# Fifty messages of this length on average are as long as what a model is shown.
_MAX_CHARS: Final = 2_000 * BLOCK_MESSAGES
# With what they cite and called: ten blocks are one page of a megabyte.
_MAX_BYTES: Final = 100_000
# Of the numbers of messages: what is counted down sorts the latest first.
_END: Final = 99_999_999


def is_block(item: StoredItem) -> bool:
    """Tell whether an item has several messages."""
    return item["sk"].startswith(PREFIX)


def message_writes(pk: str, messages: Iterable[Message]) -> list[Put]:
    """Return what writes messages one by one."""
    return [
        Put(item={**_key(pk, message.number, part)._asdict(), "json": text}, condition=ABSENT)
        for message in messages
        for part, text in enumerate(to_parts(message))
    ]


def put_together(
    pk: str, before: Sequence[Message], written: Sequence[Message], puts: Sequence[Put]
) -> list[Put | Delete]:
    """Return the writes of an answer, and with it of blocks in the place of single messages.

    Args:
        pk: The conversation's.
        before: The last messages that are stored already, as many as are known.
        written: Those that are written now.
        puts: What writes them one by one, and anything else.

    """
    known = {message.number: message for message in (*before, *written)}
    single = {(put.item["pk"], put.item["sk"]): put for put in puts}
    moves: list[Put | Delete] = []
    for end in range(_first_end(before, written), written[-1].number + 1, BLOCK_MESSAGES):
        numbers = range(end - BLOCK_MESSAGES + 1, end + 1)
        if not all(number in known for number in numbers):
            continue
        text = to_block([known[number] for number in numbers])
        said = sum(len(known[number].text) for number in numbers)
        if said > _MAX_CHARS or len(text.encode()) > _MAX_BYTES:
            continue
        moves.append(Put(item={"pk": pk, "sk": f"{PREFIX}{_END - end:08d}", "json": text}))
        keys = [_key(pk, number) for number in numbers]
        moves += [Delete(key=key) for key in keys if single.pop(key, None) is None]
    return [*single.values(), *moves]


def _first_end(before: Sequence[Message], written: Sequence[Message]) -> int:
    """Return where twenty messages end first that no answer before has put together."""
    unanswered = list(takewhile(lambda message: message.author is Author.USER, reversed(before)))
    first = written[0].number - len(unanswered)
    return -(-first // BLOCK_MESSAGES) * BLOCK_MESSAGES


def _key(pk: str, number: int, part: int = 0) -> Key:
    return Key(pk, f"MESSAGE#{number:08d}#{part:03d}")
