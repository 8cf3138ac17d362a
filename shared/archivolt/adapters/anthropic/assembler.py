"""Assembles the events of one streamed message into a turn.

Knows what Anthropic and those who speak its format send; knows no HTTP.
"""

from archivolt.adapters.anthropic.blocks import Block
from archivolt.adapters.streaming.answer_text import AnswerText
from archivolt.adapters.streaming.echoes import write_echo
from archivolt.adapters.streaming.failures import report_in
from archivolt.adapters.streaming.formats import BrokenTurnError, ReportedError
from archivolt.adapters.streaming.json_values import an_object, count, objects, text
from archivolt.domain.providers import WireFormat
from archivolt.domain.text_size import utf8_size
from archivolt.domain.tool import JsonObject
from archivolt.ports.chat_model import ModelToolCall, ModelTurn

_CUT = frozenset({"max_tokens", "model_context_window_exceeded"})
_FILTERED = frozenset({"refusal"})
_INPUT_COUNTS = ("input_tokens", "cache_creation_input_tokens", "cache_read_input_tokens")
_NEEDS_NO_ECHO = frozenset({"text", "tool_use"})


class MessageAssembler:
    """A `TurnAssembler`."""

    def __init__(self) -> None:
        self._answer = AnswerText()
        self._shown: list[str] = []
        self._blocks: list[Block] = []
        self._at: dict[int | None, Block] = {}
        self._stop = ""
        self._usage: JsonObject = {}
        self.ended = False
        self.unseen = 0
        self._takers = {
            "message_start": self._begin,
            "content_block_start": self._start,
            "content_block_delta": self._delta,
            "content_block_stop": self._stop_block,
            "message_delta": self._learn,
            "message_stop": self._end,
            "message": self._whole,
        }

    @property
    def finished(self) -> bool:
        """Whether the message has its reason to end."""
        return bool(self._stop)

    def feed(self, chunk: JsonObject) -> str:
        """Take an event and return the text that can be shown now.

        Raises:
            ReportedError: The event is an error.

        """
        if chunk.get("type") == "error" or chunk.get("error"):
            raise ReportedError(report_in(chunk))
        take = self._takers.get(text(chunk.get("type")))  # a ping says nothing
        shown = take(chunk) if take else ""
        self._shown.append(shown)
        return shown

    def close(self) -> str:
        """Return the text that was held back until the end was known."""
        shown = self._answer.close()
        self._shown.append(shown)
        return shown

    def turn(self, *, ended: bool) -> ModelTurn:
        """See `TurnAssembler.turn`."""
        if not (ended or self.ended or self._stop):
            raise BrokenTurnError
        complete = self._stop not in _CUT | _FILTERED
        called = [each for each in self._blocks if each.kind == "tool_use"] if complete else []
        if not all(each.name and self._is_over(each) for each in called):
            raise BrokenTurnError
        return ModelTurn(
            text="".join(self._shown),
            tool_calls=tuple(
                ModelToolCall(id=each.id, name=each.name, arguments=each.arguments)
                for each in called
            ),
            finish_reason=self._finish_reason(called=bool(called)),
            input_tokens=sum(count(self._usage.get(name)) for name in _INPUT_COUNTS),
            output_tokens=count(self._usage.get("output_tokens")),
            reasoning="".join(each.thoughts for each in self._blocks),
            echo=self._echo(called),
        )

    def _is_over(self, block: Block) -> bool:
        return block.stopped or self._stop == "tool_use"

    def _finish_reason(self, *, called: bool) -> str:
        if self._stop in _CUT:
            return "length"
        if self._stop in _FILTERED:
            return "filtered"
        if self._stop == "pause_turn":
            return "paused"
        return "tool_calls" if called else "stop"

    def _echo(self, called: list[Block]) -> str:
        """Return the blocks as they have to come back; "" where text and calls say it all."""
        paused = self._stop == "pause_turn"
        if not paused and all(each.kind in _NEEDS_NO_ECHO for each in self._blocks):
            return ""
        items = [
            each.echoed(called.index(each) if each in called else None) for each in self._blocks
        ]
        return write_echo(WireFormat.ANTHROPIC, [item for item in items if item])

    def _begin(self, chunk: JsonObject) -> str:
        self._count(an_object(chunk.get("message")).get("usage"))
        return ""

    def _learn(self, chunk: JsonObject) -> str:
        self._stop = text(an_object(chunk.get("delta")).get("stop_reason")) or self._stop
        self._count(chunk.get("usage"))
        return ""

    def _end(self, _chunk: JsonObject) -> str:
        self.ended = True
        return ""

    def _stop_block(self, chunk: JsonObject) -> str:
        self._block_at(chunk, "text").stopped = True
        return ""

    def _count(self, usage: object) -> None:
        """Take counts: they are totals so far, so a later one replaces an earlier."""
        said = an_object(usage)
        self._usage |= {name: value for name, value in said.items() if value is not None}

    def _start(self, chunk: JsonObject) -> str:
        block = Block.begun(an_object(chunk.get("content_block")))
        place = chunk.get("index")
        known = self._at.get(place) if isinstance(place, int) else None
        if known is not None and known.is_again(block):
            return ""
        self._blocks.append(block)
        self._at[place if isinstance(place, int) else None] = block
        return self._answer.feed(block.text)

    def _delta(self, chunk: JsonObject) -> str:
        delta = an_object(chunk.get("delta"))
        kind = {"input_json_delta": "tool_use"}.get(text(delta.get("type")), "text")
        said = self._block_at(chunk, kind).extend(delta)
        shown = self._answer.feed(said)
        unsaid = text(delta.get("thinking")) + text(delta.get("partial_json"))
        self.unseen += utf8_size(said + unsaid) - utf8_size(shown)
        return shown

    def _block_at(self, chunk: JsonObject, kind: str) -> Block:
        """Return the block of an event: without a place the last one, unknown a new one."""
        place = chunk.get("index")
        if not isinstance(place, int):
            place = None
            if self._blocks:
                return self._blocks[-1]
        if place not in self._at:
            self._at[place] = Block(kind=kind)
            self._blocks.append(self._at[place])
        return self._at[place]

    def _whole(self, message: JsonObject) -> str:
        """Take an answer that was not streamed."""
        begun = [Block.begun(each) for each in objects(message.get("content"))]
        for block in begun:
            block.stopped = True
        self._blocks.extend(begun)
        self._stop = text(message.get("stop_reason"))
        self._count(message.get("usage"))
        self.ended = True
        return "".join(self._answer.feed(block.text) for block in begun)
