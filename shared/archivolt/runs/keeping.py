"""Where the loop of a run stands, and what its calls came to, as sealed text.

What a model and its tools said is more than may be stored for good (S24, S25): it is encrypted, and
gone when the run is over (decision 28).
"""

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cache
from typing import Any, TypeVar

from pydantic import TypeAdapter

from archivolt.agent.calls import ToolCall
from archivolt.agent.keeping import state_from_json, state_to_json
from archivolt.agent.state import LoopState, ToolOutcome, WaitingCall
from archivolt.domain.conversation import Citation, ToolCallRecord
from archivolt.domain.errors import UnavailableError
from archivolt.domain.packing import packed, unpacked
from archivolt.domain.run import Run
from archivolt.domain.tool import JsonObject
from archivolt.ports.governance import SecretBox

T = TypeVar("T")


@dataclass(frozen=True, slots=True, kw_only=True)
class SoFar:
    """What a run has besides the state of its loop.

    `pending` are the calls asked for and not answered yet, asked for in step `round`; `scope` is
    what the person pointed at. `refused` is why a change of the last round was not made, as a code.
    """

    text: str = ""
    calls: tuple[ToolCallRecord, ...] = ()
    passages: tuple[Citation, ...] = ()
    sources: tuple[str, ...] | None = None
    scope: JsonObject | None = None
    pending: tuple[ToolCall, ...] = ()
    round: int = 0
    refused: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class KeptLoop:
    """Where a loop stands."""

    state: LoopState
    so_far: SoFar = field(default_factory=SoFar)


@dataclass(frozen=True, slots=True, kw_only=True)
class KeptOutcome:
    """What a call came to: an outcome, or that it waits for a person."""

    record: ToolCallRecord
    outcome: ToolOutcome | None = None
    waiting: WaitingCall | None = None
    refused: str = ""

    @property
    def result(self) -> ToolOutcome | WaitingCall:
        """What the loop is told."""
        found = self.outcome or self.waiting
        assert found is not None, "a call has an outcome or waits"  # noqa: S101  its caller saw to it
        return found


class RunSeals:
    """Seals what is kept of runs and opens it again.

    Args:
        box: Gives what seals, when first needed.

    """

    def __init__(self, box: Callable[[], SecretBox]) -> None:
        self._box = box

    def loop(self, run: Run, kept: KeptLoop) -> str:
        """Return a loop as it is kept.

        Raises:
            UnavailableError: It cannot be sealed now.

        """
        beside: Any = _so_far().dump_python(kept.so_far, mode="json")
        text = json.dumps({"state": state_to_json(kept.state), "so_far": beside})
        return self._sealed(run, "state", text)

    def opened_loop(self, run: Run, sealed: str) -> KeptLoop:
        """Return the loop that was sealed.

        Raises:
            UnavailableError: `secret_unreadable`.

        """
        return self._opened(run, "state", sealed, _loop_of)

    def outcome(self, run: Run, place: str, outcome: KeptOutcome) -> str:
        """Return what a call came to as it is kept.

        Raises:
            UnavailableError: It cannot be sealed now.

        """
        text = json.dumps(_outcomes().dump_python(outcome, mode="json"))
        return self._sealed(run, f"outcome:{place}", text)

    def opened_outcome(self, run: Run, place: str, sealed: str) -> KeptOutcome:
        """Return the outcome that was sealed.

        Raises:
            UnavailableError: `secret_unreadable`.

        """
        return self._opened(run, f"outcome:{place}", sealed, _outcomes().validate_python)

    def waiting(self, run: Run, approval_id: str, waiting: WaitingCall) -> str:
        """Return a call that waits for a person as it is kept.

        Raises:
            UnavailableError: It cannot be sealed now.

        """
        text = json.dumps(_waiting().dump_python(waiting, mode="json"))
        return self._sealed(run, f"approval:{approval_id}", text)

    def opened_waiting(self, run: Run, approval_id: str, sealed: str) -> WaitingCall:
        """Return the call that was sealed.

        Raises:
            UnavailableError: `secret_unreadable`.

        """
        return self._opened(run, f"approval:{approval_id}", sealed, _waiting().validate_python)

    def _sealed(self, run: Run, part: str, text: str) -> str:
        return self._box().seal(packed(text), tenant=run.tenant, field=f"run:{run.id}:{part}")

    def _opened(self, run: Run, part: str, sealed: str, read: Callable[[Any], T]) -> T:
        text = self._box().open(sealed, tenant=run.tenant, field=f"run:{run.id}:{part}")
        try:
            return read(json.loads(unpacked(text)))
        except (ValueError, LookupError, TypeError, AttributeError) as error:
            # Not ours, or of another version of this.
            raise UnavailableError("secret_unreadable") from error


def _loop_of(kept: Mapping[str, Any]) -> KeptLoop:
    return KeptLoop(
        state=state_from_json(kept["state"]),
        so_far=_so_far().validate_python(kept["so_far"]),
    )


@cache
def _so_far() -> TypeAdapter[SoFar]:
    return TypeAdapter(SoFar)


@cache
def _outcomes() -> TypeAdapter[KeptOutcome]:
    return TypeAdapter(KeptOutcome)


@cache
def _waiting() -> TypeAdapter[WaitingCall]:
    return TypeAdapter(WaitingCall)
