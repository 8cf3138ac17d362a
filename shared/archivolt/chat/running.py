"""A turn that has started: its events, its end, and what is kept of it.

It does not depend on a listener: events wait in a queue, and the turn goes on if nobody takes them.
"""

import asyncio
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, replace

from archivolt.agent.state import LoopLimits, LoopState, StopReason
from archivolt.chat.budget_notices import budget_notice
from archivolt.chat.loop import TurnLoop
from archivolt.chat.progress import LoopStart, Progress
from archivolt.chat.providers import ChosenModel
from archivolt.chat.waiting import KeptTurn, WaitingTurns
from archivolt.domain.conversation import Author, Citation, Conversation, Message, WaitingTurn
from archivolt.domain.errors import ArchivoltError, UnavailableError
from archivolt.domain.messages import Language, message_for
from archivolt.domain.skill import Skill
from archivolt.domain.stream import (
    Citations,
    ConfirmationRequired,
    Failure,
    MessageEnd,
    MessageStart,
    Notice,
    SkillChosen,
    StreamEvent,
)
from archivolt.domain.usage import Tokens
from archivolt.ports.clock import Clock
from archivolt.ports.conversations import ConversationStore


class EventQueue:
    """Events on their way from a turn to whoever listens."""

    def __init__(self) -> None:
        self._waiting: asyncio.Queue[StreamEvent | None] = asyncio.Queue()

    def emit(self, event: StreamEvent) -> None:
        """Add an event."""
        self._waiting.put_nowait(event)

    def close(self) -> None:
        """Say that no event follows."""
        self._waiting.put_nowait(None)

    async def next(self) -> StreamEvent | None:
        """Return the next event, None after the last."""
        return await self._waiting.get()


@dataclass(frozen=True, slots=True, kw_only=True)
class TurnPlan:
    """What a turn is about, fixed before it starts.

    `language` is that of errors and notices, `answers_in` that of the answer. `notices` are what
    the person should know from the beginning.
    """

    conversation: Conversation
    chosen: ChosenModel
    language: Language
    answers_in: Language
    limits: LoopLimits
    start: LoopStart
    skill: Skill | None = None
    notices: tuple[Notice, ...] = ()


class RunningTurn:
    """Runs the loop, tells how it ends, and stores the answer of a turn that succeeded."""

    def __init__(
        self,
        plan: TurnPlan,
        loop: TurnLoop,
        events: EventQueue,
        *,
        conversations: ConversationStore,
        waiting: WaitingTurns,
        clock: Clock,
        report: Callable[[BaseException], None],
    ) -> None:
        self.plan = plan
        self.progress = Progress()
        self.citations: tuple[Citation, ...] = ()
        self.confirmations: tuple[ConfirmationRequired, ...] = ()
        self.error: ArchivoltError | None = None
        self.stopped = False
        self._loop = loop
        self._events = events
        self._conversations = conversations
        self._waiting = waiting
        self._clock = clock
        self._report = report
        self._over = asyncio.Event()

    @property
    def used(self) -> Tokens:
        """What the turn used so far: a call that broke off is charged, though no turn came."""
        charged, told = self.plan.chosen.model.used, self.progress
        return Tokens(
            input=max(told.input_tokens, charged.input),
            output=max(told.output_tokens, charged.output),
        )

    def admit(self) -> None:
        """Set aside what the first answer may cost, before anything has begun; this blocks.

        Raises:
            BudgetExceededError: `budget_exceeded`, `daily_tokens_exceeded`.
            UnavailableError: `unavailable`.

        """
        self._loop.admit(self.plan.start)

    async def next_event(self) -> StreamEvent | None:
        """Return the next event, None after `message_end`."""
        return await self._events.next()

    async def wait(self) -> None:
        """Wait for the end, whatever it is; `error` tells whether the turn failed."""
        await self._over.wait()

    async def run(self) -> None:
        """Run to the end; `message_end` closes the stream whatever happens."""
        conversation = self.plan.conversation
        self._events.emit(
            MessageStart(conversation_id=conversation.id, model=self.plan.chosen.name)
        )
        if skill := self.plan.skill:
            self._events.emit(SkillChosen(name=skill.id, title=skill.title))
        for notice in self.plan.notices:
            self._notify(notice)
        watching = asyncio.create_task(self._loop.stop.watch(self._conversations, conversation))
        try:
            await self._answer()
        except ArchivoltError as error:
            await self._fail(error)
        except asyncio.CancelledError:
            await self._fail(UnavailableError("turn_interrupted"))
            raise
        except Exception as error:  # noqa: BLE001  a bug must not leave the stream open
            self._report(error)
            await self._fail(ArchivoltError("internal"))
        finally:
            watching.cancel()
            await asyncio.to_thread(self.plan.chosen.model.withdraw)
            self._events.emit(
                MessageEnd(
                    input_tokens=self.used.input,
                    output_tokens=self.used.output,
                    tool_calls=len(self.progress.calls),
                    stopped=self.stopped,
                )
            )
            self._events.close()
            self._over.set()

    async def _answer(self) -> None:
        progress = self.progress
        reason = await self._loop.run(self.plan.start, progress)
        self.stopped = reason is StopReason.STOPPED
        if warning := self.plan.chosen.model.warning:
            self._notify(budget_notice(warning, self.plan.language))
        if reason is StopReason.WAITING:
            self.citations = progress.collector.named_in(progress.text)
        else:
            if reason is not StopReason.ANSWERED:
                self._explain(reason)
            self.citations = progress.collector.used_in(progress.text, progress.sources)
        if self.citations:
            self._events.emit(Citations(items=self.citations))
        await asyncio.to_thread(self._store)
        # Only now: whoever answers at once has to find what waits.
        self.confirmations = confirmations_in(progress.state)
        for confirmation in self.confirmations:
            self._events.emit(confirmation)

    def _explain(self, reason: StopReason) -> None:
        """Tell why the loop stopped; without any text the turn has failed, if no person did it."""
        if exhausted := self.progress.exhausted:
            if not self.progress.text.strip():
                raise exhausted
            message = exhausted.message(self.plan.language)
            self._notify(Notice(code=exhausted.code, message=message))
            return
        limits = self.plan.limits
        limit = {
            StopReason.ANSWER_CUT: self.plan.chosen.max_tokens,
            StopReason.TOO_LONG: limits.seconds,
            StopReason.TOO_MANY_STEPS: limits.steps,
            StopReason.TOO_MANY_CALLS: limits.tool_calls,
        }.get(reason)
        details = {} if limit is None else {"limit": limit}
        if not (self.stopped or self.progress.text.strip()):
            raise UnavailableError(reason.value, **details)
        message = message_for(reason.value, self.plan.language, details)
        self._notify(Notice(code=reason.value, message=message))

    def _notify(self, notice: Notice) -> None:
        self.progress.notices.append(notice)
        self._events.emit(notice)

    def _store(self) -> None:
        """Keep the answer and give the conversation back; excerpts are content: left out (S25)."""
        conversation, progress = self.plan.conversation, self.progress
        answer = Message(
            number=conversation.message_count + 1,
            author=Author.ASSISTANT,
            text=progress.text,
            written_at=self._clock.now(),
            tool_calls=tuple(progress.calls),
            citations=tuple(replace(citation, excerpt="") for citation in self.citations),
            input_tokens=self.used.input,
            output_tokens=self.used.output,
            private=self.plan.start.state.private or progress.private,
            stopped=self.stopped,
        )
        self._conversations.append(conversation, [answer], waiting=self._kept())

    def _kept(self) -> WaitingTurn | None:
        """Return the turn as it waits for a person, if it does."""
        plan, progress = self.plan, self.progress
        if progress.state is None:
            return None
        turn = KeptTurn(
            state=progress.state,
            provider=plan.chosen.provider,
            model=plan.chosen.name,
            language=plan.answers_in,
            passages=progress.collector.passages,
        )
        return self._waiting.seal(plan.conversation, turn)

    async def _fail(self, error: ArchivoltError) -> None:
        """Tell the failure and give the conversation back without an answer."""
        self.error = error
        message = error.message(self.plan.language)
        self._events.emit(Failure(code=error.code, message=message))
        with suppress(ArchivoltError):  # then the claim ends by itself
            await asyncio.to_thread(self._conversations.append, self.plan.conversation, [])


def confirmations_in(state: LoopState | None) -> tuple[ConfirmationRequired, ...]:
    """Return what a loop that waits asks of the person, in the order of its calls."""
    return tuple(
        ConfirmationRequired(
            confirmation_token=waiting.token,
            tool_id=waiting.call.id,
            tool_name=waiting.call.name,
            preview=waiting.preview,
            expires_at=waiting.expires_at,
            question=waiting.question,
        )
        for waiting in (state.waiting if state else ())
    )
