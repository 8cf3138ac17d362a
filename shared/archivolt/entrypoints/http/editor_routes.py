"""The sixteen actions of the editor (decision 6, O3): `POST /api/v1/ai/{action}`."""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import aclosing
from typing import Annotated, Any, Final

from fastapi import APIRouter, Request
from fastapi.responses import StreamingResponse
from pydantic import BaseModel, ConfigDict, Field

from archivolt.chat.budget_notices import budget_notice
from archivolt.chat.editing import Edited, Editing, EditRequest
from archivolt.chat.sse import EVENT_STREAM_HEADERS, encode_event
from archivolt.domain.editor import EditorAction
from archivolt.domain.errors import ArchivoltError, NotFoundError
from archivolt.domain.limits import MAX_EDITOR_WISH_CHARS, MAX_MESSAGE_CHARS
from archivolt.domain.messages import Language, message_for
from archivolt.domain.stream import ContentDelta, Failure, MessageEnd, Notice, StreamEvent
from archivolt.entrypoints.http.authentication import InteractivePrincipal
from archivolt.entrypoints.http.chat_services import ChatServicesOf
from archivolt.entrypoints.http.conversation_bodies import NoticeBody, Usage
from archivolt.entrypoints.http.errors import language_for
from archivolt.entrypoints.http.heartbeats import kept_awake
from archivolt.entrypoints.http.message_bodies import Name

Short = Annotated[str, Field(max_length=60)]


class EditBody(BaseModel):
    """A text, and how to work on it."""

    model_config = ConfigDict(extra="forbid", hide_input_in_errors=True)

    text: str = Field(min_length=1, max_length=MAX_MESSAGE_CHARS)
    instruction: str = Field(
        default="", max_length=MAX_EDITOR_WISH_CHARS, description="What to heed beside the action."
    )
    target_lang: Short = Field(
        default="", description="For translate, such as `fr` or `German`; left out, the other one."
    )
    tone: Short = Field(default="", description="For tone, such as `formal`.")
    provider: Name | None = Field(default=None, description="Left out, the configured one.")
    model: Name | None = Field(default=None, description="Left out, the configured one.")
    stream: bool = Field(default=False, description="Events as they happen, or one JSON object.")


class EditAnswer(BaseModel):
    """What came of a text."""

    action: EditorAction
    text: str
    provider: str
    model: str
    usage: Usage
    notices: list[NoticeBody]


_DOCUMENTED: Final[dict[int | str, dict[str, Any]]] = {
    200: {
        "model": EditAnswer,
        "description": "One object, or with `stream: true` events (docs/chat-guide.md).",
        "content": {"text/event-stream": {"schema": {"type": "string"}}},
    }
}


def editor_router(services: ChatServicesOf) -> APIRouter:
    """Return the route of the actions; it takes whatever other routes leave."""
    router = APIRouter(tags=["models"])

    @router.post(
        "/{action}",
        summary="Work on a text",
        operation_id="edit_text",
        response_model=None,
        responses=_DOCUMENTED,
    )
    async def edit_text(  # pyright: ignore[reportUnusedFunction]
        request: Request, principal: InteractivePrincipal, action: str, body: EditBody
    ) -> StreamingResponse | EditAnswer:
        """Improve, correct, rephrase, shorten, expand, simplify, summarize, translate and more."""
        language = language_for(request)
        editing = await asyncio.to_thread(
            services().editor.begin, principal, _request(action, body), language=language
        )
        if body.stream:
            events = kept_awake(_stream(editing, language))
            return StreamingResponse(
                events, media_type="text/event-stream", headers=EVENT_STREAM_HEADERS
            )
        return await _answer(editing, action, language)

    return router


def _request(action: str, body: EditBody) -> EditRequest:
    if action not in set(EditorAction):
        raise NotFoundError("not_found")
    return EditRequest(
        action=EditorAction(action),
        text=body.text,
        wish=body.instruction,
        target=body.target_lang,
        tone=body.tone,
        provider=body.provider or "",
        model=body.model or "",
    )


async def _answer(editing: Editing, action: str, language: Language) -> EditAnswer:
    edited = [event async for event in editing.events() if isinstance(event, Edited)][-1]
    return EditAnswer(
        action=EditorAction(action),
        text=edited.text,
        provider=editing.chosen.provider,
        model=editing.chosen.name,
        usage=Usage(input_tokens=edited.input_tokens, output_tokens=edited.output_tokens),
        notices=[
            NoticeBody(code=notice.code, message=notice.message)
            for notice in _notices(edited, editing, language)
        ],
    )


async def _stream(editing: Editing, language: Language) -> AsyncGenerator[bytes, None]:
    end = MessageEnd(input_tokens=0, output_tokens=0, tool_calls=0)
    try:
        async with aclosing(editing.events()) as events:
            async for event in events:
                if isinstance(event, str):
                    yield encode_event(ContentDelta(text=event))
                    continue
                for notice in _notices(event, editing, language):
                    yield encode_event(notice)
                end = MessageEnd(
                    input_tokens=event.input_tokens,
                    output_tokens=event.output_tokens,
                    tool_calls=0,
                )
    except ArchivoltError as error:
        failure: StreamEvent = Failure(code=error.code, message=error.message(language))
        yield encode_event(failure)
    yield encode_event(end)


def _notices(edited: Edited, editing: Editing, language: Language) -> list[Notice]:
    warning = editing.chosen.model.warning
    notices = [budget_notice(warning, language)] if warning else []
    if edited.cut:
        message = message_for(edited.cut, language, {"limit": editing.request.max_tokens})
        notices.append(Notice(code=edited.cut, message=message))
    return notices
