"""Asking the model of a loop, in the chat and in a run alike: an answer, or a summary.

What to ask is decided by `archivolt.agent.step`; what to do with it, by whoever drives the loop.
"""

from collections.abc import Callable, Sequence
from contextlib import aclosing
from dataclasses import replace
from typing import Final

from archivolt.agent.state import LoopLimits, LoopState
from archivolt.agent.step import CallModel, Summarise
from archivolt.agent.summaries import summary_request
from archivolt.agent.window import (
    earlier_turns,
    tokens_of,
    with_summary,
    without_old_results,
    without_results,
)
from archivolt.chat.providers import ChosenModel
from archivolt.chat.toolbox import Toolbox
from archivolt.domain.errors import InvalidRequestError
from archivolt.domain.limits import MAX_SUMMARY_TOKENS, MIN_CONTEXT_TOKENS
from archivolt.domain.messages import Language
from archivolt.domain.usage import Tokens
from archivolt.governance.request_size import estimated_tokens, worst_case
from archivolt.ports.chat_model import ModelMessage, ModelRequest, ModelTurn, TextDelta

MAX_NARROWED: Final = 2
"""How often a loop shows a model less after it complained of too much."""


class ModelCalls:
    """Asks one model, with the tools of one loop.

    Args:
        chosen: The model.
        toolbox: The tools.
        limits: The brakes; `self.limits` are these, with the room that tools and answer leave.
        language: The answer's.

    """

    def __init__(
        self, chosen: ChosenModel, toolbox: Toolbox, *, limits: LoopLimits, language: Language
    ) -> None:
        self._chosen = chosen
        self._language = language
        self._toolbox = toolbox
        room = max(limits.context_tokens - self._taken, MIN_CONTEXT_TOKENS)
        self.limits = replace(limits, context_tokens=room)
        self._narrowed = 0

    def admit(self, messages: Sequence[ModelMessage]) -> None:
        """Set aside what an answer to these messages may cost; this blocks.

        Raises:
            BudgetExceededError: `budget_exceeded`, `daily_tokens_exceeded`.
            UnavailableError: `unavailable`.

        """
        self._chosen.model.admit(self._request(messages))

    def worst_case(self, messages: Sequence[ModelMessage]) -> Tokens:
        """Return what an answer to these messages uses at most."""
        return worst_case(self._request(messages))

    async def answer(
        self, state: LoopState, action: CallModel, say: Callable[[str], None]
    ) -> ModelTurn:
        """Return what the model answers; `say` is given each piece of its text as it comes.

        Where the model turns out to have a smaller window than we knew, less is shown to it.

        Raises:
            ArchivoltError: The model failed.

        """
        messages, told = tuple(state.messages), list[str]()

        def tell(text: str) -> None:
            told.append(text)
            say(text)

        while True:
            request = self._request(messages, answer_only=action.answer_only)
            try:
                return await self._turn(request, tell)
            except InvalidRequestError as error:
                fitted = None if told else self._narrower(messages, error)
                if fitted is None or fitted == messages:
                    raise
                messages = fitted

    async def summary(self, action: Summarise) -> ModelTurn:
        """Return what the model makes of earlier turns.

        Raises:
            ArchivoltError: The model failed.

        """
        request = ModelRequest(
            messages=summary_request(action.messages, self.limits.context_tokens, self._language),
            model=self._chosen.name,
            max_tokens=min(self._chosen.max_tokens, MAX_SUMMARY_TOKENS),
            language=self._language.value,
        )
        return await self._turn(request, lambda _: None)

    @property
    def _taken(self) -> int:
        """What tools and answer leave no room for."""
        sizes = sum(tool.size for tool in self._toolbox.declarations())
        return self._chosen.max_tokens + estimated_tokens(sizes)

    def _narrower(
        self, messages: tuple[ModelMessage, ...], error: InvalidRequestError
    ) -> tuple[ModelMessage, ...] | None:
        """Return what to show instead after a complaint that it was too much, and keep to that.

        None: the complaint is another, or was heard too often.
        """
        window = error.details.get("window")
        if not isinstance(window, int) or self._narrowed >= MAX_NARROWED:
            return None
        self._narrowed += 1
        # Some do not say how much they take.
        room = window - self._taken if window else tokens_of(messages) // 2
        room = max(min(room, self.limits.context_tokens), MIN_CONTEXT_TOKENS)
        self.limits = replace(self.limits, context_tokens=room)
        fitted = without_old_results(messages, room)
        if fitted is None and earlier_turns(messages):
            messages = with_summary(messages, "")
        return fitted or without_results(messages, room)

    def _request(
        self, messages: Sequence[ModelMessage], *, answer_only: bool = False
    ) -> ModelRequest:
        # Each time anew: a server of others can drop out half-way.
        declarations = self._toolbox.declarations()
        return ModelRequest(
            messages=messages,
            model=self._chosen.name,
            max_tokens=self._chosen.max_tokens,
            tools=declarations,
            answer_only=answer_only and bool(declarations),
            language=self._language.value,
        )

    async def _turn(self, request: ModelRequest, say: Callable[[str], None]) -> ModelTurn:
        turn: ModelTurn | None = None
        async with aclosing(self._chosen.model.create_message(request)) as events:
            async for event in events:
                if not isinstance(event, TextDelta):
                    turn = event
                elif event.text:  # what nobody is shown comes without words
                    say(event.text)
        assert turn is not None, "a model ends with its turn"  # noqa: S101  the port says so
        return turn
