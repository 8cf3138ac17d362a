"""A turn that waits for a person, beside the messages of its conversation (decision 28).

It is cut into parts that fit into items: one of them holds at most 400 KB (Amazon DynamoDB
developer guide, "Quotas"), and what is sealed is ASCII.
"""

from collections.abc import Sequence
from datetime import datetime
from typing import Final

from archivolt.adapters.dynamodb.table import StoredItem
from archivolt.adapters.dynamodb.writes import Delete, Key, Put
from archivolt.domain.conversation import WaitingTurn

PREFIX: Final = "WAITING#"
"""Behind the messages of a conversation."""

_PART_CHARS: Final = 350_000


def waiting_writes(pk: str, waiting: WaitingTurn | None) -> list[Put]:
    """Return what keeps a turn: its parts, which the table drops some time after it expired."""
    if waiting is None:
        return []
    moment = {
        "expires_at": waiting.expires_at.isoformat(),
        "ttl": int(waiting.expires_at.timestamp()),
    }
    return [
        Put(item={**_key(pk, part)._asdict(), "json": text, **moment})
        for part, text in enumerate(_parts(waiting))
    ]


def stale_writes(pk: str, before: WaitingTurn | None, now: WaitingTurn | None) -> list[Delete]:
    """Return what removes the parts of the turn before that the one now does not overwrite."""
    kept, written = (len(_parts(turn)) if turn else 0 for turn in (before, now))
    return [Delete(key=_key(pk, part)) for part in range(written, kept)]


def waiting_turn(items: Sequence[StoredItem]) -> WaitingTurn | None:
    """Return the turn among the items of a conversation; None if none waits, or not all of it."""
    parts = [item for item in items if item["sk"].startswith(PREFIX)]
    if not parts or parts[0]["sk"] != _key("", 0).sk:
        return None
    # The table drops parts one by one: of a longer one that has expired some may be left.
    parts = [part for part in parts if part["expires_at"] == parts[0]["expires_at"]]
    return WaitingTurn(
        sealed="".join(part["json"] for part in parts),
        expires_at=datetime.fromisoformat(parts[0]["expires_at"]),
    )


def _parts(waiting: WaitingTurn) -> list[str]:
    text = waiting.sealed
    return [text[start : start + _PART_CHARS] for start in range(0, len(text), _PART_CHARS)]


def _key(pk: str, part: int) -> Key:
    return Key(pk, f"{PREFIX}{part:03d}")
