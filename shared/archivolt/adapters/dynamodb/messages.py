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
    text = _as_json(_record_of(message))
    return [text[start : start + _PART_CHARS] for start in range(0, len(text), _PART_CHARS)]


def from_parts(parts: Sequence[str]) -> Message:
    """Return the message that `to_parts` took apart."""
    return _message_of(json.loads("".join(parts)))


def to_block(messages: Sequence[Message]) -> str:
    """Return several messages as one text, each without what is empty in it."""
    records = map(_record_of, messages)
    return _as_json([{name: value for name, value in each.items() if value} for each in records])


def from_block(text: str) -> list[Message]:
    """Return the messages that `to_block` put together."""
    return [_message_of(record) for record in json.loads(text)]


def _record_of(message: Message) -> dict[str, Any]:
    return asdict(message) | {"written_at": message.written_at.isoformat()}


def _as_json(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def _message_of(record: dict[str, Any]) -> Message:
    calls, citations = record.get("tool_calls"), record.get("citations")
    return Message(
        number=record["number"],
        author=Author(record["author"]),
        text=record.get("text", ""),
        written_at=datetime.fromisoformat(record["written_at"]),
        tool_calls=tuple(ToolCallRecord(**call) for call in calls) if calls else (),
        citations=tuple(Citation(**citation) for citation in citations) if citations else (),
        input_tokens=record.get("input_tokens", 0),
        output_tokens=record.get("output_tokens", 0),
        private=record.get("private", False),
        stopped=record.get("stopped", False),
    )
