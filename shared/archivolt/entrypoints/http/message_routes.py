"""Sending a message: a stream of events, or one JSON object (S26, S33)."""

import asyncio
from collections.abc import AsyncGenerator
from typing import Any, Final

from fastapi import APIRouter, Request
from fastapi.responses import StreamingResponse

from archivolt.chat.running import RunningTurn
from archivolt.chat.sse import EVENT_STREAM_HEADERS, HEARTBEAT, encode_event
from archivolt.domain.limits import HEARTBEAT_SECONDS
from archivolt.entrypoints.http.authentication import InteractivePrincipal
from archivolt.entrypoints.http.chat_services import ChatServicesOf
from archivolt.entrypoints.http.conversation_bodies import (
    Answer,
    CitationBody,
    ConfirmationBody,
    NoticeBody,
    ToolCallBody,
    Usage,
)
from archivolt.entrypoints.http.errors import language_for
from archivolt.entrypoints.http.message_bodies import MessageBody

_DOCUMENTED: Final[dict[int | str, dict[str, Any]]] = {
    200: {
        "model": Answer,
        "description": "Events (docs/chat-guide.md), or with `stream: false` one object.",
        "content": {"text/event-stream": {"schema": {"type": "string"}}},
    }
}


def message_router(services: ChatServicesOf) -> APIRouter:
    """Return the route of messages."""
    router = APIRouter(tags=["chat"])

    @router.post(
        "/messages",
        summary="Send a message and get an answer",
        operation_id="send_message",
        response_model=None,
        responses=_DOCUMENTED,
    )
    async def send_message(  # pyright: ignore[reportUnusedFunction]
        request: Request, principal: InteractivePrincipal, body: MessageBody
    ) -> StreamingResponse | Answer:
        """Answer with the documents the caller may read; the answer cites them."""
        turn = await services().send_message.start(
            principal, body.request(), language=language_for(request)
        )
        if body.stream:
            return StreamingResponse(
                event_stream(turn), media_type="text/event-stream", headers=EVENT_STREAM_HEADERS
            )
        await turn.wait()
        if turn.error is not None:
            raise turn.error
        return _answer(turn)

    return router


async def event_stream(
    turn: RunningTurn, heartbeat_seconds: float = HEARTBEAT_SECONDS
) -> AsyncGenerator[bytes, None]:
    """Yield the events of a turn as they come, and a comment whenever none came for a while."""
    while True:
        try:
            async with asyncio.timeout(heartbeat_seconds):
                event = await turn.next_event()
        except TimeoutError:
            yield HEARTBEAT
            continue
        if event is None:
            return
        yield encode_event(event)


def _answer(turn: RunningTurn) -> Answer:
    progress = turn.progress
    return Answer(
        conversation_id=turn.plan.conversation.id,
        model=turn.plan.chosen.name,
        text=progress.text,
        citations=[CitationBody.of(citation) for citation in turn.citations],
        tool_calls=[ToolCallBody.of(call) for call in progress.calls],
        usage=Usage(input_tokens=turn.used.input, output_tokens=turn.used.output),
        confirmations=[ConfirmationBody.of(each) for each in turn.confirmations],
        notices=[NoticeBody(code=each.code, message=each.message) for each in progress.notices],
        stopped=turn.stopped,
    )
