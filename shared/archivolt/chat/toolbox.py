"""The tools of one turn: what the model is offered, and how its calls are run.

Every call goes through the tool pipeline as the person who asks (S2). Tools that change something
are not offered: a turn cannot ask a person to confirm yet.
"""

import asyncio
from collections.abc import Sequence
from typing import Protocol

from archivolt.agent.calls import ToolCall
from archivolt.agent.state import ToolOutcome
from archivolt.domain.conversation import ToolCallRecord
from archivolt.domain.errors import ArchivoltError
from archivolt.domain.identity import Principal
from archivolt.domain.limits import MAX_PARALLEL_TOOLS
from archivolt.domain.messages import Language
from archivolt.domain.stream import ToolUseResult
from archivolt.domain.tool import JsonObject, Surface, ToolResult, ToolSpec

_CHARACTERS = {Language.EN: "characters", Language.FR: "caractères"}


class Pipeline(Protocol):
    """The one way to call a tool."""

    def call(
        self,
        principal: Principal,
        name: str,
        arguments: JsonObject,
        *,
        surface: Surface,
        language: Language,
    ) -> ToolResult:
        """Return the result, or raise an `ArchivoltError`."""
        ...


class Toolbox:
    """Runs the calls of one person's turn, side by side."""

    def __init__(
        self,
        pipeline: Pipeline,
        specs: Sequence[ToolSpec],
        principal: Principal,
        language: Language,
    ) -> None:
        self._pipeline = pipeline
        self._specs = {spec.name: spec for spec in specs if not spec.requires_confirmation}
        self._principal = principal
        self._language = language
        self._room = asyncio.Semaphore(MAX_PARALLEL_TOOLS)

    @property
    def names(self) -> frozenset[str]:
        """The names the model may call."""
        return frozenset(self._specs)

    def declarations(self) -> list[JsonObject]:
        """Return the tools as OpenAI function declarations."""
        return [
            {
                "type": "function",
                "function": {
                    "name": spec.name,
                    "description": spec.description,
                    "parameters": dict(spec.parameters),
                },
            }
            for spec in self._specs.values()
        ]

    async def run(self, call: ToolCall) -> tuple[ToolOutcome, ToolCallRecord, ToolUseResult]:
        """Run one call: what the model sees of it, what is kept, what the person sees."""
        async with self._room:
            outcome, size = await asyncio.to_thread(self._call, call)
        status = "success" if outcome.succeeded else "error"
        record = ToolCallRecord(
            tool_id=call.id,
            tool_name=call.name,
            arguments=call.arguments,
            status=status,
            size=size,
        )
        summary = self._summary(outcome, size)
        return outcome, record, ToolUseResult(tool_id=call.id, status=status, summary=summary)

    def _call(self, call: ToolCall) -> tuple[ToolOutcome, int]:
        try:
            result = self._pipeline.call(
                self._principal,
                call.name,
                call.arguments,
                surface=Surface.IN_APP,
                language=self._language,
            )
        except ArchivoltError as error:
            told = {"code": error.code, "message": error.message(self._language)}
            value = {"error": told | {"details": error.details}}
            return ToolOutcome(call=call, succeeded=False, value=value), 0
        return ToolOutcome(call=call, succeeded=True, value=result.value), result.size

    def _summary(self, outcome: ToolOutcome, size: int) -> str:
        step = self._specs[outcome.call.name].step(outcome.call.arguments, self._language)
        if not outcome.succeeded:
            return f"{step} — {outcome.value['error']['message']}"
        count = f"{size:,}"
        if self._language is Language.FR:
            count = count.replace(",", "\u202f")
        return f"{step} — {count} {_CHARACTERS[self._language]}"
