"""The models that people's requests reach: every call of theirs is metered.

This is the one way from the chat, the editor and the runs to a provider.
"""

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import aclosing
from dataclasses import replace
from functools import partial
from typing import Final

from archivolt.domain.errors import ArchivoltError, UnavailableError
from archivolt.domain.text_size import utf8_size
from archivolt.domain.usage import Account, BudgetWarning, Reservation, Tokens
from archivolt.governance.metering import Meter
from archivolt.governance.request_size import (
    estimated_answer,
    estimated_prompt,
    estimated_tokens,
    worst_case,
)
from archivolt.ports.chat_model import (
    ChatModel,
    ChatModels,
    ModelEvent,
    ModelRequest,
    ModelTurn,
    ProviderConnection,
    TextDelta,
    UnsentError,
)

# A provider that answers so has not begun to answer; silence and a broken line say nothing.
_UNCHARGED_REASONS: Final = ("HTTP ", "provider_unreachable")


class MeteredModels:
    """Opens models whose calls are metered."""

    def __init__(self, models: ChatModels, meter: Meter) -> None:
        self._models = models
        self._meter = meter

    def embedded(self) -> "MeteredModel":
        """Return the model that needs no provider: nothing leaves, and nothing is paid."""
        return MeteredModel(self._models.embedded(), None, self._meter)

    def connect(self, connection: ProviderConnection, account: Account) -> "MeteredModel":
        """Return the model behind an endpoint, for an account."""
        return MeteredModel(self._models.connect(connection), account, self._meter)


class MeteredModel:
    """A `ChatModel` for one account, None for one that costs nobody anything.

    Its first call may be admitted ahead, so that a person hears of an exhausted budget before
    anything has begun.
    """

    def __init__(self, model: ChatModel, account: Account | None, meter: Meter) -> None:
        self._model = model
        self._account = account
        self._meter = meter
        self._admitted: Reservation | None = None
        self.warning: BudgetWarning | None = None
        """Set once a call has left little of the budget."""
        self.used = Tokens(input=0, output=0)
        """What was charged so far, calls that broke off included."""

    def within(self, conversation: str) -> "MeteredModel":
        """Return the same model as it is asked in a conversation, or a run."""
        account = self._account and replace(self._account, conversation=conversation)
        return MeteredModel(self._model, account, self._meter)

    def admit(self, request: ModelRequest) -> None:
        """Set the next call's worst case aside; this blocks, `create_message` does not.

        Raises:
            BudgetExceededError: `budget_exceeded`, `daily_tokens_exceeded`.
            UnavailableError: `unavailable`.

        """
        if self._account is not None:
            self._admitted = self._meter.reserve(self._account, worst_case(request), sent=False)

    def mark_sent(self) -> None:
        """Note ahead that the admitted call leaves; this blocks."""
        if self._admitted is not None:
            self._admitted = self._meter.mark_sent(self._admitted)

    def withdraw(self) -> None:
        """Give back what was set aside for a call that is not made; this blocks."""
        admitted, self._admitted = self._admitted, None
        if admitted is not None:
            self._meter.give_back(admitted)

    async def create_message(self, request: ModelRequest) -> AsyncGenerator[ModelEvent, None]:
        """See `ChatModel.create_message`; the turn comes when it is accounted for.

        Raises:
            BudgetExceededError: `budget_exceeded`, `daily_tokens_exceeded`.

        """
        if self._account is None:
            call: _Call | None = None
        else:
            reservation = await self._reserved(self._account, request)
            reserve = partial(self._reserved, self._account)
            call = _Call(self._meter, self._account, reservation, request, reserve)
            request = replace(request, again=call.again)
        try:
            async with aclosing(self._model.create_message(request)) as events:
                async for event in events:
                    noted = await call.noted(event) if call else event
                    self.warning = (call and call.warning) or self.warning
                    yield noted
        except ArchivoltError as error:
            if call:
                await call.failed(error)
            raise
        except UnsentError:
            if call:
                await call.unsent()
            raise
        finally:
            if call:
                await call.ended()
                self.used += call.used

    async def _reserved(self, account: Account, request: ModelRequest) -> Reservation:
        worst = worst_case(request)
        if (ahead := self._paid_ahead(worst)) is not None:
            return ahead
        reserving = asyncio.create_task(asyncio.to_thread(self._reserve, account, worst))
        try:
            return await asyncio.shield(reserving)
        except asyncio.CancelledError:
            # The call never leaves.
            if not isinstance(outcome := (await _outcome(reserving)), BaseException):
                await asyncio.to_thread(self._meter.give_back, outcome)
            raise

    def _paid_ahead(self, worst: Tokens) -> Reservation | None:
        """Return what is set aside and marked already, if it is enough: no store is asked."""
        admitted = self._admitted
        if admitted is None or not admitted.sent or not _holds(admitted, worst):
            return None
        self._admitted = None
        return admitted

    def _reserve(self, account: Account, worst: Tokens) -> Reservation:
        admitted, self._admitted = self._admitted, None
        if admitted is not None:
            if _holds(admitted, worst):
                marked = admitted if admitted.sent else self._meter.mark_sent(admitted)
                if marked is not None:
                    return marked
            else:
                self._meter.give_back(admitted)
        return self._meter.reserve(account, worst, sent=True)


def _holds(reservation: Reservation, worst: Tokens) -> bool:
    held = reservation.worst
    return held.input >= worst.input and held.output >= worst.output


async def _outcome(task: "asyncio.Task[Reservation]") -> Reservation | BaseException:
    [outcome] = await asyncio.gather(task, return_exceptions=True)
    return outcome


class _Call:
    """One call that has left: what came of it so far.

    Its provider may be asked several times, each with a reservation of its own, from `reserve`.
    """

    def __init__(
        self,
        meter: Meter,
        account: Account,
        reservation: Reservation,
        request: ModelRequest,
        reserve: Callable[[ModelRequest], Awaitable[Reservation]],
    ) -> None:
        self._meter = meter
        self._account = account
        self._reservation = reservation
        self._request = request
        self.warning: BudgetWarning | None = None
        self.used = self._told = Tokens(input=0, output=0)
        self._reserve = reserve
        self._answered = 0
        self._received = 0
        self._open = True

    async def again(self, request: ModelRequest, came: ModelTurn | None) -> None:
        """Settle what was asked so far, and set aside what the provider is asked now.

        Raises:
            BudgetExceededError: `budget_exceeded`, `daily_tokens_exceeded`.

        """
        if came is None:
            await self._settle(Tokens(input=estimated_prompt(self._request), output=0), 0)
        else:
            told = Tokens(input=came.input_tokens, output=came.output_tokens)
            await self._settle(self._of(told, came), 0)
            self._told += told
            self._answered += estimated_answer(came)
        self._reservation = await self._reserve(request)
        self._request, self._received, self._open = request, 0, True

    async def noted(self, event: ModelEvent) -> ModelEvent:
        """Return an event as it goes on; a turn is settled first."""
        if isinstance(event, TextDelta):
            self._received += utf8_size(event.text) + event.unseen
            return event
        if not event.asked:
            await self._give_back()
            return event
        # What the turn tells, and says, is of all that was asked for it.
        told = Tokens(
            input=max(0, event.input_tokens - self._told.input),
            output=max(0, event.output_tokens - self._told.output),
        )
        await self._settle(self._of(told, event), len(event.tool_calls))
        return replace(event, input_tokens=self.used.input, output_tokens=self.used.output)

    def _of(self, told: Tokens, turn: ModelTurn) -> Tokens:
        """Return what an answer used: what it tells, else by estimate."""
        return Tokens(
            input=told.input or estimated_prompt(self._request),
            output=told.output or max(0, estimated_answer(turn) - self._answered),
        )

    async def failed(self, error: ArchivoltError) -> None:
        """Give a call back that its provider refused before it began to answer."""
        if self._open and not self._received and _is_uncharged(error):
            await self._give_back()

    async def unsent(self) -> None:
        """Give a call back that never left."""
        if self._open:
            await self._give_back()

    async def ended(self) -> None:
        """Charge a call that broke off for what is known: what was sent, and what came."""
        if self._open:
            received = estimated_tokens(self._received)
            await self._settle(Tokens(input=estimated_prompt(self._request), output=received), 0)

    async def _settle(self, used: Tokens, tool_calls: int) -> None:
        self._open = False
        self.used += used
        settling = asyncio.to_thread(
            self._meter.settle, self._account, self._reservation, used, tool_calls=tool_calls
        )
        warning = await asyncio.shield(asyncio.ensure_future(settling))
        self.warning = warning or self.warning

    async def _give_back(self) -> None:
        self._open = False
        giving = asyncio.to_thread(self._meter.give_back, self._reservation)
        await asyncio.shield(asyncio.ensure_future(giving))


def _is_uncharged(error: ArchivoltError) -> bool:
    if not isinstance(error, UnavailableError) or error.code == "provider_busy":
        return True
    return str(error.details.get("reason", "")).startswith(_UNCHARGED_REASONS)
