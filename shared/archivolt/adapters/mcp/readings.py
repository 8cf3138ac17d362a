"""What a server says, in our own words: tools, results, questions. All of it is untrusted."""

import json
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any, Final

import mcp_types as types

from archivolt.domain.errors import InvalidRequestError
from archivolt.domain.federation import McpAnswers, McpQuestion, McpResult, McpTool
from archivolt.domain.federation_limits import (
    MAX_MCP_QUESTIONS,
    MAX_MCP_TEXT_CHARS,
)

if TYPE_CHECKING:
    from archivolt.domain.tool import JsonObject

_WEB: Final = ("https://", "http://")
_LEFT_OUT: Final = "[{kind} {mime}: {size} bytes, left out]"


def tool_of(listed: types.Tool) -> McpTool:
    """Return a tool as it is listed; a hint that is not given counts as the worst (MCP)."""
    hints = listed.annotations or types.ToolAnnotations()
    return McpTool(
        name=listed.name,
        title=listed.title or hints.title or "",
        description=listed.description or "",
        parameters=dict(listed.input_schema),
        read_only=hints.read_only_hint is True,
        destructive=hints.destructive_hint is not False,
        idempotent=hints.idempotent_hint is True,
        open_world=hints.open_world_hint is not False,
    )


def result_of(answer: types.CallToolResult) -> McpResult:
    """Return a result as text; what is no text is named and left out."""
    text = "\n\n".join(filter(None, map(_block, answer.content)))
    if not text and answer.structured_content is not None:
        text = json.dumps(answer.structured_content, ensure_ascii=False)
    return McpResult(text=text[:MAX_MCP_TEXT_CHARS], failed=bool(answer.is_error))


def questions_of(server: str, requests: Mapping[str, Any]) -> tuple[McpQuestion, ...]:
    """Return what a server asks before it goes on.

    Raises:
        InvalidRequestError: `mcp_question_unanswerable`: it asks too much, or no person.

    """
    if len(requests) > MAX_MCP_QUESTIONS:
        raise InvalidRequestError(
            "mcp_question_unanswerable", server=server, reason="mcp_asks_too_much"
        )
    return tuple(question_of(server, name, each) for name, each in requests.items())


def question_of(server: str, name: str, request: object) -> McpQuestion:
    """Return one question.

    Raises:
        InvalidRequestError: `mcp_question_unanswerable`.

    """
    params = request.params if isinstance(request, types.ElicitRequest) else request
    if isinstance(params, types.ElicitRequestFormParams):
        schema: JsonObject = json.loads(json.dumps(params.requested_schema))
        return McpQuestion(id=name, message=params.message, parameters=schema)
    if isinstance(params, types.ElicitRequestURLParams) and params.url.startswith(_WEB):
        return McpQuestion(id=name, message=params.message, url=params.url)
    raise InvalidRequestError("mcp_question_unanswerable", server=server, reason="mcp_asks_model")


def _block(block: types.ContentBlock) -> str:
    match block:
        case types.TextContent():
            return block.text
        case types.ImageContent() | types.AudioContent():
            return _left_out(block.type, block.mime_type, block.data)
        case types.ResourceLink():
            return f"[resource {block.name}: {block.uri}]"
        case types.EmbeddedResource():
            held = block.resource
            if isinstance(held, types.TextResourceContents):
                return held.text
            return _left_out("resource", held.mime_type or "", held.blob)


def _left_out(kind: str, mime: str, data: str) -> str:
    return _LEFT_OUT.format(kind=kind, mime=mime, size=len(data) * 3 // 4)


def tools_of(listed: Iterable[types.Tool]) -> list[McpTool]:
    """Return tools, each name once: which of two is meant nobody could tell."""
    return list({tool.name: tool_of(tool) for tool in listed}.values())


def size_of(listed: Iterable[types.Tool]) -> int:
    """Return about how many characters tools are described in."""
    return sum(
        len(tool.name) + len(tool.description or "") + len(json.dumps(tool.input_schema))
        for tool in listed
    )


def responses_of(answers: McpAnswers) -> types.InputResponses:
    """Return a person's answers as the protocol has them."""
    return {
        name: types.ElicitResult(action="accept", content=content_of(content))
        for name, content in answers.content.items()
    }


def content_of(answer: Mapping[str, Any]) -> dict[str, Any] | None:
    """Return one answer as the protocol has it, None for an empty one."""
    return json.loads(json.dumps(dict(answer))) or None
