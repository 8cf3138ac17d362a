"""A preview as it is shown: in the caller's language, without secrets, no longer than it may be."""

from typing import Any, Final

from archivolt.domain.confirmation import Affected, Preview
from archivolt.domain.messages import Language, reason_for
from archivolt.domain.tool import JsonObject
from archivolt.tools.redaction import redacted
from archivolt.tools.truncation import Cut, truncate

_DIFF: Final = Cut(field="diff", by_line=True)
_AFFECTED: Final = Cut(field="affected")


def shown(preview: Preview, language: Language, *, limit: int) -> JsonObject:
    """Return a preview as JSON of at most `limit` characters.

    A long diff gives way first, then the list of what is affected; `note` says so.
    """
    whole: JsonObject = redacted(
        {
            "summary": preview.summary.spoken(language),
            "diff": preview.diff,
            "affected": [_affected(one, language) for one in preview.affected],
            "affected_total": max(preview.affected_total, len(preview.affected)),
        }
    )
    shorter = truncate(whole, _DIFF, language, limit=limit).value
    return truncate(shorter, _AFFECTED, language, limit=limit).value


def _affected(affected: Affected, language: Language) -> JsonObject:
    told: dict[str, Any] = {"path": affected.path, "change": affected.change.value}
    if affected.new_path:
        told["new_path"] = affected.new_path
    if affected.reason:
        told["reason"] = affected.reason
        told["explanation"] = reason_for(affected.reason, language, {})
    return told
