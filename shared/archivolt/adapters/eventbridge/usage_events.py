"""What is used, as events on a bus: whoever wants them adds a rule (docs/operations.md)."""

import json
from datetime import datetime
from typing import TYPE_CHECKING, Final

from archivolt.adapters.aws.errors import translated
from archivolt.domain.errors import UnavailableError
from archivolt.domain.tool import JsonObject
from archivolt.domain.usage import MICROS, BudgetWarning, TokensUsed, micros_to_dollars

if TYPE_CHECKING:
    from types_boto3_events import EventBridgeClient
    from types_boto3_events.type_defs import PutEventsRequestEntryTypeDef

SOURCE: Final = "archivolt.usage"
TOKENS_USED: Final = "chat.tokens_used"
BUDGET_WARNING: Final = "chat.budget_warning"


class EventBridgeUsage:
    """`UsageEvents` on an event bus."""

    def __init__(self, client: "EventBridgeClient", bus: str) -> None:
        self._client = client
        self._bus = bus

    def tokens_used(self, used: TokensUsed) -> None:
        """Tell of one call, with exactly the fields of S14."""
        self._put(
            TOKENS_USED,
            {
                "event_type": TOKENS_USED,
                "tenant_id": used.tenant,
                "user_id": used.user,
                "conversation_id": used.conversation,
                "provider": used.provider,
                "model": used.model,
                "input_tokens": used.tokens.input,
                "output_tokens": used.tokens.output,
                "tool_calls": used.tool_calls,
                "estimated_cost_usd": used.micros / MICROS,
                "timestamp": _moment(used.at),
            },
        )

    def budget_warning(self, warning: BudgetWarning) -> None:
        """Tell that a budget is nearly used up."""
        self._put(
            BUDGET_WARNING,
            {
                "event_type": BUDGET_WARNING,
                "tenant_id": warning.tenant,
                "period": warning.month,
                "spent_usd": micros_to_dollars(warning.spent),
                "budget_usd": micros_to_dollars(warning.budget),
                "timestamp": _moment(warning.at),
            },
        )

    def _put(self, kind: str, detail: JsonObject) -> None:
        entry: PutEventsRequestEntryTypeDef = {
            "EventBusName": self._bus,
            "Source": SOURCE,
            "DetailType": kind,
            "Detail": json.dumps(detail),
        }
        with translated():
            answer = self._client.put_events(Entries=[entry])
        if answer["FailedEntryCount"]:
            raise UnavailableError("unavailable")


def _moment(moment: datetime) -> str:
    """Return a moment as in the source: whole seconds, `Z`."""
    return f"{moment:%Y-%m-%dT%H:%M:%SZ}"
