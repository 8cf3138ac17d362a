"""A message of a conversation as text in JSON, cut into parts that fit into items.

An item holds at most 400 KB (Amazon DynamoDB developer guide, "Quotas") and a character takes at
most four bytes, so a part of 90,000 characters always fits.
"""

import json
from collections.abc import Sequence
from dataclasses import asdict
from datetime import datetime
from typing import Any, Final

from archivolt.domain.conversation import Author, Citation, Message, ToolCallRecord

_PART_CHARS: Final = 90_000


def to_parts(message: Message) -> list[str]:
    """Return the message as one or more pieces of text, in order."""
    record = asdict(message) | {"written_at": message.written_at.isoformat()}
    text = json.dumps(record, ensure_ascii=False, separators=(",", ":"))
    return [text[start : start + _PART_CHARS] for start in range(0, len(text), _PART_CHARS)]


def from_parts(parts: Sequence[str]) -> Message:
    """Return the message that `to_parts` took apart."""
    return _message_of(json.loads("".join(parts)))


def to_block(messages: Sequence[Message]) -> str:
    """Return several messages as one text."""
    return f"[{','.join(part for message in messages for part in to_parts(message))}]"


def from_block(text: str) -> list[Message]:
    """Return the messages that `to_block` put together."""
    return [_message_of(record) for record in json.loads(text)]


def _message_of(record: dict[str, Any]) -> Message:
    return Message(
        number=record["number"],
        author=Author(record["author"]),
        text=record["text"],
        written_at=datetime.fromisoformat(record["written_at"]),
        tool_calls=tuple(ToolCallRecord(**call) for call in record["tool_calls"]),
        citations=tuple(Citation(**citation) for citation in record["citations"]),
        input_tokens=record["input_tokens"],
        output_tokens=record["output_tokens"],
        private=record.get("private", False),
        stopped=record.get("stopped", False),
    )
