"""An entry of the audit log field by field, as the table keeps it and as it is exported."""

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

from archivolt.domain.audit import AuditEntry, ChainPlace, KeptEntry, Named
from archivolt.domain.identity import Principal, Role, TenantId, TokenKind, UserId


def fields_of(kept: KeptEntry) -> dict[str, Any]:
    """Return the fields of an entry: text, whole numbers, and a map of details."""
    entry, principal, place = kept.entry, kept.entry.principal, kept.place
    return {
        "tenant": principal.tenant,
        "user": principal.user,
        "role": principal.role.value,
        "token_id": principal.token_id,
        "token_kind": principal.kind.value,
        "action": entry.action,
        "at": entry.at.astimezone(UTC).isoformat(),
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
        "who": kept.who.digest,
        "who_salt": kept.who.salt,
        "what": kept.what.digest,
        "what_salt": kept.what.salt,
        "digest": kept.digest,
    }


def entry_of(fields: Mapping[str, Any]) -> AuditEntry:
    """Return what the fields of an entry say.

    Raises:
        KeyError, TypeError, ValueError: They are not those of an entry.

    """
    return AuditEntry(
        principal=Principal(
            tenant=TenantId(fields["tenant"]),
            user=UserId(fields["user"]),
            role=Role(fields["role"]),
            token_id=fields["token_id"],
            kind=TokenKind(fields["token_kind"]),
        ),
        action=fields["action"],
        at=datetime.fromisoformat(fields["at"]),
        outcome=fields["outcome"],
        surface=fields["surface"],
        milliseconds=fields["milliseconds"],
        arguments_digest=fields["arguments_digest"],
        vault=fields["vault"],
        path=fields["path"],
        details=fields["details"],
    )


def kept_of(fields: Mapping[str, Any]) -> KeptEntry:
    """Return an entry with its place; one that was not written by us has the number 0.

    Raises:
        KeyError, TypeError, ValueError: As for `entry_of`.

    """
    return KeptEntry(
        entry=entry_of(fields),
        place=ChainPlace(
            lane=fields.get("lane", 0),
            number=fields.get("number", 0),
            previous=fields.get("previous", ""),
        ),
        digest=fields.get("digest", ""),
        who=Named(fields.get("who", ""), fields.get("who_salt", "")),
        what=Named(fields.get("what", ""), fields.get("what_salt", "")),
    )
