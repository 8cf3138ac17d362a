"""A turn that has started: its events, its end, and what is kept of it.

It does not depend on a listener: events wait in a queue, and the turn goes on if nobody takes them.
"""

import asyncio
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace

from archivolt.agent.state import LoopLimits, StopReason
from archivolt.chat.loop import Progress, TurnLoop
from archivolt.domain.conversation import Author, Citation, Conversation, Message
from archivolt.domain.errors import ArchivoltError, UnavailableError
from archivolt.domain.messages import Language, message_for
from archivolt.domain.stream import (
    Citations,
    Failure,
    MessageEnd,
    MessageStart,
    Notice,
    StreamEvent,
)
from archivolt.ports.chat_model import ModelMessage
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
    """What a turn is about, fixed before it starts; `language` is that of errors and notices."""

    conversation: Conversation
    model: str
    max_tokens: int
    language: Language
    limits: LoopLimits
    messages: Sequence[ModelMessage]


class RunningTurn:
    """Runs the loop, tells how it ends, and stores the answer of a turn that succeeded."""

    def __init__(
        self,
        plan: TurnPlan,
        loop: TurnLoop,
        events: EventQueue,
        *,
        conversations: ConversationStore,
        clock: Clock,
        report: Callable[[BaseException], None],
    ) -> None:
        self.plan = plan
        self.progress = Progress()
        self.citations: tuple[Citation, ...] = ()
        self.error: ArchivoltError | None = None
        self._loop = loop
        self._events = events
        self._conversations = conversations
        self._clock = clock
        self._report = report
        self._over = asyncio.Event()

    async def next_event(self) -> StreamEvent | None:
        """Return the next event, None after `message_end`."""
        return await self._events.next()

    async def wait(self) -> None:
        """Wait for the end, whatever it is; `error` tells whether the turn failed."""
        await self._over.wait()

    async def run(self) -> None:
        """Run to the end; `message_end` closes the stream whatever happens."""
        conversation = self.plan.conversation
        self._events.emit(MessageStart(conversation_id=conversation.id, model=self.plan.model))
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
            self._events.emit(
                MessageEnd(
                    input_tokens=self.progress.input_tokens,
                    output_tokens=self.progress.output_tokens,
                    tool_calls=len(self.progress.calls),
                )
            )
            self._events.close()
            self._over.set()

    async def _answer(self) -> None:
        reason = await self._loop.run(self.plan.messages, self.progress)
        if reason is not StopReason.ANSWERED:
            self._explain(reason)
        progress = self.progress
        self.citations = progress.collector.used_in(progress.text, progress.sources)
        if self.citations:
            self._events.emit(Citations(items=self.citations))
        await asyncio.to_thread(self._store)

    def _explain(self, reason: StopReason) -> None:
        """Tell why the loop stopped; without any text the turn has failed."""
        limits = self.plan.limits
        limit = {
            StopReason.ANSWER_CUT: self.plan.max_tokens,
            StopReason.TOO_LONG: limits.seconds,
            StopReason.TOO_MANY_STEPS: limits.steps,
            StopReason.TOO_MANY_CALLS: limits.tool_calls,
        }.get(reason)
        details = {} if limit is None else {"limit": limit}
        if not self.progress.text.strip():
            raise UnavailableError(reason.value, **details)
        message = message_for(reason.value, self.plan.language, details)
        notice = Notice(code=reason.value, message=message)
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
            input_tokens=progress.input_tokens,
            output_tokens=progress.output_tokens,
        )
        self._conversations.append(conversation, [answer])

    async def _fail(self, error: ArchivoltError) -> None:
        """Tell the failure and give the conversation back without an answer."""
        self.error = error
        message = error.message(self.plan.language)
        self._events.emit(Failure(code=error.code, message=message))
        with suppress(ArchivoltError):  # then the claim ends by itself
            await asyncio.to_thread(self._conversations.append, self.plan.conversation, [])
