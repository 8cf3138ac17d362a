"""The prompts a person picks in their client (O24): each says which tools to use, and how.

Refuses to read any document: the model does, through the tools.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from mcp.shared.exceptions import MCPError
from mcp_types import (
    INVALID_PARAMS,
    GetPromptRequestParams,
    GetPromptResult,
    ListPromptsResult,
    PaginatedRequestParams,
    Prompt,
    PromptArgument,
    PromptMessage,
    TextContent,
)

from archivolt.domain.limits import MAX_PROMPT_ARGUMENT_CHARS
from archivolt.domain.messages import Message
from archivolt.entrypoints.mcp.caller import RequestContext, caller_of
from archivolt.entrypoints.mcp.cursors import require_no_cursor
from archivolt.entrypoints.mcp.prompt_texts import (
    DESCRIPTIONS,
    GENERATE,
    RELATED,
    ROOT,
    SOMEWHERE,
    SUMMARIZE,
)

_SHOWN_NAME: Final = 64
_VAULT: Final = PromptArgument(name="vault", description="The name of a vault.", required=True)


@dataclass(frozen=True, slots=True)
class _Offer:
    """A prompt: its arguments, its text, and what stands for an argument that is left out."""

    arguments: tuple[PromptArgument, ...]
    text: Message
    absent: Mapping[str, Message]


_OFFERS: Final[Mapping[str, _Offer]] = {
    "summarize-directory": _Offer(
        (
            _VAULT,
            PromptArgument(name="directory", description="Its path; the whole vault if left out."),
        ),
        SUMMARIZE,
        {"directory": ROOT},
    ),
    "generate-note": _Offer(
        (
            _VAULT,
            PromptArgument(name="topic", description="What the note is about.", required=True),
            PromptArgument(name="path", description="Where to put it, such as ideas/new.md."),
        ),
        GENERATE,
        {"path": SOMEWHERE},
    ),
    "find-related": _Offer(
        (_VAULT, PromptArgument(name="path", description="The document.", required=True)),
        RELATED,
        {},
    ),
}
_PROMPTS: Final = [
    Prompt(
        name=name,
        title=name.replace("-", " ").capitalize(),
        description=DESCRIPTIONS[name],
        arguments=list(offer.arguments),
    )
    for name, offer in _OFFERS.items()
]


async def list_prompts(
    _: RequestContext, params: PaginatedRequestParams | None
) -> ListPromptsResult:
    """Return every prompt."""
    require_no_cursor(params.cursor if params else None)
    return ListPromptsResult(prompts=_PROMPTS)


async def get_prompt(context: RequestContext, params: GetPromptRequestParams) -> GetPromptResult:
    """Return a prompt's text with its arguments, in the caller's language.

    Raises:
        MCPError: -32602: there is no such prompt, or its arguments do not fit it.

    """
    offer = _OFFERS.get(params.name)
    if offer is None:
        raise MCPError(INVALID_PARAMS, f"Unknown prompt: {params.name[:_SHOWN_NAME]}")
    language = caller_of(context).language
    given = _checked(offer, params.arguments or {})
    standing_in = {name: message.spoken(language) for name, message in offer.absent.items()}
    text = offer.text.spoken(language).format_map(standing_in | given)
    return GetPromptResult(
        description=DESCRIPTIONS[params.name],
        messages=[PromptMessage(role="user", content=TextContent(text=text))],
    )


def takes(prompt: str, argument: str) -> bool:
    """Tell whether a prompt has an argument of this name."""
    offer = _OFFERS.get(prompt)
    return offer is not None and argument in {one.name for one in offer.arguments}


def _checked(offer: _Offer, arguments: Mapping[str, str]) -> dict[str, str]:
    """Return the arguments that were given, each on one line."""
    known = {one.name: one for one in offer.arguments}
    given = {name: " ".join(text.split()) for name, text in arguments.items()}
    given = {name: text for name, text in given.items() if text}
    for name, text in given.items():
        if name not in known:
            raise MCPError(INVALID_PARAMS, f"Unknown argument: {name[:_SHOWN_NAME]}")
        if len(text) > MAX_PROMPT_ARGUMENT_CHARS:
            raise MCPError(INVALID_PARAMS, f"Argument too long: {name}")
    for name, argument in known.items():
        if argument.required and name not in given:
            raise MCPError(INVALID_PARAMS, f"Missing argument: {name}")
    return given
