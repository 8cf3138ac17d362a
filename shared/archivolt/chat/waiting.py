"""A turn that waits for a person: kept with its conversation, sealed, and taken up again.

What it holds is more than may be stored for good (S24, S25), so it is encrypted, expires with its
confirmations and is gone with the next answer (decision 28).
"""

import hmac
import json
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from typing import Any

from archivolt.agent.keeping import state_from_json, state_to_json
from archivolt.agent.state import LoopState, WaitingCall
from archivolt.chat.requests import TurnRequest
from archivolt.domain.conversation import Citation, Conversation, WaitingTurn
from archivolt.domain.errors import ConflictError, InvalidRequestError
from archivolt.domain.messages import Language
from archivolt.domain.packing import packed, unpacked
from archivolt.domain.tool import JsonObject
from archivolt.ports.clock import Clock
from archivolt.ports.governance import SecretBox


@dataclass(frozen=True, slots=True, kw_only=True)
class KeptTurn:
    """Where a turn stands that waits, with the model it began with and the sources it was given."""

    state: LoopState
    provider: str
    model: str
    language: Language
    passages: tuple[Citation, ...]


class WaitingTurns:
    """Seals turns that wait and opens them again.

    Args:
        box: Gives what seals them, when first needed.
        clock: The time.

    """

    def __init__(self, box: Callable[[], SecretBox], clock: Clock) -> None:
        self._box = box
        self._clock = clock

    def seal(self, conversation: Conversation, turn: KeptTurn) -> WaitingTurn:
        """Return a turn as it is kept; it expires with the first of its confirmations.

        Raises:
            UnavailableError: It cannot be sealed now.

        """
        kept = {
            "state": state_to_json(turn.state),
            "provider": turn.provider,
            "model": turn.model,
            "language": turn.language.value,
            "passages": [asdict(passage) for passage in turn.passages],
        }
        sealed = self._box().seal(
            packed(json.dumps(kept)), tenant=conversation.tenant, field=_field(conversation)
        )
        expires_at = min(waiting.expires_at for waiting in turn.state.waiting)
        return WaitingTurn(sealed=sealed, expires_at=expires_at)

    def of(self, conversation: Conversation) -> KeptTurn | None:
        """Return the turn that waits in a conversation; None if none does, or no longer.

        Raises:
            UnavailableError: `secret_unreadable`.

        """
        waiting = conversation.waiting
        if waiting is None or waiting.expires_at <= self._clock.now():
            return None
        text = self._box().open(
            waiting.sealed, tenant=conversation.tenant, field=_field(conversation)
        )
        try:
            return _kept_turn(json.loads(unpacked(text)))
        except (ValueError, KeyError, TypeError):
            return None  # another version of the product kept it: nobody can go on from there


def _kept_turn(kept: Mapping[str, Any]) -> KeptTurn:
    return KeptTurn(
        state=state_from_json(kept["state"]),
        provider=kept["provider"],
        model=kept["model"],
        language=Language(kept["language"]),
        passages=tuple(Citation(**passage) for passage in kept["passages"]),
    )


def decisions_of(request: TurnRequest, turn: KeptTurn | None) -> Mapping[str, bool]:
    """Return whether the person agreed, by the id of the call that waits.

    Who says something else instead of deciding agrees to nothing more.

    Raises:
        ConflictError: `confirmation_not_waiting`: a token of no change that waits here.
        InvalidRequestError: `invalid_request`: a token is both confirmed and declined.

    """
    waiting = turn.state.waiting if turn else ()
    decided: dict[str, bool] = {}
    agreed_to = (*request.confirm, *request.answers)
    for tokens, agreed in ((agreed_to, True), (request.decline, False)):
        for token in tokens:
            call = _waiting_for(token, waiting)
            if decided.setdefault(call, agreed) is not agreed:
                raise InvalidRequestError("invalid_request", problem="confirm_and_decline")
    undecided = {each.call.id: False for each in waiting} if request.text else {}
    return undecided | decided


def answers_of(
    request: TurnRequest, turn: KeptTurn | None
) -> Mapping[str, Mapping[str, JsonObject]]:
    """Return the person's answers to questions, by the id of the call that waits for them.

    Raises:
        ConflictError: `confirmation_not_waiting`.

    """
    waiting = turn.state.waiting if turn else ()
    return {_waiting_for(token, waiting): given for token, given in request.answers.items()}


def _waiting_for(token: str, waiting: tuple[WaitingCall, ...]) -> str:
    given = token.encode("utf-8", "replace")
    for each in waiting:
        if hmac.compare_digest(each.token.encode(), given):
            return each.call.id
    raise ConflictError("confirmation_not_waiting")


def _field(conversation: Conversation) -> str:
    return f"waiting_turn:{conversation.id}"
