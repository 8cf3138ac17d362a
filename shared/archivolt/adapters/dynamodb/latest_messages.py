"""The end of a conversation, read without its beginning: what that takes does not grow with it.

Two reads go side by side: the head with the latest blocks of messages, and single messages from the
last one backwards. That is all, unless messages are long.
"""

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from itertools import groupby
from typing import Final

from boto3.dynamodb.conditions import Key as KeyCondition

from archivolt.adapters.dynamodb.conversation_heads import HEAD
from archivolt.adapters.dynamodb.message_blocks import (
    BLOCKS_SHOWN,
    PREFIX,
    is_block,
)
from archivolt.adapters.dynamodb.messages import from_block, from_parts
from archivolt.adapters.dynamodb.table import DynamoTable, StoredItem
from archivolt.adapters.dynamodb.waiting_turns import PREFIX as WAITING_PREFIX
from archivolt.domain.conversation import Message
from archivolt.domain.limits import MAX_HISTORY_CHARS, MAX_HISTORY_MESSAGES

_SINGLE: Final = "MESSAGE#"
_FIRST_PART: Final = "#000"
# Where nineteen are there, more cost nothing; those of before blocks, and long ones, are not few.
_SINGLE_AT_FIRST: Final = MAX_HISTORY_MESSAGES


def latest_items(table: DynamoTable, pk: str) -> list[StoredItem]:
    """Return the head of a conversation, if it is there, and its last items in their order."""
    key = KeyCondition("pk").eq(pk)
    with ThreadPoolExecutor(1) as beside:
        blocks = key & KeyCondition("sk").between(HEAD, f"{PREFIX}~")
        reading = beside.submit(table.page, blocks, limit=1 + BLOCKS_SHOWN)
        single = key & KeyCondition("sk").gte(_SINGLE)
        page = table.page(single, limit=_SINGLE_AT_FIRST, descending=True)
        head = reading.result().items
    found = page.items
    while page.last_key and not _is_all(head, found):
        page = table.page(single, limit=MAX_HISTORY_MESSAGES, after=page.last_key, descending=True)
        found += page.items
    return [*head, *reversed(found)]


def _is_all(head: Sequence[StoredItem], found: Sequence[StoredItem]) -> bool:
    """Tell whether the turn that waits, behind the messages, and all that is shown were found."""
    messages = latest_of(messages_of([*head, *reversed(found)]))
    return found[-1]["sk"] < WAITING_PREFIX and is_enough(messages)


def messages_of(items: Sequence[StoredItem]) -> tuple[Message, ...]:
    """Return the messages whose parts are all among the items, in their order."""
    parts = (item for item in items if item["sk"].startswith(_SINGLE))
    by_number = groupby(parts, key=lambda item: item["sk"].rpartition("#")[0])
    whole = (list(parts) for _, parts in by_number)
    single = [
        from_parts([part["json"] for part in parts])
        for parts in whole
        if parts[0]["sk"].endswith(_FIRST_PART)
    ]
    blocks = [message for item in items if is_block(item) for message in from_block(item["json"])]
    # One that is put with others between two reads is in both.
    numbered = {message.number: message for message in [*single, *blocks]}
    return tuple(numbered[number] for number in sorted(numbered))


def latest_of(messages: Sequence[Message]) -> tuple[Message, ...]:
    """Return the last messages without a gap, no more than a model is shown."""
    chars, latest = 0, list[Message]()
    for message in reversed(messages):
        gap = latest and message.number != latest[-1].number - 1
        if gap or chars >= MAX_HISTORY_CHARS or len(latest) >= MAX_HISTORY_MESSAGES:
            break
        latest.append(message)
        chars += len(message.text)
    return tuple(latest[::-1])


def is_enough(latest: Sequence[Message]) -> bool:
    """Tell whether a model would be shown no more."""
    if len(latest) >= MAX_HISTORY_MESSAGES or (latest and latest[0].number == 1):
        return True
    return sum(len(message.text) for message in latest) >= MAX_HISTORY_CHARS
