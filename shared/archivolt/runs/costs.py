"""What a run's model costs, and whether its cap has room for another answer (decision 22)."""

import json
from dataclasses import replace
from decimal import ROUND_CEILING, Decimal
from typing import Final

from archivolt.agent.state import LoopState
from archivolt.agent.window import tokens_in, tokens_of
from archivolt.chat.providers import ChosenModel
from archivolt.domain.errors import InvalidRequestError
from archivolt.domain.providers import EMBEDDED
from archivolt.domain.run import Run, RunUse
from archivolt.ports.chat_model import ModelTurn
from archivolt.ports.model_catalogue import ModelCatalogue
from archivolt.runs.support import OpenRun

_MICROS: Final = 1_000_000


class RunCosts:
    """Counts what answers cost."""

    def __init__(self, catalogue: ModelCatalogue) -> None:
        self._catalogue = catalogue

    def require_price(self, chosen: ChosenModel) -> None:
        """Let a run have a cap in money: its model has a price.

        Raises:
            InvalidRequestError: `model_price_unknown`: never free (decision 23).

        """
        self._micros(chosen, 0, 0)

    def reached(self, found: OpenRun, run: Run, state: LoopState) -> bool:
        """Tell whether the worst case of another answer is more than the run's cap leaves."""
        if run.caps.micro_dollars is None:
            return False
        asked = tokens_of(state.messages) + tokens_in(json.dumps(found.toolbox.declarations()))
        worst = self._micros(found.chosen, asked, found.chosen.max_tokens)
        return run.use.micro_dollars + worst > run.caps.micro_dollars

    def with_turn(self, use: RunUse, chosen: ChosenModel, turn: ModelTurn) -> RunUse:
        """Return what a run has taken once a model has answered."""
        try:
            cost = self._micros(chosen, turn.input_tokens, turn.output_tokens)
        except InvalidRequestError:
            cost = 0  # a run without a cap of its own, of a model without a price
        return replace(
            use,
            input_tokens=use.input_tokens + turn.input_tokens,
            output_tokens=use.output_tokens + turn.output_tokens,
            micro_dollars=use.micro_dollars + cost,
        )

    def _micros(self, chosen: ChosenModel, asked: int, answered: int) -> int:
        if chosen.provider == EMBEDDED:
            return 0
        cost: Decimal = self._catalogue.price(chosen.provider, chosen.name).cost(asked, answered)
        return int((cost * _MICROS).to_integral_value(rounding=ROUND_CEILING))
