"""Tools, resources and prompts that the official conformance suite calls by name.

They are mounted on the product's own server by tests alone; whatever the suite does not name is
answered by the product.
"""

import json
from collections.abc import Awaitable, Callable
from typing import Any, cast

import mcp_types as types
from mcp.server import Server
from mcp.shared.exceptions import MCPError

from archivolt.entrypoints.mcp.caller import RequestContext
from archivolt.entrypoints.mcp.failures import resource_not_found

Json = dict[str, Any]
Handler = Callable[[RequestContext, Any], Awaitable[Any]]
Asked = types.CallToolResult | types.InputRequiredResult
Tool = Callable[[RequestContext, types.CallToolRequestParams], Awaitable[Asked]]

PIXEL = (
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJ"
    "AAAADUlEQVR42mP8z8DwHwAFBQIAX8jx0gAAAABJRU5ErkJggg=="
)
SILENCE = "UklGRiYAAABXQVZFZm10IBAAAAABAAEAQB8AAAB9AAACABAAZGF0YQIAAAA="
ANYTHING: Json = {"type": "object", "properties": {}}
WITH_HEADER: Json = {
    "type": "object",
    "properties": {"region": {"type": "string", "x-mcp-header": "Region"}},
}
DIALECT_2020_12: Json = {
    "$schema": "https://json-schema.org/draft/2020-12/schema",
    "type": "object",
    "$defs": {
        "address": {
            "$anchor": "addressDef",
            "type": "object",
            "properties": {"street": {"type": "string"}, "city": {"type": "string"}},
        }
    },
    "properties": {
        "name": {"type": "string"},
        "address": {"$ref": "#/$defs/address"},
        "contactMethod": {"type": "string", "enum": ["phone", "email"]},
        "phone": {"type": "string"},
        "email": {"type": "string"},
    },
    "allOf": [{"anyOf": [{"required": ["phone"]}, {"required": ["email"]}]}],
    "if": {"properties": {"contactMethod": {"const": "phone"}}, "required": ["contactMethod"]},
    "then": {"required": ["phone"]},
    "else": {"required": ["email"]},
    "additionalProperties": False,
}
SAMPLE = types.CreateMessageRequest(
    params=types.CreateMessageRequestParams(
        messages=[
            types.SamplingMessage(
                role="user", content=types.TextContent(text="What is the capital of France?")
            )
        ],
        max_tokens=100,
    )
)
ROOTS = types.ListRootsRequest(params=types.RequestParams())


def said(text: str) -> types.CallToolResult:
    return types.CallToolResult(content=[types.TextContent(text=text)])


def form(message: str, **properties: str) -> types.ElicitRequest:
    schema: Json = {
        "type": "object",
        "properties": {name: {"type": kind} for name, kind in properties.items()},
        "required": list(properties),
    }
    return types.ElicitRequest(
        params=types.ElicitRequestFormParams(message=message, requested_schema=schema)
    )


def asked(state: str | None = None, **requests: Any) -> types.InputRequiredResult:  # noqa: ANN401
    return types.InputRequiredResult(input_requests=requests, request_state=state)


# -------------------------------------------------------------------------------- contents


async def simple_text(_: RequestContext, __: types.CallToolRequestParams) -> Asked:
    return said("This is a simple text response for testing.")


async def image_content(_: RequestContext, __: types.CallToolRequestParams) -> Asked:
    return types.CallToolResult(content=[types.ImageContent(data=PIXEL, mime_type="image/png")])


async def audio_content(_: RequestContext, __: types.CallToolRequestParams) -> Asked:
    return types.CallToolResult(content=[types.AudioContent(data=SILENCE, mime_type="audio/wav")])


def embedded(uri: str, mime_type: str, text: str) -> types.EmbeddedResource:
    return types.EmbeddedResource(
        resource=types.TextResourceContents(uri=uri, mime_type=mime_type, text=text)
    )


async def embedded_resource(_: RequestContext, __: types.CallToolRequestParams) -> Asked:
    one = embedded(
        "test://embedded-resource", "text/plain", "This is an embedded resource content."
    )
    return types.CallToolResult(content=[one])


async def multiple_content_types(_: RequestContext, __: types.CallToolRequestParams) -> Asked:
    return types.CallToolResult(
        content=[
            types.TextContent(text="Multiple content types test:"),
            types.ImageContent(data=PIXEL, mime_type="image/png"),
            embedded(
                "test://mixed-content-resource", "application/json", '{"test":"data","value":123}'
            ),
        ]
    )


async def error_handling(_: RequestContext, __: types.CallToolRequestParams) -> Asked:
    text = "This tool intentionally returns an error for testing"
    return types.CallToolResult(content=[types.TextContent(text=text)], is_error=True)


async def tool_with_progress(context: RequestContext, _: types.CallToolRequestParams) -> Asked:
    for done in (0, 50, 100):
        await context.session.report_progress(done, 100)
    return said("done")


async def nothing_special(_: RequestContext, __: types.CallToolRequestParams) -> Asked:
    return said("done")


async def missing_capability(context: RequestContext, _: types.CallToolRequestParams) -> Asked:
    capabilities = context.session.client_capabilities
    if capabilities is None or capabilities.sampling is None:
        raise MCPError(
            types.MISSING_REQUIRED_CLIENT_CAPABILITY,
            "needs sampling",
            {"requiredCapabilities": {"sampling": {}}},
        )
    return said("ok")


# --------------------------------------------------------------------------- several rounds


async def elicitation(_: RequestContext, params: types.CallToolRequestParams) -> Asked:
    given = (params.input_responses or {}).get("user_name")
    content = given.content if isinstance(given, types.ElicitResult) else None
    if not content or "name" not in content:
        return asked(user_name=form("What is your name?", name="string"))
    return said(f"Hello, {content['name']}!")


async def streaming_elicitation(_: RequestContext, params: types.CallToolRequestParams) -> Asked:
    return said("ok") if params.input_responses else asked(q=form("name?", name="string"))


async def sampling(_: RequestContext, params: types.CallToolRequestParams) -> Asked:
    given = (params.input_responses or {}).get("capital_question")
    return asked(capital_question=SAMPLE) if given is None else said("sampled")


async def list_roots(_: RequestContext, params: types.CallToolRequestParams) -> Asked:
    given = (params.input_responses or {}).get("client_roots")
    return asked(client_roots=ROOTS) if given is None else said("roots")


async def request_state(_: RequestContext, params: types.CallToolRequestParams) -> Asked:
    if params.request_state and "confirm" in (params.input_responses or {}):
        return said("state-ok")
    return asked("s1", confirm=form("Please confirm", ok="boolean"))


async def multiple_inputs(_: RequestContext, params: types.CallToolRequestParams) -> Asked:
    questions = {
        "user_name": form("What is your name?", name="string"),
        "greeting": SAMPLE,
        "client_roots": ROOTS,
    }
    if params.request_state and questions.keys() <= (params.input_responses or {}).keys():
        return said("all ok")
    return asked("m1", **questions)


async def multi_round(_: RequestContext, params: types.CallToolRequestParams) -> Asked:
    given = params.input_responses or {}
    if params.request_state == "r1" and "step1" in given:
        return asked("r2", step2=form("Step 2: What is your favorite color?", color="string"))
    if params.request_state == "r2" and "step2" in given:
        return said("done")
    return asked("r1", step1=form("Step 1: What is your name?", name="string"))


async def tampered_state(_: RequestContext, params: types.CallToolRequestParams) -> Asked:
    if params.request_state and params.input_responses:
        return said("ok")
    return asked("t1", confirm=form("Please confirm", ok="boolean"))


async def capabilities(context: RequestContext, _: types.CallToolRequestParams) -> Asked:
    declared = context.session.client_capabilities
    questions: Json = {}
    if declared and declared.sampling is not None:
        questions["s"] = SAMPLE
    if declared and declared.elicitation is not None:
        questions["e"] = form("name?", name="string")
    return asked(**questions) if questions else said("none")


ROUNDS = "test_input_required_result_"
TOOLS: dict[str, Tool] = {
    "test_simple_text": simple_text,
    "test_image_content": image_content,
    "test_audio_content": audio_content,
    "test_embedded_resource": embedded_resource,
    "test_multiple_content_types": multiple_content_types,
    "test_error_handling": error_handling,
    "test_tool_with_progress": tool_with_progress,
    "test_logging_tool": nothing_special,
    "test_missing_capability": missing_capability,
    "test_streaming_elicitation": streaming_elicitation,
    f"{ROUNDS}elicitation": elicitation,
    f"{ROUNDS}sampling": sampling,
    f"{ROUNDS}list_roots": list_roots,
    f"{ROUNDS}request_state": request_state,
    f"{ROUNDS}multiple_inputs": multiple_inputs,
    f"{ROUNDS}multi_round": multi_round,
    f"{ROUNDS}tampered_state": tampered_state,
    f"{ROUNDS}capabilities": capabilities,
    "json_schema_2020_12_tool": nothing_special,
    "test_x_mcp_header": nothing_special,
}
SCHEMAS = {"json_schema_2020_12_tool": DIALECT_2020_12, "test_x_mcp_header": WITH_HEADER}
RESOURCES = [
    types.Resource(uri="test://static-text", name="static-text", mime_type="text/plain"),
    types.Resource(uri="test://static-binary", name="static-binary", mime_type="image/png"),
]
TEMPLATES = [
    types.ResourceTemplate(
        uri_template="test://template/{id}/data", name="template", mime_type="application/json"
    )
]


def _prompt(name: str, *arguments: str) -> types.Prompt:
    return types.Prompt(
        name=name,
        description="A fixture of the conformance suite.",
        arguments=[types.PromptArgument(name=argument, required=True) for argument in arguments],
    )


PROMPTS = [
    _prompt("test_simple_prompt"),
    _prompt("test_prompt_with_arguments", "arg1", "arg2"),
    _prompt("test_prompt_with_embedded_resource", "resourceUri"),
    _prompt("test_prompt_with_image"),
    _prompt(f"{ROUNDS}prompt"),
]


def _read(uri: str, version: str) -> types.ReadResourceResult:
    if uri == "test://static-binary":
        blob = types.BlobResourceContents(uri=uri, mime_type="image/png", blob=PIXEL)
        return types.ReadResourceResult(contents=[blob])
    text, kind = "This is the content of the static text resource.", "text/plain"
    if uri.startswith("test://template/"):
        name = uri.split("/")[3]
        data = {"id": name, "templateTest": True, "data": f"Data for ID: {name}"}
        text, kind = json.dumps(data), "application/json"
    elif uri != "test://static-text":
        raise resource_not_found(uri, version)
    contents = types.TextResourceContents(uri=uri, mime_type=kind, text=text)
    return types.ReadResourceResult(contents=[contents])


def _prompted(params: types.GetPromptRequestParams) -> Any:  # noqa: ANN401  a result or a question
    given = params.arguments or {}
    contents: dict[str, list[types.ContentBlock]] = {
        "test_simple_prompt": [types.TextContent(text="This is a simple prompt for testing.")],
        "test_prompt_with_arguments": [
            types.TextContent(
                text="Prompt with arguments: "
                f"arg1='{given.get('arg1')}', arg2='{given.get('arg2')}'"
            )
        ],
        "test_prompt_with_embedded_resource": [
            embedded(
                given.get("resourceUri", "test://none"),
                "text/plain",
                "Embedded resource content for testing.",
            ),
            types.TextContent(text="Please process the embedded resource above."),
        ],
        "test_prompt_with_image": [
            types.ImageContent(data=PIXEL, mime_type="image/png"),
            types.TextContent(text="Please analyze the image above."),
        ],
        f"{ROUNDS}prompt": [types.TextContent(text="with context")],
    }
    if params.name == f"{ROUNDS}prompt" and not params.input_responses:
        return asked(user_context=form("What context should the prompt use?", context="string"))
    messages = [types.PromptMessage(role="user", content=one) for one in contents[params.name]]
    return types.GetPromptResult(messages=messages)


class Mounted:
    """Answers for the suite's names, and for everything else as the server did."""

    def __init__(self, server: Server[Any]) -> None:
        self._own = server.get_request_handler

    def handlers(self) -> dict[str, Handler]:
        """Return what answers each method, over what answered it before."""
        over: dict[str, Callable[[Handler, RequestContext, Any], Awaitable[Any]]] = {
            "tools/list": self._list_tools,
            "tools/call": self._call_tool,
            "resources/list": self._list_resources,
            "resources/templates/list": self._list_templates,
            "resources/read": self._read,
            "prompts/list": self._list_prompts,
            "prompts/get": self._get_prompt,
            "completion/complete": self._complete,
        }
        return {method: self._over(method, handler) for method, handler in over.items()}

    def _over(
        self, method: str, handler: Callable[[Handler, RequestContext, Any], Awaitable[Any]]
    ) -> Handler:
        entry = self._own(method)
        assert entry is not None
        own = cast("Handler", entry.handler)

        async def answer(context: RequestContext, params: Any) -> Any:  # noqa: ANN401
            return await handler(own, context, params)

        return answer

    async def _list_tools(
        self, own: Handler, context: RequestContext, params: types.PaginatedRequestParams
    ) -> types.ListToolsResult:
        listed = cast("types.ListToolsResult", await own(context, params))
        more = [
            types.Tool(
                name=name,
                description="A fixture of the conformance suite.",
                input_schema=SCHEMAS.get(name, ANYTHING),
            )
            for name in TOOLS
        ]
        return listed.model_copy(update={"tools": [*listed.tools, *more]})

    async def _call_tool(
        self, own: Handler, context: RequestContext, params: types.CallToolRequestParams
    ) -> Asked:
        return await TOOLS.get(params.name, own)(context, params)

    async def _list_resources(
        self, own: Handler, context: RequestContext, params: types.PaginatedRequestParams
    ) -> types.ListResourcesResult:
        listed = cast("types.ListResourcesResult", await own(context, params))
        return listed.model_copy(update={"resources": [*listed.resources, *RESOURCES]})

    async def _list_templates(
        self, own: Handler, context: RequestContext, params: types.PaginatedRequestParams
    ) -> types.ListResourceTemplatesResult:
        listed = cast("types.ListResourceTemplatesResult", await own(context, params))
        every = [*listed.resource_templates, *TEMPLATES]
        return listed.model_copy(update={"resource_templates": every})

    async def _read(
        self, own: Handler, context: RequestContext, params: types.ReadResourceRequestParams
    ) -> types.ReadResourceResult:
        if params.uri.startswith("test://"):
            return _read(params.uri, context.protocol_version)
        return await own(context, params)

    async def _list_prompts(
        self, own: Handler, context: RequestContext, params: types.PaginatedRequestParams
    ) -> types.ListPromptsResult:
        listed = cast("types.ListPromptsResult", await own(context, params))
        return listed.model_copy(update={"prompts": [*listed.prompts, *PROMPTS]})

    async def _get_prompt(
        self, own: Handler, context: RequestContext, params: types.GetPromptRequestParams
    ) -> types.GetPromptResult | types.InputRequiredResult:
        if params.name in {prompt.name for prompt in PROMPTS}:
            return _prompted(params)
        return await own(context, params)

    async def _complete(
        self, own: Handler, context: RequestContext, params: types.CompleteRequestParams
    ) -> types.CompleteResult:
        if isinstance(params.ref, types.PromptReference) and params.ref.name.startswith("test_"):
            return types.CompleteResult(completion=types.Completion(values=[]))
        return await own(context, params)


def mount(server: Server[Any]) -> None:
    """Let a server answer for the suite's names too."""
    for method, handler in Mounted(server).handlers().items():
        entry = server.get_request_handler(method)
        assert entry is not None
        server.add_request_handler(method, entry.params_type, handler)
