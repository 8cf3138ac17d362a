"""The editor's actions: one text in, one text out, from the model that the chat would take."""

import re
from collections.abc import AsyncGenerator, Callable
from contextlib import aclosing
from dataclasses import dataclass
from typing import Final

from archivolt.agent.editor import editing_messages
from archivolt.agent.window import tokens_of
from archivolt.chat.providers import ChosenModel, ModelSelector
from archivolt.domain.editor import EditorAction
from archivolt.domain.errors import InvalidRequestError, TooLargeError, UnavailableError
from archivolt.domain.identity import Principal
from archivolt.domain.messages import Language
from archivolt.domain.providers import EMBEDDED
from archivolt.ports.chat_model import ModelRequest, TextDelta
from archivolt.ports.clock import Clock
from archivolt.tools.rate_limit import RateLimit

# Models put a fence around a whole answer, whatever they are told.
_OPENING: Final = r"```(?:markdown|md|text)?[ \t]{0,40}\n"
_OPENED: Final = re.compile(_OPENING)
_FENCED: Final = re.compile(rf"{_OPENING}(.*?)\n?```", re.DOTALL)
_MAY_OPEN: Final = re.compile(r"`{1,2}|```[a-z]{0,8}[ \t]{0,40}")
_CLOSING: Final = "\n```"
_GOES_ON: Final = re.compile(rf"{_CLOSING}\s*\S")
_BAD_ENDS: Final = {"length": "answer_cut", "filtered": "answer_filtered"}


@dataclass(frozen=True, slots=True, kw_only=True)
class EditRequest:
    """What to do with a text; the rest is as in `editing_messages`."""

    action: EditorAction
    text: str
    wish: str = ""
    target: str = ""
    tone: str = ""
    provider: str = ""
    model: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Edited:
    """What came of a text; `cut`: the code of what cut it off, "" if nothing did."""

    text: str
    input_tokens: int
    output_tokens: int
    cut: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Editing:
    """An action that may begin: the model, and what it is asked."""

    chosen: ChosenModel
    request: ModelRequest

    async def events(self) -> AsyncGenerator[str | Edited, None]:
        """Yield the text as it is written, and last what came of it.

        Raises:
            ArchivoltError: The provider failed.

        """
        text, shown = "", Unfenced()
        async with aclosing(self.chosen.model.create_message(self.request)) as events:
            async for event in events:
                if isinstance(event, TextDelta):
                    text += event.text
                    if ready := shown.feed(event.text):
                        yield ready
                else:
                    if event.finish_reason == "malformed":
                        raise UnavailableError(
                            "provider_unavailable",
                            provider=self.chosen.provider,
                            reason="provider_incomplete",
                        )
                    cut = _BAD_ENDS.get(event.finish_reason, "")
                    if not text.strip():
                        raise UnavailableError(cut or "answer_empty", limit=self.request.max_tokens)
                    if rest := shown.close():
                        yield rest
                    yield Edited(
                        text=unfenced(text),
                        input_tokens=event.input_tokens,
                        output_tokens=event.output_tokens,
                        cut=cut,
                    )


class Editor:
    """Begins actions.

    Args:
        models: Which model answers.
        rate_limit: How often a token may ask; gives it when first needed.
        clock: The time.

    """

    def __init__(
        self, models: ModelSelector, rate_limit: Callable[[], RateLimit], clock: Clock
    ) -> None:
        self._models = models
        self._rate_limit = rate_limit
        self._clock = clock

    def begin(self, principal: Principal, request: EditRequest, *, language: Language) -> Editing:
        """Check what can be checked, and return the action.

        Raises:
            InvalidRequestError: `editor_needs_model`: only the embedded provider is there, which
                writes nothing of its own; `provider_unknown` and its like.
            TooLargeError: `text_too_long`: for the model's window.
            ForbiddenError: `chat_disabled`, `provider_not_allowed`.
            RateLimitedError: `rate_limited`.
            BudgetExceededError: `budget_exceeded`, `daily_tokens_exceeded`.

        """
        self._rate_limit().count(principal, f"ai:{request.action.value}", self._clock.now())
        chosen = self._models.select(principal, provider=request.provider, model=request.model)
        if chosen.provider == EMBEDDED:
            raise InvalidRequestError("editor_needs_model")
        messages = editing_messages(
            request.action,
            request.text,
            language=language,
            wish=request.wish,
            target=request.target,
            tone=request.tone,
        )
        size, room = tokens_of(messages), chosen.context_tokens - chosen.max_tokens
        if size > room:
            raise TooLargeError("text_too_long", size=size, limit=room)
        asked = ModelRequest(
            messages=messages,
            model=chosen.name,
            max_tokens=chosen.max_tokens,
            language=language.value,
        )
        chosen.model.admit(asked)
        return Editing(chosen=chosen, request=asked)


class Unfenced:
    """Passes a text on in pieces; one that may have a fence around it waits until that shows."""

    def __init__(self) -> None:
        self._held: list[str] = []
        self._end = ""
        self._is_fenced = False
        self._is_closed = False
        self._is_open = False

    def feed(self, piece: str) -> str:
        """Return what of the text can be shown now."""
        if self._is_open:
            return piece
        piece = piece if self._held else piece.lstrip()
        self._held += [piece] if piece else []
        if not piece or self._waits(piece):
            return ""
        self._is_open = True
        return self._taken()

    def close(self) -> str:
        """Return what was held back."""
        return unfenced(self._taken())

    def _waits(self, piece: str) -> bool:
        """Tell whether the fence may still be around the whole; looks at nothing twice."""
        if self._is_closed:
            return piece.isspace()
        if not self._is_fenced:
            begun = "".join(self._held)
            opening = _OPENED.match(begun)
            if opening is None:
                return _MAY_OPEN.fullmatch(begun) is not None
            self._is_fenced, piece = True, begun[opening.end() - 1 :]
        looked_at = self._end + piece
        self._is_closed = _CLOSING in looked_at
        self._end = looked_at[1 - len(_CLOSING) :]
        return _GOES_ON.search(looked_at) is None

    def _taken(self) -> str:
        held, self._held = "".join(self._held), []
        return held


def unfenced(text: str) -> str:
    """Return a text without a fence around the whole of it."""
    text = text.strip()
    found = _FENCED.fullmatch(text)
    return found[1] if found and _CLOSING not in found[1] else text
