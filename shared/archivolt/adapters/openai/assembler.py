"""Assembles the chunks of one streamed chat completion into a turn.

Knows the shapes that OpenAI-compatible providers send; knows no HTTP.
"""

from archivolt.adapters.openai.finish_reasons import Ending, ending_of
from archivolt.adapters.openai.reasoning_details import ReasoningDetails
from archivolt.adapters.openai.tool_calls import ToolCallAssembler
from archivolt.adapters.streaming.answer_text import AnswerText
from archivolt.adapters.streaming.echoes import write_echo
from archivolt.adapters.streaming.failures import report_in
from archivolt.adapters.streaming.formats import BrokenTurnError, ReportedError
from archivolt.adapters.streaming.json_values import an_object, count, objects, text
from archivolt.domain.providers import WireFormat
from archivolt.domain.text_size import utf8_size
from archivolt.domain.tool import JsonObject
from archivolt.ports.chat_model import ModelTurn

_SAID_OF = {Ending.CUT: "length", Ending.FILTERED: "filtered", Ending.MALFORMED: "malformed"}


class CompletionAssembler:
    """A `TurnAssembler`."""

    ended = False
    """Usage may follow the last choice; the stream's own `[DONE]` is its end."""

    def __init__(self) -> None:
        self._answer = AnswerText()
        self._shown: list[str] = []
        self._reasoning: list[str] = []
        self._details = ReasoningDetails()
        self._calls = ToolCallAssembler()
        self._ending: Ending | None = None
        self._report: JsonObject = {}
        self._usage: JsonObject = {}
        self._streamed: set[str] = set()
        self.unseen = 0

    @property
    def finished(self) -> bool:
        """Whether a choice has its reason to end."""
        return self._ending is not None

    def feed(self, chunk: JsonObject) -> str:
        """Take a chunk and return the text that can be shown now.

        Raises:
            ReportedError: The chunk is an error.

        """
        if chunk.get("error") or chunk.get("object") == "error":
            raise ReportedError(report_in(chunk))
        self._usage = (
            an_object(chunk.get("usage"))
            or an_object(an_object(chunk.get("x_groq")).get("usage"))
            or self._usage
        )
        shown = "".join(self._choice(choice) for choice in objects(chunk.get("choices"))[:1])
        self._shown.append(shown)
        return shown

    def close(self) -> str:
        """Return the text that was held back until the end was known."""
        shown = self._answer.close()
        self._shown.append(shown)
        return shown

    def turn(self, *, ended: bool) -> ModelTurn:
        """Return the whole turn; `ended` tells that the stream's own end marker was read.

        Raises:
            ReportedError: The provider says that it failed.
            BrokenTurnError: The turn has no end, or a call has no name.

        """
        if self._ending is Ending.FAILED:
            raise ReportedError(self._report)
        if not ended and not self.finished:
            raise BrokenTurnError
        calls = self._calls.calls() if self._ending not in _SAID_OF else ()
        if not all(call.name for call in calls):
            raise BrokenTurnError
        return ModelTurn(
            text="".join(self._shown),
            tool_calls=calls,
            finish_reason=self._finish_reason(called=bool(calls)),
            input_tokens=count(self._usage.get("prompt_tokens")),
            output_tokens=count(self._usage.get("completion_tokens")),
            reasoning="".join(self._reasoning),
            echo=write_echo(WireFormat.OPENAI, self._echo_items(called=bool(calls))),
        )

    def _echo_items(self, *, called: bool) -> list[JsonObject]:
        """Return what the provider wants back beside the calls."""
        if not called:
            return []
        details = self._details.items()
        return [*([{"reasoning_details": details}] if details else []), *self._calls.extras()]

    def _finish_reason(self, *, called: bool) -> str:
        if self._ending in _SAID_OF:
            return _SAID_OF[self._ending]
        return "tool_calls" if called else "stop"

    def _end(self, choice: JsonObject) -> None:
        """Take a reason, if there is one; a bad one stays, whatever follows."""
        reason = text(choice.get("finish_reason"))
        ending = ending_of(reason)
        if ending is None or self._ending not in {None, Ending.OVER}:
            return
        self._ending = ending
        if ending is Ending.FAILED:
            unnamed: JsonObject = {} if reason == "error" else {"code": reason}
            self._report = report_in(choice) if choice.get("error") else unnamed

    def _said(self, choice: JsonObject) -> JsonObject:
        """Return what a choice adds; some tell all of it once more, as a message, at the end."""
        if "delta" in choice:
            delta = an_object(choice["delta"])
            self._streamed.update(name for name, value in delta.items() if value)
            return delta
        message = an_object(choice.get("message"))
        return {name: value for name, value in message.items() if name not in self._streamed}

    def _choice(self, choice: JsonObject) -> str:
        self._end(choice)
        delta = self._said(choice)
        self._reasoning.append(text(delta.get("reasoning_content")))
        self._details.feed(delta.get("reasoning_details"))
        for call in objects(delta.get("tool_calls")):
            self._calls.feed(call)
        said = _content(delta) + text(delta.get("refusal"))
        shown = self._answer.feed(said)
        self.unseen += utf8_size(said) - utf8_size(shown) + sum(map(utf8_size, _unsaid(delta)))
        return shown


def _content(delta: JsonObject) -> str:
    """Return the text of `content`, which may be a list of parts; thoughts are left out."""
    content = delta.get("content")
    if isinstance(content, str):
        return content
    return "".join(text(part.get("text")) for part in objects(content))


def _unsaid(delta: JsonObject) -> list[str]:
    """Return what a delta brings beside its text, under whatever name thoughts have."""
    calls = [an_object(call.get("function")) for call in objects(delta.get("tool_calls"))]
    parts = [
        part for each in objects(delta.get("content")) for part in objects(each.get("thinking"))
    ]
    parts += objects(delta.get("reasoning_details"))
    thoughts = text(delta.get("reasoning_content")) or text(delta.get("reasoning"))
    told = [thoughts] if thoughts else [text(part.get("text")) for part in parts]
    return [*told, *(text(call.get("arguments")) for call in calls)]


def whole_completion(body: JsonObject) -> JsonObject:
    """Return an answer that was not streamed, though asked for, as one chunk."""
    choices = [
        {**choice, "delta": choice.get("message") or choice.get("delta")}
        for choice in objects(body.get("choices"))
    ]
    return {**body, "choices": choices}
