"""How many tokens a request to a model has: never more than the bound, about the estimate.

No tokenizer makes more tokens of a text than it has bytes, so that what is reserved holds for every
provider; what is charged where a provider tells nothing is nearer to the truth.
"""

from typing import Final

from archivolt.domain.text_size import utf8_size
from archivolt.domain.usage import Tokens
from archivolt.ports.chat_model import ModelRequest, ModelTurn

# Roles, separators, the frame of a declaration.
_AROUND: Final = 16
_BYTES_PER_TOKEN: Final = 3
# An image in tiles, at the provider that counts most for one (OpenAI's guide "Images and vision").
_MOST_PER_IMAGE: Final = 50_000
_USUAL_PER_IMAGE: Final = 1_600


def worst_case(request: ModelRequest) -> Tokens:
    """Return what a call uses at most."""
    size, parts, images = _measured(request)
    prompt = size + parts * _AROUND + images * _MOST_PER_IMAGE
    return Tokens(input=prompt, output=request.max_tokens)


def estimated_prompt(request: ModelRequest) -> int:
    """Return about how many tokens are sent, rather too many than too few."""
    size, parts, images = _measured(request)
    return size // _BYTES_PER_TOKEN + parts * _AROUND // 2 + images * _USUAL_PER_IMAGE


def estimated_answer(turn: ModelTurn) -> int:
    """Return about how many tokens came."""
    texts = [turn.text, turn.reasoning]
    texts += [text for call in turn.tool_calls for text in (call.name, call.arguments)]
    return estimated_tokens(sum(map(utf8_size, texts)))


def estimated_tokens(size: int) -> int:
    """Return about how many tokens so many bytes of text are."""
    return -(-size // _BYTES_PER_TOKEN)


def _measured(request: ModelRequest) -> tuple[int, int, int]:
    """Return the bytes of text, the messages and declarations, and the images."""
    size, calls, images = sum(tool.size for tool in request.tools), 0, 0
    # One walk, not one a kind: a turn measures some hundred messages, and more than once.
    for message in request.messages:
        size += message.size
        if message.tool_calls or message.images:
            calls += len(message.tool_calls)
            images += len(message.images)
    return size, len(request.messages) + len(request.tools) + calls, images
