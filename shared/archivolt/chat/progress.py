"""Where a turn begins, and what it has brought so far."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from archivolt.agent.state import LoopState, WaitingCall
from archivolt.chat.citations import SourceCollector
from archivolt.domain.conversation import ToolCallRecord
from archivolt.domain.errors import BudgetExceededError
from archivolt.domain.stream import Notice
from archivolt.domain.tool import JsonObject
from archivolt.ports.chat_model import ModelImage


@dataclass(slots=True)
class Progress:
    """What a turn has brought so far; it outlives a turn that is stopped half-way.

    `state` is where the loop stood when it came to wait for a person; `undecided` are the calls, by
    id, that wait for one. `private`: a tool gave what may be of documents. `exhausted` is the
    budget that had no room for another answer.
    """

    text: str = ""
    calls: list[ToolCallRecord] = field(default_factory=list[ToolCallRecord])
    input_tokens: int = 0
    output_tokens: int = 0
    sources: tuple[str, ...] | None = None
    collector: SourceCollector = field(default_factory=SourceCollector)
    notices: list[Notice] = field(default_factory=list[Notice])
    state: LoopState | None = None
    undecided: dict[str, WaitingCall] = field(default_factory=dict[str, WaitingCall])
    exhausted: BudgetExceededError | None = None
    private: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class LoopStart:
    """Where a loop begins, or goes on.

    `decisions` says of calls that wait, by id, whether the person agreed; `says` is what they said
    beside it, with what they show, once nothing waits any more. `answers` are theirs to what was
    asked, by the call and by the question.
    """

    state: LoopState
    decisions: Mapping[str, bool] = field(default_factory=dict[str, bool])
    says: str = ""
    images: tuple[ModelImage, ...] = ()
    answers: Mapping[str, Mapping[str, JsonObject]] = field(
        default_factory=dict[str, Mapping[str, JsonObject]]
    )
