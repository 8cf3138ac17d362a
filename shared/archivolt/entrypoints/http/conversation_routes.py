"""Listing, reading, renaming and deleting conversations (S27 to S30)."""

from typing import Annotated

from fastapi import APIRouter, Query, Response

from archivolt.domain.limits import DEFAULT_CONVERSATIONS, MAX_CONVERSATIONS
from archivolt.entrypoints.http.authentication import InteractivePrincipal
from archivolt.entrypoints.http.chat_services import ChatServicesOf
from archivolt.entrypoints.http.conversation_bodies import (
    ConversationBody,
    ConversationPage,
    ConversationSummary,
    Rename,
)

Limit = Annotated[int, Query(ge=1, le=MAX_CONVERSATIONS)]
After = Annotated[str | None, Query(max_length=500, description="`next_after` of a page.")]


def conversation_router(services: ChatServicesOf) -> APIRouter:
    """Return the routes of conversations."""
    router = APIRouter(tags=["chat"])
    _add_reading(router, services)
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
        found = service.read(principal, conversation_id)
        waiting = service.confirmations(principal, found)
        return ConversationBody.whole(found, service.now(), waiting)


def _add_changing(router: APIRouter, services: ChatServicesOf) -> None:
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
        """The owner or an administrator may; it is gone at once."""
        services().conversations.delete(principal, conversation_id)
        return Response(status_code=204)
