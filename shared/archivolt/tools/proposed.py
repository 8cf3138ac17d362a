"""A change that waits for its confirmation, as the door that proposed it has it in hand."""

from dataclasses import dataclass
from datetime import datetime

from archivolt.domain.tool import JsonObject
from archivolt.tools.previews import ProposalAnswer, ShownPreview


@dataclass(frozen=True, slots=True, kw_only=True)
class Proposed:
    """A change that waits for its confirmation.

    `id` names the proposal in the audit log; `token` confirms it until `expires_at`. `preview` is
    shown to whoever confirms, and is the same JSON at every door. At `approval_url` a person has to
    agree first; "" if that is not asked for.
    """

    id: str
    tool: str
    token: str
    expires_at: datetime
    preview: JsonObject
    approval_url: str = ""

    @property
    def answer(self) -> ProposalAnswer:
        """What the caller is told."""
        preview = ShownPreview.model_validate(self.preview)
        return ProposalAnswer(
            confirmation_token=self.token,
            expires_at=self.expires_at,
            preview=preview,
            approval_url=self.approval_url or None,
        )
