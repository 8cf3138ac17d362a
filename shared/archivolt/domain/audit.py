"""What the audit log says, and the chain that shows whether it still says it (O68, S24).

Every entry carries the digest of the one before it, so that a change, a gap or a doubled entry
shows. So that callers of one tenant do not wait for each other, a tenant's entries are in a few
lanes, each a chain of its own; what was written of a lane last is noted as its head.

What names a person and what names a document are digested apart, each with a salt: each can be
taken out of an entry when a person or a vault is erased, and the chain still holds for the rest.
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


@dataclass(frozen=True, slots=True)
class Named:
    """What an entry names, as a salted digest; without the salt it was taken out of the entry."""

    digest: str
    salt: str

    def stands_for(self, fields: Mapping[str, object]) -> bool:
        """Tell whether the fields are those that were digested, or were all taken out."""
        if not self.salt:
            return not any(fields.values())
        return named(fields, self.salt).digest == self.digest


def named(fields: Mapping[str, object], salt: str) -> Named:
    """Return the digest of what an entry names."""
    return Named(_sha256(f"{salt}:{_CANONICAL.encode(dict(fields))}"), salt)


def who_of(entry: AuditEntry) -> Mapping[str, object]:
    """Return what names a person in an entry."""
    return {"user": entry.principal.user, "token_id": entry.principal.token_id}


def what_of(entry: AuditEntry) -> Mapping[str, object]:
    """Return what names a document, or another person, in an entry."""
    return {"vault": entry.vault, "path": entry.path, "details": entry.details}


def entry_digest(entry: AuditEntry, place: ChainPlace, *, who: Named, what: Named) -> str:
    """Return the digest of an entry in its place; what it names enters as its digests."""
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
                "who": who.digest,
                "what": what.digest,
                "lane": place.lane,
                "number": place.number,
                "previous": place.previous,
            }
        )
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class KeptEntry:
    """An entry as it is kept in its place, with the digests that were written beside it."""

    entry: AuditEntry
    place: ChainPlace
    digest: str
    who: Named
    what: Named

    @property
    def is_intact(self) -> bool:
        """Whether it says what it said when it was written, or less."""
        if not (
            self.who.stands_for(who_of(self.entry)) and self.what.stands_for(what_of(self.entry))
        ):
            return False
        return self.digest == entry_digest(self.entry, self.place, who=self.who, what=self.what)

    @property
    def is_unnamed(self) -> bool:
        """Whether something that it named was taken out."""
        return not (self.who.salt and self.what.salt)


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
