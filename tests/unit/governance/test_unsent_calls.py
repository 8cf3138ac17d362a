"""A request that could not be written costs nothing: it left for nobody."""

import asyncio
from collections.abc import AsyncGenerator

import pytest

from archivolt.domain.usage import Balance
from archivolt.governance.metered_models import MeteredModel
from archivolt.ports.chat_model import (
    ModelEvent,
    ModelMessage,
    ModelRequest,
    TextDelta,
    UnsentError,
)
from tests.builders import ACME
from tests.unit.governance.test_metering import ACCOUNT, MONTH, Metering


class Unsent:
    """A model whose requests cannot be written."""

    async def create_message(self, request: ModelRequest) -> AsyncGenerator[ModelEvent, None]:
        if request.max_tokens:
            raise UnsentError
        yield TextDelta(text="never")


def test_a_call_that_never_left_is_given_back() -> None:
    metering = Metering()
    model = MeteredModel(Unsent(), ACCOUNT, metering.meter)
    question = ModelMessage(role="user", text="?")
    asked = ModelRequest(messages=[question], model="gpt-4o", max_tokens=50)

    async def ask() -> list[ModelEvent]:
        return [event async for event in model.create_message(asked)]

    with pytest.raises(UnsentError):
        asyncio.run(ask())

    assert metering.ledger.balance(ACME, MONTH) == Balance()
    assert metering.events.used == []
