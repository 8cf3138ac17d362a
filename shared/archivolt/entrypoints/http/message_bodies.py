"""What `POST /chat/messages` takes and gives (decision 4, contract)."""

from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, field_validator

from archivolt.chat.requests import ContextKind, Place, PlaceKind, TurnRequest
from archivolt.domain.conversation import ConversationId
from archivolt.domain.limits import MAX_CONTEXT_FILES, MAX_MESSAGE_CHARS

Text = Annotated[str, Field(max_length=MAX_MESSAGE_CHARS)]
Name = Annotated[str, Field(max_length=200)]
PathText = Annotated[str, Field(max_length=2_000)]


class _Body(BaseModel):
    model_config = ConfigDict(extra="forbid", hide_input_in_errors=True)


class TextPart(_Body):
    """Text, as a part of a message."""

    type: Literal["text"]
    text: Text


class ImagePart(_Body):
    """An image, as a part of a message; for models that see."""

    type: Literal["image_url"]
    image_url: dict[str, Any]


class PlaceInVault(_Body):
    """A file or a directory of a vault."""

    vault: Name
    path: PathText = ""


class ContextBody(_Body):
    """What the question is about."""

    kind: ContextKind = ContextKind.GENERAL
    vault: Name = Field(default="", description="For directory and documents.")
    paths: list[PathText] = Field(
        default=[],
        max_length=MAX_CONTEXT_FILES,
        description="Directories, or files; for a directory left out, the whole vault.",
    )


class MessageBody(_Body):
    """A message, and how to answer it."""

    message: Text | list[Annotated[TextPart | ImagePart, Field(discriminator="type")]]
    conversation_id: Name | None = Field(
        default=None, description="Left out, a conversation is started."
    )
    context: ContextBody = Field(
        default_factory=ContextBody,
        description="An object, or just its kind with vault and paths beside it.",
    )
    vault: Name = ""
    paths: list[PathText] = Field(default=[], max_length=MAX_CONTEXT_FILES)
    extra_files: list[PlaceInVault] = Field(default=[], max_length=MAX_CONTEXT_FILES)
    extra_directories: list[PlaceInVault] = Field(default=[], max_length=MAX_CONTEXT_FILES)
    provider: Name | None = Field(default=None, description="Left out, the configured one.")
    model: Name | None = Field(default=None, description="Left out, the configured one.")
    tools: Literal["auto", "none"] = "auto"
    stream: bool = Field(default=True, description="Events as they happen, or one JSON object.")

    @field_validator("context", mode="before")
    @classmethod
    def _kind_alone(cls, context: object) -> object:
        return {"kind": context} if isinstance(context, str) else context

    def request(self) -> TurnRequest:
        """Return what is asked for in the chat's own words."""
        parts = self.message if isinstance(self.message, list) else []
        texts = [part.text for part in parts if isinstance(part, TextPart)]
        return TurnRequest(
            text=self.message if isinstance(self.message, str) else "\n\n".join(texts),
            has_images=any(isinstance(part, ImagePart) for part in parts),
            conversation_id=ConversationId(self.conversation_id) if self.conversation_id else None,
            context=self.context.kind,
            places=(*self._context_places(), *self._extra_places()),
            provider=self.provider or "",
            model=self.model or "",
            use_tools=self.tools == "auto",
        )

    def _context_places(self) -> list[Place]:
        vault = self.context.vault or self.vault
        paths = self.context.paths or self.paths
        match self.context.kind:
            case ContextKind.GENERAL:
                return []
            case ContextKind.DIRECTORY:
                kind = PlaceKind.DIRECTORY
                paths = paths or ([""] if vault else [])
            case ContextKind.DOCUMENTS:
                kind = PlaceKind.FILE
        return [Place(kind=kind, vault=vault, path=path) for path in paths]

    def _extra_places(self) -> list[Place]:
        return [
            Place(kind=kind, vault=place.vault, path=place.path)
            for kind, places in (
                (PlaceKind.FILE, self.extra_files),
                (PlaceKind.DIRECTORY, self.extra_directories),
            )
            for place in places
        ]
