"""What a question about a part of the vaults gives to the model, before it is asked (O11)."""

from fastapi import APIRouter
from pydantic import BaseModel, Field

from archivolt.chat.requests import TurnRequest
from archivolt.entrypoints.http.authentication import InteractivePrincipal
from archivolt.entrypoints.http.chat_services import ChatServicesOf
from archivolt.entrypoints.http.message_bodies import PlacesBody


class ContextDocument(BaseModel):
    """A document of a context, and how much of it the model is given."""

    uri: str
    vault: str
    path: str
    characters: int = Field(description="Of its text, secrets taken out; 0 if it is not read.")
    is_whole: bool
    unread: str | None = Field(default=None, description="Why it is not read, a code.")
    excerpt: str = Field(description="How it begins.")


class ContextPreview(BaseModel):
    """What the model would be given beside the question."""

    documents: list[ContextDocument]
    files: list[str] = Field(description="The files in the directories, as `vault://` URIs.")
    characters: int = Field(description="Of all documents; a model's window may hold fewer.")


_EXCERPT_CHARS = 200


def context_router(services: ChatServicesOf) -> APIRouter:
    """Return the route of the preview."""
    router = APIRouter(tags=["chat"])

    @router.post(
        "/context", summary="See what a context gives to the model", operation_id="preview_context"
    )
    def preview_context(  # pyright: ignore[reportUnusedFunction]
        principal: InteractivePrincipal, body: PlacesBody
    ) -> ContextPreview:
        """Collect a context as a message would, and ask no model."""
        request = TurnRequest(text="", context=body.context.kind, places=body.places())
        scope = services().scopes.collect(principal, request) or {"documents": [], "files": []}
        documents = [
            ContextDocument(
                uri=document["uri"],
                vault=document["vault"],
                path=document["path"],
                characters=len(document.get("content", "")),
                is_whole=document.get("is_whole", False),
                unread=document.get("unread"),
                excerpt=document.get("content", "")[:_EXCERPT_CHARS],
            )
            for document in scope["documents"]
        ]
        return ContextPreview(
            documents=documents,
            files=scope["files"],
            characters=sum(document.characters for document in documents),
        )

    return router
