"""The one way to call a tool (decision 26), as a turn knows it."""

from collections.abc import Iterable
from typing import Protocol

from archivolt.domain.federation import McpAnswers
from archivolt.domain.identity import Principal
from archivolt.domain.messages import Language
from archivolt.domain.tool import JsonObject, Surface, ToolResult
from archivolt.tools.proposed import Proposed
from archivolt.tools.registry import Tool


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

    def propose(
        self,
        principal: Principal,
        name: str,
        arguments: JsonObject,
        *,
        surface: Surface,
        language: Language,
        seconds: int,
        refuse_broken: bool,
    ) -> Proposed:
        """Return what would change, or raise an `ArchivoltError`."""
        ...

    def apply(
        self,
        principal: Principal,
        name: str,
        token: str,
        *,
        surface: Surface,
        language: Language,
        asked: bool = False,
    ) -> ToolResult:
        """Make a proposed change, once, or raise an `ArchivoltError`."""
        ...

    def with_tools(self, tools: Iterable[Tool]) -> "Pipeline":
        """Return a pipeline with further tools."""
        ...

    def answering(self, answers: McpAnswers) -> "Pipeline":
        """Return a pipeline for a call that goes on with a person's answers."""
        ...

    def decline(self, principal: Principal, name: str, token: str, *, surface: Surface) -> None:
        """Never make a proposed change, or raise an `ArchivoltError`."""
        ...
