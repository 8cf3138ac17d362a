"""What the audit log says, and the chain that shows whether it still says it (O68, S24).

Every entry carries the digest of the one before it, so that a change, a gap or a doubled entry
shows. So that callers of one tenant do not wait for each other, a tenant's entries are in a few
lanes, each a chain of its own; what was written of a lane last is noted as its head.

What names a person or a document is digested apart, with a salt: it can be taken out of an entry
when a person is erased, and the chain still holds.
"""

import hashlib
import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, date, datetime
from typing import Final

from archivolt.domain.identity import Principal

_CANONICAL: Final = json.JSONEncoder(sort_keys=True, separators=(",", ":"), ensure_ascii=True)


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditEntry:
    """Who did what, when, with what outcome; never content (O68, S24).

    `arguments_digest` is the SHA-256 of the canonical JSON of the arguments.
    """

    principal: Principal
    action: str
    at: datetime
    outcome: str
    surface: str
    milliseconds: int
    arguments_digest: str = ""
    vault: str = ""
    path: str = ""
    details: dict[str, str] = field(default_factory=dict[str, str])

    @property
    def day(self) -> date:
        """The day it belongs to, by UTC."""
        return self.at.astimezone(UTC).date()


@dataclass(frozen=True, slots=True, kw_only=True)
class ChainPlace:
    """Where an entry is in its chain: its number in the lane, from 1, and the digest before it."""

    lane: int
    number: int
    previous: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ChainHead:
    """The last entry of a lane, and the day of its first; number 0 for a lane without any."""

    lane: int
    number: int = 0
    digest: str = ""
    first_day: date | None = None

    @property
    def next_place(self) -> ChainPlace:
        """Where the next entry goes."""
        return ChainPlace(lane=self.lane, number=self.number + 1, previous=self.digest)


def personal_digest(entry: AuditEntry, salt: str) -> str:
    """Return the digest of what names a person or a document in an entry."""
    personal = {
        "user": entry.principal.user,
        "token_id": entry.principal.token_id,
        "vault": entry.vault,
        "path": entry.path,
        "details": entry.details,
    }
    return _sha256(f"{salt}:{_CANONICAL.encode(personal)}")


def entry_digest(entry: AuditEntry, place: ChainPlace, personal: str) -> str:
    """Return the digest of an entry in its place; `personal` is what `personal_digest` gave."""
    return _sha256(
        _CANONICAL.encode(
            {
                "tenant": entry.principal.tenant,
                "role": entry.principal.role.value,
                "token_kind": entry.principal.kind.value,
                "action": entry.action,
                "at": entry.at.astimezone(UTC).isoformat(),
                "outcome": entry.outcome,
                "surface": entry.surface,
                "milliseconds": entry.milliseconds,
                "arguments_digest": entry.arguments_digest,
                "personal": personal,
                "lane": place.lane,
                "number": place.number,
                "previous": place.previous,
            }
        )
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class KeptEntry:
    """An entry as it is kept in its place, with the digests that were written beside it.

    Without a salt it was taken out of it who and what it names: `personal` stands for that.
    """

    entry: AuditEntry
    place: ChainPlace
    digest: str
    personal: str
    salt: str

    @property
    def is_intact(self) -> bool:
        """Whether it says what it said when it was written."""
        if self.salt and personal_digest(self.entry, self.salt) != self.personal:
            return False
        return entry_digest(self.entry, self.place, self.personal) == self.digest


@dataclass(frozen=True, slots=True, kw_only=True)
class DaySeal:
    """What a day's entries were when they were exported.

    `content` is the SHA-256 of their digests, one a line, in the order of lanes and numbers.
    `lanes` tells the last entry of each lane up to that day. `previous` is the digest of the seal
    before this one: the seals of a tenant are a chain as well.
    """

    day: date
    entries: int
    content: str
    lanes: Mapping[int, ChainHead]
    previous: str

    @property
    def digest(self) -> str:
        """The digest of the seal."""
        return _sha256(
            _CANONICAL.encode(
                {
                    "day": self.day.isoformat(),
                    "entries": self.entries,
                    "content": self.content,
                    "lanes": {
                        str(lane): [head.number, head.digest] for lane, head in self.lanes.items()
                    },
                    "previous": self.previous,
                }
            )
        )


def content_digest(entries: Iterable[KeptEntry]) -> str:
    """Return the `content` of a seal for the entries of its day, in any order."""
    places = sorted((kept.place.lane, kept.place.number, kept.digest) for kept in entries)
    return _sha256("\n".join(digest for _, _, digest in places))


def _sha256(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()
