"""Assembles the chunks of one streamed `generateContent` into a turn; knows no HTTP."""

import json
from dataclasses import dataclass

from archivolt.adapters.gemini.calls import FunctionCall, FunctionCallAssembler
from archivolt.adapters.streaming.answer_text import AnswerText
from archivolt.adapters.streaming.echoes import write_echo
from archivolt.adapters.streaming.failures import report_in
from archivolt.adapters.streaming.formats import BrokenTurnError, ReportedError
from archivolt.adapters.streaming.json_values import an_object, count, joined, objects, text
from archivolt.domain.providers import WireFormat
from archivolt.domain.text_size import utf8_size
from archivolt.domain.tool import JsonObject
from archivolt.ports.chat_model import ModelTurn

_CUT = frozenset({"MAX_TOKENS"})
_MALFORMED = frozenset(
    {
        "MALFORMED_FUNCTION_CALL",
        "MALFORMED_RESPONSE",
        "MISSING_THOUGHT_SIGNATURE",
        "TOO_MANY_TOOL_CALLS",
        "UNEXPECTED_TOOL_CALL",
    }
)
_FILTERED = frozenset(
    {
        *("BLOCKLIST", "LANGUAGE", "MODEL_ARMOR", "OTHER", "PROHIBITED_CONTENT", "RECITATION"),
        *("SAFETY", "SPII"),
    }
)
_ENDED_BADLY = _CUT | _MALFORMED | _FILTERED
_UNSAID = frozenset({"", "FINISH_REASON_UNSPECIFIED"})


@dataclass(slots=True, eq=False)
class _Part:
    """A part of the answer, for its echo: text, a call, or what only the provider knows."""

    text: str = ""
    signature: str = ""
    call: FunctionCall | None = None
    raw: JsonObject | None = None


class ContentAssembler:
    """A `TurnAssembler`."""

    ended = False
    """Counts may follow the reason; the stream just ends."""
    finished = False
    """A reason comes with chunks that are not the last."""

    def __init__(self) -> None:
        self._answer = AnswerText()
        self._shown: list[str] = []
        self._thoughts: list[str] = []
        self._calls = FunctionCallAssembler()
        self._parts: list[_Part] = []
        self._finish = ""
        self._usage: JsonObject = {}
        self.unseen = 0

    def feed(self, chunk: JsonObject) -> str:
        """Take a chunk and return the text that can be shown now.

        Raises:
            ReportedError: The chunk is an error.

        """
        if chunk.get("error"):
            raise ReportedError(report_in(chunk))
        usage = an_object(chunk.get("usageMetadata"))
        self._usage |= {name: value for name, value in usage.items() if value is not None}
        if text(an_object(chunk.get("promptFeedback")).get("blockReason")):
            self._finish = "PROHIBITED_CONTENT"
        shown = ""
        for candidate in objects(chunk.get("candidates"))[:1]:
            for part in objects(an_object(candidate.get("content")).get("parts")):
                shown += self._part(part)
            self._end(text(candidate.get("finishReason")))
        self._shown.append(shown)
        return shown

    def close(self) -> str:
        """Return the text that was held back until the end was known."""
        shown = self._answer.close()
        self._shown.append(shown)
        return shown

    def turn(self, *, ended: bool) -> ModelTurn:
        """See `TurnAssembler.turn`."""
        if not (ended or self._finish):
            raise BrokenTurnError
        called = self._calls.calls if self._finish not in _ENDED_BADLY else []
        if not all(call.name for call in called):
            raise BrokenTurnError
        usage = self._usage
        prompt = ("promptTokenCount", "toolUsePromptTokenCount")
        output = ("candidatesTokenCount", "thoughtsTokenCount")
        return ModelTurn(
            text="".join(self._shown),
            tool_calls=tuple(call.as_model_call() for call in called),
            finish_reason=self._finish_reason(called=bool(called)),
            input_tokens=sum(count(usage.get(name)) for name in prompt),
            output_tokens=sum(count(usage.get(name)) for name in output),
            reasoning="".join(self._thoughts),
            echo=self._echo(called),
        )

    def _finish_reason(self, *, called: bool) -> str:
        if self._finish in _CUT:
            return "length"
        if self._finish in _FILTERED:
            return "filtered"
        if self._finish in _MALFORMED:
            return "malformed"
        return "tool_calls" if called else "stop"

    def _end(self, reason: str) -> None:
        """Take a reason; STOP comes with chunks that are not the last, and after worse ones."""
        if reason not in _UNSAID and self._finish not in _ENDED_BADLY:
            self._finish = reason

    def _part(self, part: JsonObject) -> str:
        signature = text(part.get("thoughtSignature"))
        if "functionCall" in part:
            self.unseen += len(json.dumps(part["functionCall"]))
            if call := self._calls.feed(part):
                self._parts.append(_Part(call=call))
            return ""
        if part.get("thought"):
            self._thoughts.append(text(part.get("text")))
            self.unseen += utf8_size(self._thoughts[-1])
            return ""
        if "text" not in part:
            self._parts.append(_Part(raw=part))
            return ""
        said = text(part.get("text"))
        last = self._parts[-1] if self._parts else _Part(raw={})
        if signature or last.signature or last.call or last.raw is not None:
            self._parts.append(_Part(text=said, signature=signature))
        else:
            last.text += said
        shown = self._answer.feed(said)
        self.unseen += utf8_size(said) - utf8_size(shown)
        return shown

    def _echo(self, called: list[FunctionCall]) -> str:
        """Return the parts as they have to come back; "" where text and calls say it all."""
        items = [_echoed(part, called) for part in self._parts]
        needed = any(
            part.raw or part.signature or (part.call and (part.call.signature or part.call.id))
            for part in self._parts
        )
        return write_echo(WireFormat.GEMINI, [each for each in items if each]) if needed else ""


def _echoed(part: _Part, called: list[FunctionCall]) -> JsonObject:
    signature = part.call.signature if part.call else part.signature
    signed = {"thoughtSignature": signature} if signature else {}
    if part.call is not None:
        if part.call not in called:
            return {}
        given = {"id": part.call.id} if part.call.id else {}
        return {"call": called.index(part.call), **given, **signed}
    if part.raw is not None:
        return {"part": part.raw} if part.raw else {}
    return {"part": {"text": joined(part.text), **signed}} if part.text or signed else {}
