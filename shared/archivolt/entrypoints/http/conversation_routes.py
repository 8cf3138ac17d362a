"""Listing, reading, renaming and deleting conversations (S27 to S30)."""

from typing import Annotated, Literal

from fastapi import APIRouter, Query, Request, Response

from archivolt.chat.archive import as_markdown
from archivolt.domain.limits import DEFAULT_CONVERSATIONS, MAX_CONVERSATIONS, MAX_QUERY_CHARS
from archivolt.entrypoints.http.authentication import InteractivePrincipal
from archivolt.entrypoints.http.chat_services import ChatServicesOf
from archivolt.entrypoints.http.conversation_bodies import (
    ConversationBody,
    ConversationPage,
    ConversationSummary,
    FoundPage,
    Rename,
    Stopping,
)
from archivolt.entrypoints.http.errors import language_for

Words = Annotated[str, Query(min_length=1, max_length=MAX_QUERY_CHARS)]
Limit = Annotated[int, Query(ge=1, le=MAX_CONVERSATIONS)]
After = Annotated[str | None, Query(max_length=500, description="`next_after` of a page.")]


def conversation_router(services: ChatServicesOf) -> APIRouter:
    """Return the routes of conversations."""
    router = APIRouter(tags=["chat"])
    _add_search(router, services)
    _add_reading(router, services)
    _add_export(router, services)
    _add_changing(router, services)
    return router


def _add_reading(router: APIRouter, services: ChatServicesOf) -> None:
    @router.get(
        "/conversations", summary="List your conversations", operation_id="list_conversations"
    )
    def list_conversations(  # pyright: ignore[reportUnusedFunction]
        principal: InteractivePrincipal, limit: Limit = DEFAULT_CONVERSATIONS, after: After = None
    ) -> ConversationPage:
        """Return one page of your own conversations, last used first."""
        service = services().conversations
        page, next_after = service.page(principal, limit=limit, after=after)
        now = service.now()
        return ConversationPage(
            conversations=[ConversationSummary.of(each, now) for each in page],
            next_after=next_after,
        )

    @router.get(
        "/conversations/{conversation_id}",
        summary="Read a conversation",
        operation_id="read_conversation",
    )
    def read_conversation(  # pyright: ignore[reportUnusedFunction]
        principal: InteractivePrincipal, conversation_id: str
    ) -> ConversationBody:
        """Return a conversation with its messages, to its owner or an administrator."""
        service = services().conversations
        found = service.opened(principal, conversation_id)
        waiting = service.confirmations(principal, found)
        return ConversationBody.whole(found, service.now(), waiting)


def _add_search(router: APIRouter, services: ChatServicesOf) -> None:
    @router.get(
        "/conversations/search",
        summary="Find what was said in your conversations",
        operation_id="search_conversations",
    )
    def search_conversations(  # pyright: ignore[reportUnusedFunction]
        principal: InteractivePrincipal, q: Words, after: After = None
    ) -> FoundPage:
        """Look for words in titles and messages, a hundred conversations at a time."""
        service = services().conversations
        found, next_after = service.search(principal, q, after=after)
        return FoundPage.of(found, next_after, service.now())


def _add_export(router: APIRouter, services: ChatServicesOf) -> None:
    @router.get(
        "/conversations/{conversation_id}/export",
        summary="Take a conversation home",
        operation_id="export_conversation",
        response_class=Response,
        responses={200: {"content": {"text/markdown": {}, "application/json": {}}}},
    )
    def export_conversation(  # pyright: ignore[reportUnusedFunction]
        request: Request,
        principal: InteractivePrincipal,
        conversation_id: str,
        form: Annotated[Literal["json", "markdown"], Query(alias="format")] = "json",
    ) -> Response:
        """Return a conversation as a file, JSON or Markdown."""
        service = services().conversations
        found = service.opened(principal, conversation_id)
        if form == "json":
            whole = ConversationBody.whole(found, service.now(), ())
            content, kind = whole.model_dump_json(indent=2), "application/json"
        else:
            content, kind = as_markdown(found, language_for(request)), "text/markdown"
        ending = {"json": "json", "markdown": "md"}[form]
        name = f'attachment; filename="conversation-{found.id}.{ending}"'
        return Response(
            content.encode("utf-8", "replace"),
            media_type=f"{kind}; charset=utf-8",
            headers={"Content-Disposition": name, "Cache-Control": "no-store"},
        )


def _add_changing(router: APIRouter, services: ChatServicesOf) -> None:
    @router.post(
        "/conversations/{conversation_id}/stop",
        summary="Stop the answer that is being written",
        operation_id="stop_answer",
    )
    def stop_answer(  # pyright: ignore[reportUnusedFunction]
        principal: InteractivePrincipal, conversation_id: str
    ) -> Stopping:
        """Only the owner may, from any device; what is written so far is kept."""
        return Stopping(stopping=services().conversations.stop(principal, conversation_id))

    @router.patch(
        "/conversations/{conversation_id}",
        summary="Rename a conversation",
        operation_id="rename_conversation",
    )
    def rename_conversation(  # pyright: ignore[reportUnusedFunction]
        principal: InteractivePrincipal, conversation_id: str, body: Rename
    ) -> ConversationSummary:
        """Only the owner may."""
        service = services().conversations
        renamed = service.rename(principal, conversation_id, body.title)
        return ConversationSummary.of(renamed, service.now())

    @router.delete(
        "/conversations/{conversation_id}",
        status_code=204,
        summary="Delete a conversation and its messages",
        operation_id="delete_conversation",
    )
    def delete_conversation(  # pyright: ignore[reportUnusedFunction]
        principal: InteractivePrincipal, conversation_id: str
    ) -> Response:
        """The owner or an administrator may; it is gone at once. `Location` is of the receipt."""
        receipt = services().conversations.delete(principal, conversation_id)
        return Response(status_code=204, headers={"Location": f"/api/v1/erasures/{receipt.id}"})
