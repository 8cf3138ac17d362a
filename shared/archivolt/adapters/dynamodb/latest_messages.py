"""The end of a conversation, read without its beginning: what that takes does not grow with it.

Messages are read from the last one backwards, until a model would be shown no more of them.
"""

from collections.abc import Sequence
from itertools import groupby
from typing import Final

from boto3.dynamodb.conditions import Key as KeyCondition

from archivolt.adapters.dynamodb.messages import from_parts
from archivolt.adapters.dynamodb.table import DynamoTable, StoredItem
from archivolt.domain.conversation import Message
from archivolt.domain.limits import MAX_HISTORY_CHARS, MAX_HISTORY_MESSAGES

_PREFIX: Final = "MESSAGE#"
_FIRST_PART: Final = "#000"


def latest_items(table: DynamoTable, pk: str, head: str) -> list[StoredItem]:
    """Return the last items of a conversation in their order, without its head."""
    condition = KeyCondition("pk").eq(pk) & KeyCondition("sk").gt(head)
    found: list[StoredItem] = []
    after = None
    while True:
        page = table.page(condition, limit=MAX_HISTORY_MESSAGES, after=after, descending=True)
        found += page.items
        after = page.last_key
        if after is None:
            return found[::-1]
        messages = messages_of(found[::-1])
        enough = sum(len(message.text) for message in messages) >= MAX_HISTORY_CHARS
        if enough or len(messages) >= MAX_HISTORY_MESSAGES:
            return found[::-1]


def messages_of(items: Sequence[StoredItem]) -> tuple[Message, ...]:
    """Return the messages whose parts are all among the items, in their order."""
    parts = (item for item in items if item["sk"].startswith(_PREFIX))
    numbered = groupby(parts, key=lambda item: item["sk"].rpartition("#")[0])
    whole = (list(parts) for _, parts in numbered)
    return tuple(
        from_parts([part["json"] for part in parts])
        for parts in whole
        if parts[0]["sk"].endswith(_FIRST_PART)
    )
