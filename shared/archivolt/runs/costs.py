"""What a run's model costs, and whether its cap has room for another answer (decision 22)."""

from dataclasses import replace

from archivolt.agent.state import LoopState
from archivolt.chat.providers import ChosenModel
from archivolt.domain.run import Run, RunUse
from archivolt.domain.usage import Tokens
from archivolt.ports.chat_model import ModelTurn
from archivolt.runs.support import OpenRun


def cap_reached(found: OpenRun, run: Run, state: LoopState) -> bool:
    """Tell whether the worst case of another answer is more than the run's cap leaves."""
    if run.caps.micro_dollars is None:
        return False
    worst = found.chosen.price.micros(found.model.worst_case(state.messages))
    return run.use.micro_dollars + worst > run.caps.micro_dollars


def with_turn(use: RunUse, chosen: ChosenModel, turn: ModelTurn) -> RunUse:
    """Return what a run has taken once a model has answered."""
    used = Tokens(input=turn.input_tokens, output=turn.output_tokens)
    return replace(
        use,
        input_tokens=use.input_tokens + used.input,
        output_tokens=use.output_tokens + used.output,
        micro_dollars=use.micro_dollars + chosen.price.micros(used),
    )
