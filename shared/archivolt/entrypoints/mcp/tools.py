"""Our tools as MCP tells them: a constant list, calls through the pipeline, errors as text.

Refuses to know what any tool does. Tools that change something are not here: they will be
`propose_x` and `apply_x` (O22).
"""

import json
from collections.abc import Sequence

from mcp.shared.exceptions import MCPError
from mcp_types import (
    INVALID_PARAMS,
    CallToolRequestParams,
    CallToolResult,
    ListToolsResult,
    PaginatedRequestParams,
    TextContent,
    Tool,
    ToolAnnotations,
)

from archivolt.domain.errors import ArchivoltError
from archivolt.domain.tool import Risk, Surface, ToolSpec
from archivolt.entrypoints.mcp.caller import RequestContext, caller_of
from archivolt.entrypoints.mcp.cursors import require_no_cursor
from archivolt.tools.pipeline import ToolPipeline

_SHOWN_NAME = 64


class McpTools:
    """The handlers of `tools/list` and `tools/call`."""

    def __init__(self, pipeline: ToolPipeline) -> None:
        self._pipeline = pipeline
        specs = pipeline.registry.specs(Surface.MCP)
        self._tools = _described([spec for spec in specs if spec.risk is Risk.READ])
        self._names = {tool.name for tool in self._tools}

    async def list_tools(
        self, _: RequestContext, params: PaginatedRequestParams | None
    ) -> ListToolsResult:
        """Return every tool, always the same and in the same order."""
        require_no_cursor(params.cursor if params else None)
        return ListToolsResult(tools=self._tools)

    async def call_tool(
        self, context: RequestContext, params: CallToolRequestParams
    ) -> CallToolResult:
        """Return a tool's result, or its error as text that a model can act on.

        Raises:
            MCPError: -32602: there is no such tool.

        """
        if params.name not in self._names:
            raise MCPError(INVALID_PARAMS, f"Unknown tool: {params.name[:_SHOWN_NAME]}")
        caller = caller_of(context)
        try:
            value = caller.call(self._pipeline, params.name, params.arguments or {})
        except ArchivoltError as error:
            # No structured content: clients would check it against the tool's output schema and
            # show the mismatch instead of the error.
            text = f"{error.code}: {error.message(caller.language)}"
            return CallToolResult(content=[TextContent(text=text)], is_error=True)
        text = json.dumps(value, ensure_ascii=False)
        return CallToolResult(content=[TextContent(text=text)], structured_content=value)


def _described(specs: Sequence[ToolSpec]) -> list[Tool]:
    return [
        Tool(
            name=spec.name,
            title=spec.name.replace("_", " ").capitalize(),
            description=spec.description,
            input_schema=dict(spec.parameters),
            output_schema=dict(spec.result),
            annotations=ToolAnnotations(
                read_only_hint=True,
                destructive_hint=False,
                idempotent_hint=True,
                open_world_hint=False,
            ),
        )
        for spec in specs
    ]
