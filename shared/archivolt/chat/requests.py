"""What a person asks for in one turn (decision 4)."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Final

from archivolt.domain.conversation import ConversationId
from archivolt.domain.errors import InvalidRequestError
from archivolt.domain.limits import MAX_MESSAGE_CHARS
from archivolt.domain.tool import JsonObject

# What is kept of a message without words: images are not (S24).
_ONLY_IMAGES: Final = "[image]"


class ContextKind(StrEnum):
    """What the question is about (O2)."""

    GENERAL = "general"
    DIRECTORY = "directory"
    DOCUMENTS = "documents"


class PlaceKind(StrEnum):
    """What a place in a vault is."""

    FILE = "file"
    DIRECTORY = "directory"


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """A file or directory a person points at; names as they were sent. "" is a vault's root."""

    kind: PlaceKind
    vault: str
    path: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class TurnRequest:
    """One message and how to answer it.

    `conversation_id` None starts a conversation; an empty `provider` or `model` means the
    configured one. `images` are addresses: `data:…` or `vault://…`. `places` are those of the
    context first, then the ad-hoc ones (O76). `confirm` and `decline` are tokens of changes that
    wait in the conversation; with any, the text may be "". `answers` are to what tools ask there,
    by the token and by the question. `skill` is the id of the method to
    follow; "" leaves the choice to the words of the text.
    """

    text: str
    conversation_id: ConversationId | None = None
    context: ContextKind = ContextKind.GENERAL
    places: tuple[Place, ...] = ()
    provider: str = ""
    model: str = ""
    use_tools: bool = True
    images: tuple[str, ...] = ()
    skill: str = ""
    confirm: tuple[str, ...] = ()
    decline: tuple[str, ...] = ()
    answers: Mapping[str, Mapping[str, JsonObject]] = field(
        default_factory=dict[str, Mapping[str, JsonObject]]
    )

    @property
    def decides(self) -> bool:
        """Whether it decides on changes that wait."""
        return bool(self.confirm or self.decline or self.answers)


def readable(text: str, *, beside: bool = False) -> str:
    """Return what a person sent as it is kept: whole characters, no space around.

    With something `beside` it, such as images, it may be "".

    Raises:
        InvalidRequestError: `invalid_request`: it says nothing, or is too long.

    """
    sent = text.encode("utf-16-le", "surrogatepass")
    kept = sent.decode("utf-16-le", "replace").strip()
    if not (kept or beside) or len(kept) > MAX_MESSAGE_CHARS:
        raise InvalidRequestError("invalid_request", problem="message_size")
    return kept


def text_of(request: TurnRequest) -> str:
    """Return a message as it is kept.

    Raises:
        InvalidRequestError: `invalid_request`: it says and shows nothing, or is too long.

    """
    text = readable(request.text, beside=bool(request.images) or request.decides)
    return text or (_ONLY_IMAGES if request.images else "")
