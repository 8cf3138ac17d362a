"""What `POST /chat/messages` takes and gives (decision 4, contract)."""

from typing import Annotated, Any, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, field_validator, model_validator
from pydantic_core import PydanticCustomError

from archivolt.chat.requests import ContextKind, Place, PlaceKind, TurnRequest
from archivolt.domain.conversation import ConversationId
from archivolt.domain.federation_limits import (
    MAX_MCP_QUESTIONS,
)
from archivolt.domain.limits import (
    MAX_CONFIRMATION_TOKEN_CHARS,
    MAX_CONTEXT_FILES,
    MAX_IMAGE_ADDRESS_CHARS,
    MAX_MESSAGE_CHARS,
    MAX_SKILL_ID_CHARS,
    MAX_TOOL_CALLS,
)

Text = Annotated[str, Field(max_length=MAX_MESSAGE_CHARS)]
Name = Annotated[str, Field(max_length=200)]
Token = Annotated[str, Field(max_length=MAX_CONFIRMATION_TOKEN_CHARS)]
PathText = Annotated[str, Field(max_length=2_000)]


class _Body(BaseModel):
    model_config = ConfigDict(extra="forbid", hide_input_in_errors=True)


class TextPart(_Body):
    """Text, as a part of a message."""

    type: Literal["text"]
    text: Text


class ImageAddress(_Body):
    """Where an image is: in its address, or in a vault."""

    url: Annotated[str, Field(max_length=MAX_IMAGE_ADDRESS_CHARS)] = Field(
        description="`data:image/png;base64,…` or `vault://<vault>/<path>`."
    )
    detail: Literal["auto", "low", "high"] = Field(default="auto", description="Not used.")


class ImagePart(_Body):
    """An image, as a part of a message; for models that see."""

    type: Literal["image_url"]
    image_url: ImageAddress

    @property
    def address(self) -> str:
        """Where the image is."""
        return self.image_url.url


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


class PlacesBody(_Body):
    """The part of the vaults that a question is about."""

    context: ContextBody = Field(
        default_factory=ContextBody,
        description="An object, or just its kind with vault and paths beside it.",
    )
    vault: Name = ""
    paths: list[PathText] = Field(default=[], max_length=MAX_CONTEXT_FILES)
    extra_files: list[PlaceInVault] = Field(default=[], max_length=MAX_CONTEXT_FILES)
    extra_directories: list[PlaceInVault] = Field(default=[], max_length=MAX_CONTEXT_FILES)

    @field_validator("context", mode="before")
    @classmethod
    def _kind_alone(cls, context: object) -> object:
        return {"kind": context} if isinstance(context, str) else context

    def places(self) -> tuple[Place, ...]:
        """Return the places, those of the context first."""
        return (*self._context_places(), *self._extra_places())

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


class AnswerBody(_Body):
    """A person's answers to what a tool of an MCP server asks."""

    confirmation_token: Token
    content: dict[Annotated[str, Field(max_length=200)], dict[str, Any]] = Field(
        default={},
        max_length=MAX_MCP_QUESTIONS,
        description="By the `id` of the question, the fields that its `parameters` name.",
    )


class MessageBody(PlacesBody):
    """A message, and how to answer it."""

    message: Text | list[Annotated[TextPart | ImagePart, Field(discriminator="type")]] = Field(
        default="", description="May be left out beside `confirm` or `decline`."
    )
    conversation_id: Name | None = Field(
        default=None, description="Left out, a conversation is started."
    )
    provider: Name | None = Field(default=None, description="Left out, the configured one.")
    model: Name | None = Field(default=None, description="Left out, the configured one.")
    tools: Literal["auto", "none"] = "auto"
    skill: Annotated[str, Field(max_length=MAX_SKILL_ID_CHARS)] = Field(
        default="", description="The method to follow; left out, the one that fits, if any does."
    )
    confirm: list[Token] = Field(
        default=[],
        max_length=MAX_TOOL_CALLS,
        description="Tokens of changes that wait in the conversation and shall be made.",
    )
    decline: list[Token] = Field(
        default=[],
        max_length=MAX_TOOL_CALLS,
        description="Tokens of changes that wait in the conversation and shall not be made.",
    )
    answers: list[AnswerBody] = Field(
        default=[],
        max_length=MAX_TOOL_CALLS,
        description="To questions that wait in the conversation.",
    )
    stream: bool = Field(default=True, description="Events as they happen, or one JSON object.")

    @model_validator(mode="after")
    def _says_something(self) -> Self:
        decides = bool(self.confirm or self.decline or self.answers)
        if not (decides or "message" in self.model_fields_set):
            raise PydanticCustomError("missing", "{field} is missing", {"field": "message"})
        if decides and not self.conversation_id:
            raise PydanticCustomError("missing", "{field} is missing", {"field": "conversation_id"})
        return self

    def request(self) -> TurnRequest:
        """Return what is asked for in the chat's own words."""
        parts = self.message if isinstance(self.message, list) else []
        texts = [part.text for part in parts if isinstance(part, TextPart)]
        return TurnRequest(
            text=self.message if isinstance(self.message, str) else "\n\n".join(texts),
            images=tuple(part.address for part in parts if isinstance(part, ImagePart)),
            conversation_id=ConversationId(self.conversation_id) if self.conversation_id else None,
            context=self.context.kind,
            places=self.places(),
            provider=self.provider or "",
            model=self.model or "",
            use_tools=self.tools == "auto",
            skill=self.skill,
            confirm=tuple(self.confirm),
            decline=tuple(self.decline),
            answers={each.confirmation_token: each.content for each in self.answers},
        )
