"""Our tools as MCP tells them: a constant list, calls through the pipeline, errors as text.

A tool that reads has its own name; one that changes something is `propose_x`, which only shows the
change, and `apply_x`, which makes it (O22). Refuses to know what any tool does.
"""

from collections.abc import Callable, Iterable, Iterator
from typing import Final, NamedTuple

from mcp.shared.exceptions import MCPError
from mcp_types import (
    INVALID_PARAMS,
    CallToolRequestParams,
    CallToolResult,
    InputRequiredResult,
    ListToolsResult,
    PaginatedRequestParams,
    TextContent,
    Tool,
    ToolAnnotations,
)

from archivolt.domain.errors import ArchivoltError
from archivolt.domain.messages import Language
from archivolt.domain.tool import JsonObject, Risk, Surface, ToolSpec
from archivolt.entrypoints.mcp.caller import ApplyChange, Caller, RequestContext, caller_of
from archivolt.entrypoints.mcp.cursors import require_no_cursor
from archivolt.entrypoints.mcp.inline import (
    TOKEN,
    InlineConfirmation,
    arguments_or_token,
    result_or_declined,
)
from archivolt.entrypoints.mcp.readable import readable
from archivolt.tools.pipeline import ToolPipeline
from archivolt.tools.previews import ProposalAnswer
from archivolt.tools.schemas import input_schema, result_schema

_SHOWN_NAME: Final = 64
# What a caller needs to go on from a conflict; the sentence tells the rest.
_TOLD_DETAILS: Final = ("etag", "diff", "approval_url", TOKEN)
_PROPOSE: Final = (
    "Step 1 of 2, changes nothing: returns a preview and a confirmation_token for apply_{name}."
    " Show the preview to the user and ask before applying. {description}"
)
_APPLY: Final = (
    "Step 2 of 2: makes the change that propose_{name} previewed, once. Call it after the user"
    " agreed to that preview, with the confirmation_token it returned and nothing else; a retry"
    " returns the same result. A client that shows forms (elicitation) may leave the token out and"
    " give the arguments of propose_{name} instead: the user is asked, and may decline."
)

Call = Callable[[Caller, ToolPipeline, str, JsonObject], JsonObject]


class Offer(NamedTuple):
    """A tool as it is listed, the tool of ours behind it, and how that one is called.

    `call` is None for one that makes a change: that may take a question to the person.
    """

    listed: Tool
    name: str
    call: Call | None


class McpTools:
    """The handlers of `tools/list` and `tools/call`."""

    def __init__(self, pipeline: ToolPipeline) -> None:
        self._pipeline = pipeline
        self._confirmation = InlineConfirmation(pipeline)
        offers = list(_offers(pipeline.registry.specs(Surface.MCP)))
        self._tools = [offer.listed for offer in offers]
        self._offers = {offer.listed.name: offer for offer in offers}

    async def list_tools(
        self, _: RequestContext, params: PaginatedRequestParams | None
    ) -> ListToolsResult:
        """Return every tool, always the same and in the same order."""
        require_no_cursor(params.cursor if params else None)
        return ListToolsResult(tools=self._tools)

    async def call_tool(
        self, context: RequestContext, params: CallToolRequestParams
    ) -> CallToolResult | InputRequiredResult:
        """Return a tool's result, its error as text that a model can act on, or a question.

        Raises:
            MCPError: -32602: there is no such tool.

        """
        offer = self._offers.get(params.name)
        if offer is None:
            raise MCPError(INVALID_PARAMS, f"Unknown tool: {params.name[:_SHOWN_NAME]}")
        caller = caller_of(context)
        try:
            value = self._value(offer, context, params)
        except ArchivoltError as error:
            # No structured content: clients would check it against the tool's output schema and
            # show the mismatch instead of the error.
            text = _told(error, caller.language)
            return CallToolResult(content=[TextContent(text=text)], is_error=True)
        if isinstance(value, InputRequiredResult):
            return value
        return CallToolResult(content=[TextContent(text=readable(value))], structured_content=value)

    def _value(
        self, offer: Offer, context: RequestContext, params: CallToolRequestParams
    ) -> JsonObject | InputRequiredResult:
        if offer.call is None:
            return self._confirmation.apply(context, params, offer.name)
        return offer.call(
            caller_of(context), self._pipeline, offer.name, dict(params.arguments or {})
        )


def _told(error: ArchivoltError, language: Language) -> str:
    lines = [f"{error.code}: {error.message(language)}"]
    lines += [f"{name}: {error.details[name]}" for name in _TOLD_DETAILS if name in error.details]
    return "\n".join(lines)


def _offers(specs: Iterable[ToolSpec]) -> Iterator[Offer]:
    for spec in specs:
        if not spec.requires_confirmation:
            yield Offer(_reading(spec), spec.name, Caller.call)
        else:
            yield Offer(_proposing(spec), spec.name, Caller.propose)
            yield Offer(_applying(spec), spec.name, None)


def _reading(spec: ToolSpec) -> Tool:
    return Tool(
        name=spec.name,
        title=_title(spec.name),
        description=spec.description,
        input_schema=dict(spec.parameters),
        output_schema=dict(spec.result),
        annotations=_hints(read_only=True, destructive=False, idempotent=True),
    )


def _proposing(spec: ToolSpec) -> Tool:
    return Tool(
        name=f"propose_{spec.name}",
        title=_title(f"propose_{spec.name}"),
        description=_PROPOSE.format(name=spec.name, description=spec.description),
        input_schema=dict(spec.parameters),
        output_schema=result_schema(ProposalAnswer),
        annotations=_hints(read_only=True, destructive=False, idempotent=False),
    )


def _applying(spec: ToolSpec) -> Tool:
    return Tool(
        name=f"apply_{spec.name}",
        title=_title(f"apply_{spec.name}"),
        description=_APPLY.format(name=spec.name),
        input_schema=arguments_or_token(spec, input_schema(ApplyChange)["properties"][TOKEN]),
        output_schema=result_or_declined(spec),
        annotations=_hints(
            read_only=False, destructive=spec.risk is Risk.DANGEROUS, idempotent=True
        ),
    )


def _title(name: str) -> str:
    return name.replace("_", " ").capitalize()


def _hints(*, read_only: bool, destructive: bool, idempotent: bool) -> ToolAnnotations:
    return ToolAnnotations(
        read_only_hint=read_only,
        destructive_hint=destructive,
        idempotent_hint=idempotent,
        open_world_hint=False,
    )
