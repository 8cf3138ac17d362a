"""One turn of a conversation: a message in, an answer out, as a stream of events (decision 4).

A turn runs on its own once it has started: whoever listens may go away, the answer is finished and
stored all the same. What is stored is what S24 and S25 allow, and only of turns that succeeded.
"""

import asyncio
import uuid
from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import timedelta
from functools import partial
from typing import Protocol

from archivolt.agent.state import LoopLimits
from archivolt.chat.beginnings import (
    Prepared,
    give_sources,
    loop_start,
    rules_for,
    with_question,
)
from archivolt.chat.history import title_of
from archivolt.chat.images import ImageReader
from archivolt.chat.language import answer_language
from archivolt.chat.loop import TurnLoop
from archivolt.chat.not_given import not_given
from archivolt.chat.outside import Outside
from archivolt.chat.pipeline import Pipeline
from archivolt.chat.providers import ChosenModel, ModelSelector
from archivolt.chat.requests import TurnRequest, text_of
from archivolt.chat.running import EventQueue, RunningTurn, TurnPlan
from archivolt.chat.scope import ScopeCollector, scope_for
from archivolt.chat.skills import SkillService, chosen_skill
from archivolt.chat.stopping import Pause, Stop, once_free
from archivolt.chat.toolbox import Toolbox
from archivolt.chat.waiting import WaitingTurns, answers_of, decisions_of
from archivolt.domain.conversation import Conversation, ConversationId
from archivolt.domain.errors import (
    ArchivoltError,
    ConflictError,
    InvalidRequestError,
    NotFoundError,
)
from archivolt.domain.identity import Principal
from archivolt.domain.limits import TURN_GRACE_SECONDS
from archivolt.domain.messages import Language
from archivolt.domain.tool import Surface, ToolSpec
from archivolt.ports.clock import Clock
from archivolt.ports.conversations import ConversationStore


class ToolList(Protocol):
    """Lists tools."""

    def specs(self, surface: Surface) -> list[ToolSpec]:
        """Return the tools of a surface."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class TurnSupport:
    """The collaborators of a turn; `count` holds its person to the rate limit.

    `pause` waits for a number of seconds between two looks whether the person wants it ended.
    """

    conversations: ConversationStore
    models: ModelSelector
    tools: ToolList
    pipeline: Pipeline
    scopes: ScopeCollector
    skills: SkillService
    images: ImageReader
    waiting: WaitingTurns
    clock: Clock
    limits: LoopLimits
    outside: Outside
    count: Callable[[Principal], None] = lambda principal: None  # noqa: ARG005  nobody is held
    pause: Pause = asyncio.sleep


class SendMessage:
    """Starts turns, and takes up those that waited for a person.

    Args:
        support: The collaborators.
        report: Is told of exceptions nobody expected.

    """

    def __init__(self, support: TurnSupport, report: Callable[[BaseException], None]) -> None:
        self._with = support
        self._report = report
        self._running: set[asyncio.Task[None]] = set()

    async def start(
        self, principal: Principal, request: TurnRequest, *, language: Language
    ) -> RunningTurn:
        """Check everything that can be checked, claim the conversation, and start the turn.

        Raises:
            InvalidRequestError: An empty message, images for a model without eyes or that are
                none, a place or a provider that does not exist.
            NotFoundError: `conversation_not_found`: absent, or another person's; or a place;
                `skill_not_found`.
            TooLargeError: `image_too_large`.
            ConflictError: `conversation_busy`, `confirmation_not_waiting`.
            ForbiddenError, RateLimitedError: `chat_disabled`; `rate_limited`.
            BudgetExceededError: `budget_exceeded`, `daily_tokens_exceeded`.

        """
        counting = asyncio.create_task(asyncio.to_thread(self._with.count, principal))
        try:
            request = replace(request, text=text_of(request))
            prepared = await self._prepared(principal, request, language, counting)
        except ArchivoltError:
            await counting  # whoever may not come in hears that, whatever else is wrong
            raise
        before = prepared.conversation
        asked = with_question(before, request, self._with.clock.now())
        turn = self._turn(principal, request, language, replace(prepared, conversation=asked))
        # Whoever cannot pay for an answer finds the conversation as it was.
        await asyncio.to_thread(turn.admit)
        claimed = await self._begun(turn, before, request)
        turn.plan = replace(turn.plan, conversation=claimed)
        task = asyncio.create_task(turn.run())
        self._running.add(task)
        task.add_done_callback(self._running.discard)
        silent = prepared.outside.silent
        task.add_done_callback(lambda _: self._with.outside.ask_again(principal, silent))
        return turn

    async def drain(self, seconds: float) -> None:
        """Let running turns end, for at most so long; then cancel them, and they say so."""
        if not self._running:
            return
        _, unfinished = await asyncio.wait(self._running, timeout=seconds)
        for task in unfinished:
            task.cancel()
        await asyncio.gather(*unfinished, return_exceptions=True)

    async def _prepared(
        self,
        principal: Principal,
        request: TurnRequest,
        language: Language,
        counting: asyncio.Task[None],
    ) -> Prepared:
        """Look up side by side what a turn needs; a word on what waits goes to its own model."""
        conversation, chosen, scope, skills, outside, _ = await asyncio.gather(
            once_free(
                partial(self._conversation, principal, request), self._with.clock, self._with.pause
            ),
            asyncio.to_thread(self._choose, principal, request),
            asyncio.to_thread(self._with.scopes.collect, principal, request),
            asyncio.to_thread(self._with.skills.own, principal),
            asyncio.to_thread(self._with.outside.offered, principal),
            counting,
        )
        waits = conversation.waiting is not None
        kept = await asyncio.to_thread(self._with.waiting.of, conversation) if waits else None
        decisions = decisions_of(request, kept)
        if kept and not request.text and not (request.provider or request.model):
            same = replace(request, provider=kept.provider, model=kept.model)
            chosen = await asyncio.to_thread(self._choose, principal, same)
        scope = scope_for(scope, chosen)
        shown, images = self._with.images.shown, ()
        if scope or request.images:
            scope, images = await asyncio.to_thread(shown, principal, request.images, scope, chosen)
        answers_in = answer_language(request.text, kept.language if kept else language)
        return Prepared(
            chosen=chosen,
            conversation=conversation,
            scope=scope,
            kept=kept,
            decisions=decisions,
            images=images,
            answers_in=answers_in,
            skill=chosen_skill(request, skills, language=answers_in, routed=chosen.has_skills),
            outside=outside,
            answers=answers_of(request, kept),
        )

    def _choose(self, principal: Principal, request: TurnRequest) -> ChosenModel:
        chosen = self._with.models.select(principal, provider=request.provider, model=request.model)
        if request.images and not chosen.sees:
            raise InvalidRequestError("vision_unsupported", model=chosen.name)
        return chosen

    def _conversation(self, principal: Principal, request: TurnRequest) -> Conversation:
        """Return the caller's conversation, or a new one that is not stored yet."""
        now = self._with.clock.now()
        if request.conversation_id is None:
            return Conversation(
                id=ConversationId(uuid.uuid4().hex),
                tenant=principal.tenant,
                owner=principal.user,
                title=title_of(request.text),
                created_at=now,
                updated_at=now,
            )
        found = self._with.conversations.latest(principal.tenant, request.conversation_id)
        if found.owner != principal.user:
            raise NotFoundError("conversation_not_found")
        return found

    async def _begun(
        self, turn: RunningTurn, before: Conversation, request: TurnRequest
    ) -> Conversation:
        """Claim the conversation while the ledger notes that the model is asked."""
        model = turn.plan.chosen.model
        claimed, noted = await asyncio.gather(
            asyncio.to_thread(self._claim, before, turn.plan.conversation, request),
            asyncio.to_thread(model.mark_sent),
            return_exceptions=True,
        )
        if isinstance(claimed, BaseException) or noted is not None:
            await asyncio.to_thread(model.withdraw)
        if isinstance(claimed, BaseException):
            raise claimed
        return claimed

    def _claim(
        self, before: Conversation, asked: Conversation, request: TurnRequest
    ) -> Conversation:
        """Store the question, if any, and hold the conversation until the turn must be over."""
        now = self._with.clock.now()
        busy_until = now + timedelta(seconds=self._with.limits.seconds + TURN_GRACE_SECONDS)
        if request.conversation_id is None:
            begun = replace(asked, busy_until=busy_until)
            self._with.conversations.create(begun)
            return begun
        said = list(asked.messages[len(before.messages) :])
        try:
            return self._with.conversations.append(before, said, busy_until=busy_until)
        except ConflictError as error:
            raise ConflictError("conversation_busy") from error

    def _turn(
        self,
        principal: Principal,
        request: TurnRequest,
        language: Language,
        prepared: Prepared,
    ) -> RunningTurn:
        theirs, chosen = prepared.answers_in, prepared.chosen.within(prepared.conversation.id)
        toolbox = self._toolbox(principal, request, prepared)
        rules = rules_for(self._with.clock.now().date(), theirs, prepared, toolbox)
        events = EventQueue()
        loop = TurnLoop(
            chosen,
            toolbox,
            limits=replace(self._with.limits, context_tokens=chosen.context_tokens),
            language=theirs,
            clock=self._with.clock,
            emit=events.emit,
            stop=Stop(self._with.pause),
        )
        plan = TurnPlan(
            conversation=prepared.conversation,
            chosen=chosen,
            language=language,
            answers_in=theirs,
            limits=self._with.limits,
            start=loop_start(request, rules, prepared, toolbox),
            skill=prepared.skill,
            notices=(
                *not_given(prepared.scope, chosen, language),
                *(prepared.outside.notices(language) if request.use_tools else ()),
            ),
        )
        turn = self._made(plan, loop, events)
        give_sources(turn, prepared)
        return turn

    def _made(self, plan: TurnPlan, loop: TurnLoop, events: EventQueue) -> RunningTurn:
        return RunningTurn(
            plan,
            loop,
            events,
            conversations=self._with.conversations,
            waiting=self._with.waiting,
            clock=self._with.clock,
            report=self._report,
        )

    def _toolbox(self, principal: Principal, request: TurnRequest, prepared: Prepared) -> Toolbox:
        others = prepared.outside.tools
        specs = [*self._with.tools.specs(Surface.IN_APP), *(tool.spec for tool in others)]
        return Toolbox(
            self._with.pipeline.with_tools(others),
            specs if request.use_tools else [],
            principal,
            prepared.answers_in,
            reaches_out=prepared.chosen.reaches_out,
        )
