"""An entry of the audit log as a line of an exported file (JSON Lines), and back."""

import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from archivolt.domain.audit import AuditEntry, ChainPlace, KeptEntry, Named
from archivolt.domain.identity import Principal, Role, TenantId, TokenKind, UserId


@dataclass(frozen=True, slots=True)
class UnreadableLineError(Exception):
    """A line of an exported file is no entry; `number` counts lines from 1."""

    number: int


def file_of(entries: Iterable[KeptEntry]) -> bytes:
    """Return the exported file of entries: one JSON object a line, in UTF-8."""
    return "".join(f"{json.dumps(_line(kept), sort_keys=True)}\n" for kept in entries).encode()


def entries_of(file: bytes) -> Iterator[KeptEntry]:
    """Yield the entries of an exported file.

    Raises:
        UnreadableLineError: A line is no entry.

    """
    for number, line in enumerate(file.splitlines(), 1):
        try:
            yield _kept(json.loads(line))
        except (ValueError, TypeError, KeyError) as error:
            raise UnreadableLineError(number) from error


def _line(kept: KeptEntry) -> dict[str, Any]:
    entry, principal, place = kept.entry, kept.entry.principal, kept.place
    return {
        "tenant": principal.tenant,
        "user": principal.user,
        "role": principal.role.value,
        "token_id": principal.token_id,
        "token_kind": principal.kind.value,
        "action": entry.action,
        "at": entry.at.isoformat(),
        "outcome": entry.outcome,
        "surface": entry.surface,
        "milliseconds": entry.milliseconds,
        "arguments_digest": entry.arguments_digest,
        "vault": entry.vault,
        "path": entry.path,
        "details": entry.details,
        "lane": place.lane,
        "number": place.number,
        "previous": place.previous,
        "digest": kept.digest,
        "who": kept.who.digest,
        "who_salt": kept.who.salt,
        "what": kept.what.digest,
        "what_salt": kept.what.salt,
    }


def _kept(line: dict[str, Any]) -> KeptEntry:
    entry = AuditEntry(
        principal=Principal(
            tenant=TenantId(line["tenant"]),
            user=UserId(line["user"]),
            role=Role(line["role"]),
            token_id=line["token_id"],
            kind=TokenKind(line["token_kind"]),
        ),
        action=line["action"],
        at=datetime.fromisoformat(line["at"]),
        outcome=line["outcome"],
        surface=line["surface"],
        milliseconds=line["milliseconds"],
        arguments_digest=line["arguments_digest"],
        vault=line["vault"],
        path=line["path"],
        details=line["details"],
    )
    return KeptEntry(
        entry=entry,
        place=ChainPlace(lane=line["lane"], number=line["number"], previous=line["previous"]),
        digest=line["digest"],
        who=Named(line["who"], line["who_salt"]),
        what=Named(line["what"], line["what_salt"]),
    )
