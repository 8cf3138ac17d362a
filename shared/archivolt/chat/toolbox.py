"""The tools of one turn: what the model is offered, and how its calls are run.

Every call goes through the tool pipeline as the person who asks (S2). A call that would change
something is proposed, and made only once that person says so (decision 26). So is one that
strangers see, once the model has seen documents: a poisoned one could have it carry others out.
"""

import asyncio
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

from archivolt.agent.calls import ToolCall
from archivolt.agent.state import ToolOutcome, WaitingCall
from archivolt.chat.outside import Dropouts, in_thread
from archivolt.chat.pipeline import Pipeline
from archivolt.chat.questions import answers_to, with_question
from archivolt.chat.touched import touched_uris
from archivolt.domain.conversation import ToolCallRecord
from archivolt.domain.errors import ArchivoltError, RateLimitedError, UnavailableError
from archivolt.domain.federation import QuestionAskedError
from archivolt.domain.identity import Principal, TokenKind
from archivolt.domain.limits import CHAT_CONFIRMATION_SECONDS, MAX_PARALLEL_TOOLS
from archivolt.domain.messages import Language, Message
from archivolt.domain.stream import Notice, ToolUseResult
from archivolt.domain.tool import Declaration, JsonObject, Surface, ToolResult, ToolSpec

_CHARACTERS: Final = Message("characters", "caractères")
# After these a decision can be made again; any other error is what came of it.
_UNDECIDED: Final = (UnavailableError, RateLimitedError)
# Ours, and right again by itself; what strangers cannot do just now is theirs to be told.
_MOMENTARY: Final = frozenset({"unavailable", "rate_limited", "operation_unfinished"})
_DECLINED: Final = Message("declined", "refusé")
_ABANDONED: Final = Message("broken off", "interrompu")
_TOLD_DECLINED: Final = (
    "The person declined this change and it was not made."
    " Do not propose it again unless they ask for it."
)


@dataclass(frozen=True, slots=True, kw_only=True)
class CallReport:
    """What one call came to: for the loop, to be kept, and for the person.

    `told` is None for a call that waits: the person is asked once that is kept. `notice` tells them
    that a server dropped out.
    """

    result: ToolOutcome | WaitingCall
    record: ToolCallRecord
    told: ToolUseResult | None
    notice: Notice | None = None


class Toolbox:
    """Runs the calls of one person's turn, side by side.

    Args:
        pipeline: Takes the calls.
        specs: The tools.
        principal: Whose turn it is.
        language: For errors and summaries.
        reaches_out: Whether strangers may see calls of a model that has seen documents, unasked.

    """

    def __init__(
        self,
        pipeline: Pipeline,
        specs: Sequence[ToolSpec],
        principal: Principal,
        language: Language,
        *,
        reaches_out: bool = False,
        proposal_seconds: int = CHAT_CONFIRMATION_SECONDS,
    ) -> None:
        self._pipeline = pipeline
        self._specs = {spec.name: spec for spec in specs}
        self._principal = principal
        self._language = language
        self._reaches_out = reaches_out
        self._proposal_seconds = proposal_seconds
        self._room = asyncio.Semaphore(MAX_PARALLEL_TOOLS)
        self._dropouts = Dropouts()

    @property
    def names(self) -> frozenset[str]:
        """The names the model may call, at this point of the turn."""
        return frozenset(spec.name for spec in self._offered())

    def declarations(self) -> list[Declaration]:
        """Return what a model is told of the tools."""
        return [spec.declaration for spec in self._offered()]

    def is_private(self, name: str) -> bool:
        """Whether what a tool gives may tell something of documents; so it is of one that went."""
        return name not in self._specs or self._specs[name].private

    async def run(
        self, call: ToolCall, *, private: bool, correctable: bool, patient: bool = False
    ) -> CallReport:
        """Run one call; one that a person has to agree to first is proposed instead.

        `private`: the model has seen what may be of documents. `correctable`: code with errors goes
        back to it before a person sees it (L23). `patient`: whoever calls can try again later.

        Raises:
            UnavailableError, RateLimitedError: Something of ours is down for a moment, and the
                caller is patient; any other error is what came of the call.

        """
        spec = self._specs[call.name]
        could_tell = spec.open_world and private and not self._reaches_out
        async with self._room:
            if spec.requires_confirmation or could_tell:
                return await asyncio.to_thread(self._proposed, call, correctable, patient=patient)
            return await in_thread(
                lambda: self._outcome(call, lambda: self._called(call), patient=patient),
                outside=bool(spec.source),
            )

    async def confirm(
        self, waiting: WaitingCall, answers: Mapping[str, JsonObject] | None = None
    ) -> CallReport:
        """Make a change that a person agreed to, or go on with their answers to what was asked.

        Raises:
            UnavailableError: Whether it is made is not certain: to confirm again makes it so.
            RateLimitedError: It is not made; confirm it again.

        """

        def apply() -> ToolResult:
            # The yes is a person's own only where the token in hand is.
            asked = self._principal.kind is TokenKind.INTERACTIVE
            given = answers_to(waiting, answers or {})
            pipeline = self._pipeline.answering(given) if given else self._pipeline
            return pipeline.apply(
                self._principal,
                waiting.call.name,
                waiting.token,
                surface=Surface.IN_APP,
                language=self._language,
                asked=asked,
            )

        spec = self._specs.get(waiting.call.name)
        return await in_thread(
            lambda: self._outcome(waiting.call, apply, certain=True),
            outside=bool(spec and spec.source),
            whole=True,
        )

    async def decline(self, waiting: WaitingCall) -> CallReport:
        """Make sure that a change is never made.

        Raises:
            UnavailableError, RateLimitedError: It may still be made; to decline again makes sure.

        """
        return await asyncio.to_thread(self._declined, waiting)

    def abandoned(self, call: ToolCall) -> CallReport:
        """Return what becomes of a call whose end nobody waits for."""
        outcome = self._told(call, {"status": "abandoned"}, succeeded=False)
        return self._report(outcome, _record(call, "error"), _ABANDONED.spoken(self._language))

    def _called(self, call: ToolCall) -> ToolResult:
        return self._pipeline.call(
            self._principal,
            call.name,
            call.arguments,
            surface=Surface.IN_APP,
            language=self._language,
        )

    def _offered(self) -> list[ToolSpec]:
        return [spec for spec in self._specs.values() if not self._dropouts.is_out(spec)]

    def _proposed(
        self,
        call: ToolCall,
        correctable: bool,
        asked: QuestionAskedError | None = None,
        *,
        patient: bool = False,
    ) -> CallReport:
        try:
            proposed = self._pipeline.propose(
                self._principal,
                call.name,
                call.arguments,
                surface=Surface.IN_APP,
                language=self._language,
                seconds=self._proposal_seconds,
                refuse_broken=correctable,
            )
        except ArchivoltError as error:
            if patient and _is_momentary(error):
                raise
            return self._failed(call, error)
        waiting = WaitingCall(
            call=call,
            token=proposed.token,
            expires_at=proposed.expires_at,
            preview=proposed.preview,
        )
        waiting = with_question(waiting, asked) if asked else waiting
        return CallReport(result=waiting, record=_record(call, "proposed"), told=None)

    def _outcome(
        self,
        call: ToolCall,
        run: Callable[[], ToolResult],
        *,
        certain: bool = False,
        patient: bool = False,
    ) -> CallReport:
        try:
            result = run()
        except QuestionAskedError as asked:
            return self._proposed(call, correctable=False, asked=asked, patient=patient)
        except ArchivoltError as error:
            if (certain and isinstance(error, _UNDECIDED)) or (patient and _is_momentary(error)):
                raise
            return self._failed(call, error)
        outcome = self._told(call, result.value, succeeded=True)
        count = f"{result.size:,}"
        if self._language is Language.FR:
            count = count.replace(",", "\u202f")
        note = f"{count} {_CHARACTERS.spoken(self._language)}"
        return self._report(outcome, _record(call, "success", result.size), note)

    def _failed(self, call: ToolCall, error: ArchivoltError) -> CallReport:
        message = error.message(self._language)
        told = {"code": error.code, "message": message, "details": error.details}
        outcome = self._told(call, {"error": told}, succeeded=False)
        outcome = replace(outcome, broken_code=error.code == "code_check_failed")
        report = self._report(outcome, _record(call, "error"), message)
        spec = self._specs.get(call.name)
        notice = self._dropouts.note(spec, error, self._language) if spec else None
        return replace(report, notice=notice)

    def _declined(self, waiting: WaitingCall) -> CallReport:
        call = waiting.call
        try:
            self._pipeline.decline(
                self._principal, call.name, waiting.token, surface=Surface.IN_APP
            )
        except _UNDECIDED:
            raise
        except ArchivoltError as error:
            return self._failed(call, error)
        value = {"status": "declined", "message": _TOLD_DECLINED}
        outcome = self._told(call, value, succeeded=False)
        return self._report(outcome, _record(call, "declined"), _DECLINED.spoken(self._language))

    def _told(self, call: ToolCall, value: JsonObject, *, succeeded: bool) -> ToolOutcome:
        private = self.is_private(call.name)
        return ToolOutcome(call=call, succeeded=succeeded, value=value, private=private)

    def _report(self, outcome: ToolOutcome, record: ToolCallRecord, note: str) -> CallReport:
        # A tool can be gone by the time its call is decided on.
        spec = self._specs.get(outcome.call.name)
        step = spec.step(outcome.call.arguments, self._language) if spec else outcome.call.name
        summary = f"{step} — {note}"
        told = ToolUseResult(
            tool_id=record.tool_id,
            status=record.status,
            summary=summary,
            uris=tuple(touched_uris(record)),
        )
        return CallReport(result=outcome, record=record, told=told)


def _is_momentary(error: ArchivoltError) -> bool:
    return isinstance(error, _UNDECIDED) and error.code in _MOMENTARY


def _record(call: ToolCall, status: str, size: int = 0) -> ToolCallRecord:
    return ToolCallRecord(
        tool_id=call.id,
        tool_name=call.name,
        arguments=call.arguments,
        status=status,
        size=size,
    )
