"""What a person is told of the documents they ask about that the model is not given."""

from typing import Final

from archivolt.chat.providers import ChosenModel
from archivolt.domain.limits import MAX_EXTRACTED_CHARS
from archivolt.domain.messages import Language, message_for
from archivolt.domain.stream import Notice
from archivolt.domain.tool import JsonObject
from archivolt.vaults.content_types import content_type_of, is_image

# How many documents of one reason are named.
_NAMED: Final = 5
# What is beyond the limits is told in the guide, what is gone since it was listed is not missed.
_UNTOLD: Final = frozenset({"", "file_not_found", "no_room", "shown_as_image"})


def not_given(
    scope: JsonObject | None, chosen: ChosenModel, language: Language
) -> tuple[Notice, ...]:
    """Return one notice for each reason, in its words, with the documents it holds for."""
    paths: dict[str, list[str]] = {}
    for document in scope["documents"] if scope else ():
        reason = _reason(document, chosen)
        if reason not in _UNTOLD:
            paths.setdefault(reason, []).append(document["path"])
    return tuple(_notice(reason, some, chosen, language) for reason, some in paths.items())


def _reason(document: JsonObject, chosen: ChosenModel) -> str:
    unread: str = document.get("unread", "")
    if unread in _UNTOLD:
        return unread
    if is_image(content_type_of(document["path"])) and not chosen.sees:
        return "vision_unsupported"
    return "unsupported_format" if unread == "file_not_text" else unread


def _notice(reason: str, paths: list[str], chosen: ChosenModel, language: Language) -> Notice:
    more = [f"+{len(paths) - _NAMED}"] if len(paths) > _NAMED else []
    why = message_for(reason, language, {"model": chosen.name, "limit": MAX_EXTRACTED_CHARS})
    documents = ", ".join([*paths[:_NAMED], *more])
    told = message_for("context_not_given", language, {"why": why, "documents": documents})
    return Notice(code=reason, message=told)
