"""A preview as it is shown: in the caller's language, without secrets, no longer than it may be."""

from datetime import datetime
from typing import Annotated, Final

from pydantic import Field

from archivolt.domain.confirmation import Affected, Change, Preview
from archivolt.domain.messages import Language, Message, reason_for
from archivolt.domain.paths import vault_uri
from archivolt.domain.tool import JsonObject
from archivolt.tools.redaction import redacted
from archivolt.tools.schemas import ToolOutput
from archivolt.tools.truncation import Cut, json_length, truncate

IN_VAULT: Final = Message("In the vault {vault}:", "Dans le coffre {vault} :")
_AND_MORE: Final = Message("and {count} more", "et {count} de plus")

_CUT: Final = Cut(field="diff", by_line=True, then=Cut(field="affected"))


def _is_none(value: object) -> bool:
    return value is None


OptionalText = Annotated[str | None, Field(exclude_if=_is_none)]


class AffectedFile(ToolOutput):
    """A file or directory that a change touches."""

    path: str
    change: Change
    uri: OptionalText = Field(default=None, description="How to open and cite it.")
    new_path: OptionalText = None
    new_uri: OptionalText = Field(default=None, description="How to, after the change.")
    reason: OptionalText = Field(default=None, description="A stable code.")
    explanation: OptionalText = None


class ShownPreview(ToolOutput):
    """A change as a person sees it before confirming."""

    summary: str
    diff: str = Field(description="Unified, secrets taken out.")
    affected: list[AffectedFile] = Field(description="The first of them.")
    affected_total: int
    vault: OptionalText = Field(default=None, description="Its name.")
    note: OptionalText = Field(
        default=None, description="Present only when something is cut, or code has errors."
    )


class ProposalAnswer(ToolOutput):
    """A change that waits for its confirmation."""

    confirmation_token: str = Field(description="Confirms this very change, once.")
    expires_at: datetime
    preview: ShownPreview
    approval_url: OptionalText = Field(
        default=None,
        description="Present only when a person has to agree there before the change is applied.",
    )


def shown(
    preview: Preview, language: Language, *, limit: int, vault: str | None = None
) -> JsonObject:
    """Return a preview as JSON of at most `limit` characters, as `ShownPreview` describes it.

    A long diff gives way first, then the list of what is affected; `note` says so.
    """
    whole = ShownPreview(
        summary=preview.summary.spoken(language),
        diff=preview.diff,
        affected=[_affected(one, language, vault) for one in preview.affected],
        affected_total=max(preview.affected_total, len(preview.affected)),
        vault=vault,
    )
    plain = redacted(whole.model_dump(mode="json"))
    if preview.note is None:
        return truncate(plain, _CUT, language, limit=limit).value
    note = preview.note.spoken(language)
    cut = truncate(plain, _CUT, language, limit=limit - json_length({"note": note})).value
    return cut | {"note": f"{note} {cut['note']}" if "note" in cut else note}


def more_affected(preview: JsonObject, language: Language) -> str:
    """Return how many of what a shown preview affects it does not list; "" for none."""
    left_out = preview["affected_total"] - len(preview["affected"])
    return _AND_MORE.spoken(language).format(count=left_out) if left_out > 0 else ""


def _affected(affected: Affected, language: Language, vault: str | None) -> AffectedFile:
    reason = affected.reason or None
    new_path = affected.new_path
    return AffectedFile(
        path=affected.path,
        change=affected.change,
        uri=vault_uri(vault, affected.path) if vault else None,
        new_path=new_path or None,
        new_uri=vault_uri(vault, new_path) if vault and new_path else None,
        reason=reason,
        explanation=reason and reason_for(reason, language, {}),
    )
