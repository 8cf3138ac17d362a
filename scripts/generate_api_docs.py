"""Write docs/api.md from what the code says of itself: OpenAPI, the tool registry, the messages.

A test compares the file with what this gives (`make docs` writes it anew).
"""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Final, NoReturn

from archivolt.domain.messages import MESSAGES
from archivolt.domain.reasons import REASONS
from archivolt.domain.tool import Surface, ToolSpec
from archivolt.entrypoints.http.openapi import product_openapi
from archivolt.entrypoints.http.tools_app import create_tools_app
from archivolt.tools.catalogue import native_tools
from scripts.rights_table import rights_table

TARGET: Final = Path(__file__).parents[1] / "docs" / "api.md"

_SECTIONS: Final = {
    "vaults": "Vaults",
    "files": "Files",
    "search": "Search",
    "tools": "Tools",
    "chat": "Chat",
    "agent": "Agent runs",
    "models": "Models",
    "usage": "Usage and budgets",
    "audit": "Audit",
    "tokens": "Personal access tokens",
    "confirmations": "Confirmations of an agent's changes",
    "settings": "Settings",
    "tenants": "Tenants and users",
    "erasure": "Erasing, and taking home",
    "mcp": "MCP",
    "mcp-servers": "MCP servers of others",
    "webhooks": "Webhooks",
    "health": "Health and description",
}
# Where the addresses of the tools that came before are now (decision 3).
FORMER_ADDRESSES: Final = (
    ("GET /api/vaults", "get /api/v1/vaults"),
    ("GET /api/browse/{vault}", "get /api/v1/browse/{vault}"),
    ("GET /api/vault/{vault}/files", "get /api/v1/vault/{vault}/files"),
    ("GET /api/file/{vault}/raw", "get /api/v1/file/{vault}/raw"),
    ("POST /api/file/{vault}", "post /api/v1/file/{vault}"),
    ("GET /api/search", "get /api/v1/search"),
    ("POST /api/ai/bookslm/chat", "post /api/v1/chat/messages"),
    ("POST /api/ai/bookslm/agent", "post /api/v1/chat/messages"),
    ("POST /api/config", "post /api/v1/config"),
    ("GET /api/config/ai-models", "get /api/v1/config/ai-models"),
    ("GET /api/ai/status", "get /api/v1/ai/status"),
    ("GET /api/ai/model-capabilities", "get /api/v1/ai/model-capabilities"),
    ("/mcp", "post /mcp"),
    ("search_owncloud_docs (MCP tool)", "post /api/v1/tools/{name}"),
)

_INTRODUCTION: Final = """\
# API

Made by `make docs` from the code; do not edit by hand. The machine-readable form is served at
`GET /api/v1/openapi.json`.

Every request but those marked *public* carries `Authorization: Bearer <token>`; a personal access
token also goes as the password of HTTP Basic, under its owner's user id. A token whose audience is
the MCP endpoint alone reads through the tools, as an agent does, and changes nothing here: what
takes *a person's own token* refuses it with 403 `person_required`.

An error is `{"error": {"code", "message", "details"}}`: the code is stable, the message is in the
language of `Accept-Language` (English or French). A vault, file or conversation of others is not
found (404), exactly as one that does not exist. A vault's name is percent-encoded in an address.

A route that reads is a tool under an address of its own: same arguments, same result, same errors.
As a tool a result has at most 8,000 characters of JSON and says how to read on; the address returns
up to 1,400,000.
"""


def render() -> str:
    """Return the whole page."""
    document = product_openapi(create_tools_app(_no_services))
    parts = [_INTRODUCTION]
    for tag, title in _SECTIONS.items():
        parts += [f"## {title}\n", *_operations(document, tag)]
    parts += ["## The tools\n", *_tools(), *rights_table(document)]
    parts += [*_former(document), *_errors()]
    return "\n".join(parts)


def _no_services() -> NoReturn:
    raise LookupError("a description of routes needs no services")


def _operations(document: Mapping[str, Any], tag: str) -> Iterator[str]:
    for path, item in document["paths"].items():
        for method, operation in item.items():
            if operation["tags"] == [tag]:
                yield from _operation(document, f"{method.upper()} {path}", operation)


def _operation(
    document: Mapping[str, Any], address: str, operation: Mapping[str, Any]
) -> Iterator[str]:
    public = "" if operation.get("security") else " *(public)*"
    yield f"### `{address}`{public}\n"
    yield f"{operation['summary']}. {operation.get('description', '')}".strip() + "\n"
    parameters = operation.get("parameters", [])
    if parameters:
        yield "| parameter | in | type | |\n|---|---|---|---|"
        for each in parameters:
            about = _about(each.get("description", ""), required=each.get("required", False))
            yield f"| `{each['name']}` | {each['in']} | {_type(each['schema'])} | {about} |"
        yield ""
    yield from _body(document, operation)
    yield from _answers(document, operation)


def _body(document: Mapping[str, Any], operation: Mapping[str, Any]) -> Iterator[str]:
    body = operation.get("requestBody")
    if body:
        declared = body["content"]["application/json"]["schema"]
        fields = list(_fields(document, _resolved(document, declared)))
        yield "Body:\n" if fields else f"Body: an object. {declared.get('description', '')}\n"
        yield from fields


def _answers(document: Mapping[str, Any], operation: Mapping[str, Any]) -> Iterator[str]:
    for status, answer in operation["responses"].items():
        if not status.startswith(("2", "3")):
            continue
        schema = answer.get("content", {}).get("application/json", {}).get("schema", {})
        fields = list(_fields(document, _resolved(document, schema), given=False))
        said = "" if answer["description"] == "Successful Response" else f" {answer['description']}"
        yield f"Answer {status}{':' if fields else '.'}{said}\n"
        yield from fields


def _fields(
    document: Mapping[str, Any], schema: Mapping[str, Any], *, given: bool = True
) -> Iterator[str]:
    """Yield a table of the fields of an object, which the caller gives or gets."""
    properties = schema.get("properties", {})
    if not properties:
        return
    yield "| field | type | |\n|---|---|---|"
    for name, property_ in properties.items():
        required = given and name in schema.get("required", [])
        about = _about(property_.get("description", ""), required=required)
        yield f"| `{name}` | {_type(property_, document)} | {about} |"
    yield ""


def _resolved(document: Mapping[str, Any], schema: Mapping[str, Any]) -> Mapping[str, Any]:
    given = [option for option in schema.get("anyOf", []) if option.get("type") != "null"]
    if len(given) == 1:
        return _resolved(document, given[0])
    name = schema.get("$ref", "").rpartition("/")[2]
    return document["components"]["schemas"][name] if name else schema


def _type(schema: Mapping[str, Any], document: Mapping[str, Any] | None = None) -> str:
    if "enum" in schema:
        return " \\| ".join(f"`{value}`" for value in schema["enum"])
    if "anyOf" in schema:
        return " or ".join(_type(option, document) for option in schema["anyOf"])
    if "$ref" in schema:
        return _named(schema, document)
    if schema.get("type") == "array":
        return f"list of {_type(schema.get('items', {}), document)}"
    limits = [
        f"{sign} {schema[key]}"
        for key, sign in (("minimum", "≥"), ("maximum", "≤"), ("maxLength", "length ≤"))
        if key in schema
    ]
    default = [f"default `{schema['default']}`"] if schema.get("default") not in {None, ""} else []
    return ", ".join([schema.get("type", "any"), *limits, *default])


def _named(schema: Mapping[str, Any], document: Mapping[str, Any] | None) -> str:
    """Return an object by the names of its fields, so that nobody has to look elsewhere."""
    name = schema["$ref"].rpartition("/")[2]
    target: Mapping[str, Any] = document["components"]["schemas"][name] if document else {}
    if "enum" in target:
        return _type(target)
    fields = ", ".join(f"`{field}`" for field in target.get("properties", {}))
    return f"{{{fields}}}" if fields else name


def _about(description: str, *, required: bool) -> str:
    return f"{'**required** ' if required else ''}{description}".strip()


def _tools() -> Iterator[str]:
    yield "`POST /api/v1/tools/{name}`, the MCP endpoint and the chat call the same tools.\n"
    for spec in native_tools().specs(Surface.IN_APP):
        yield from _tool(spec)


def _tool(spec: ToolSpec) -> Iterator[str]:
    where = ", ".join(sorted(spec.scopes))
    yield f"### `{spec.name}`\n"
    yield f"{spec.description}\n"
    yield f"Risk: {spec.risk}. Where: {where}. Step: “{spec.label.en}”, « {spec.label.fr} ».\n"
    yield from _fields({}, spec.parameters)


def _former(document: Mapping[str, Any]) -> Iterator[str]:
    yield "## Former addresses\n"
    yield "| before | now |\n|---|---|"
    for before, now in FORMER_ADDRESSES:
        method, path = now.split(" ")
        if method not in document["paths"][path]:
            raise ValueError(f"there is no {now}")
        yield f"| `{before}` | `{method.upper()} {path}` |"
    yield ""


def _errors() -> Iterator[str]:
    yield "## Error codes\n"
    yield "| code | message |\n|---|---|"
    for code, message in MESSAGES.items():
        yield f"| `{code}` | {message.en} |"
    yield "\n`details.reason` or `details.problem` may be one of these codes:\n"
    yield "| reason | in the message |\n|---|---|"
    for code, clause in REASONS.items():
        yield f"| `{code}` | {clause.en} |"
    yield ""


if __name__ == "__main__":
    TARGET.write_text(render(), encoding="utf-8")
