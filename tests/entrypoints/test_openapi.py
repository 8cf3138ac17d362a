"""The one description of the API: complete, consistent, and served without a token."""

from typing import Any

import pytest

from archivolt.entrypoints.http.openapi import merged
from archivolt.tools.catalogue import native_tools
from tests.entrypoints.rest_world import RestWorld

ADDRESSES = {
    "get /healthz",
    "get /api/v1/vaults",
    "post /api/v1/vaults",
    "get /api/v1/vaults/{vault}/members",
    "put /api/v1/vaults/{vault}/members/{user}",
    "delete /api/v1/vaults/{vault}/members/{user}",
    "get /api/v1/browse/{vault}",
    "get /api/v1/file/{vault}",
    "post /api/v1/file/{vault}",
    "get /api/v1/file/{vault}/raw",
    "get /api/v1/vault/{vault}/files",
    "get /api/v1/vault/{vault}/index",
    "get /api/v1/search",
    "get /api/v1/tools",
    "post /api/v1/tools/{name}",
    "get /api/v1/tenants/{tenant}/settings",
    "put /api/v1/tenants/{tenant}/settings",
    "get /api/v1/openapi.json",
    "post /api/v1/chat/messages",
    "get /api/v1/chat/conversations",
    "get /api/v1/chat/conversations/{conversation_id}",
    "patch /api/v1/chat/conversations/{conversation_id}",
    "delete /api/v1/chat/conversations/{conversation_id}",
    "post /mcp",
}


@pytest.fixture(scope="module")
def document() -> dict[str, Any]:
    answer = RestWorld().get("/api/v1/openapi.json", user="")
    assert answer.status == 200
    return answer.json


def test_every_address_of_the_product_is_described(document: dict[str, Any]) -> None:
    described = {f"{method} {path}" for path, item in document["paths"].items() for method in item}

    assert described >= ADDRESSES


def test_operations_have_names_of_their_own_and_a_summary(document: dict[str, Any]) -> None:
    operations = [o for item in document["paths"].values() for o in item.values()]

    assert len({o["operationId"] for o in operations}) == len(operations)
    assert all(o["summary"] for o in operations)
    assert all(len(o["tags"]) == 1 for o in operations)


def test_only_what_needs_no_token_says_so(document: dict[str, Any]) -> None:
    public = {
        path
        for path, item in document["paths"].items()
        for operation in item.values()
        if not operation.get("security")
    }

    assert public == {
        "/healthz",
        "/api/v1/openapi.json",
        "/.well-known/oauth-protected-resource/mcp",
    }


def test_the_mcp_endpoint_is_described_under_its_own_tag(document: dict[str, Any]) -> None:
    operation = document["paths"]["/mcp"]["post"]

    assert operation["tags"] == ["mcp"]
    body = operation["requestBody"]["content"]["application/json"]["schema"]
    assert {"jsonrpc", "method"} <= set(body["required"])
    assert document["paths"]["/mcp"].keys() == {"post"}


def test_every_door_tells_of_both_ways_to_show_a_token(document: dict[str, Any]) -> None:
    schemes = document["components"]["securitySchemes"]
    ways = {name: (scheme["type"], scheme["scheme"]) for name, scheme in schemes.items()}

    assert ways == {"BearerToken": ("http", "bearer"), "PersonalToken": ("http", "basic")}
    for item in document["paths"].values():
        for operation in item.values():
            # Either is enough: a list of alternatives, none of them with both.
            assert operation.get("security", []) in ([], [{name: []} for name in ways])


def test_a_route_that_reads_has_the_parameters_and_the_result_of_its_tool(
    document: dict[str, Any],
) -> None:
    operation = document["paths"]["/api/v1/browse/{vault}"]["get"]
    tool = native_tools().get("list_directory").spec

    assert {p["name"]: p["in"] for p in operation["parameters"]} == {
        "vault": "path",
        "path": "query",
        "limit": "query",
        "after": "query",
    }
    limit = next(p for p in operation["parameters"] if p["name"] == "limit")
    assert limit["schema"] == {
        k: v for k, v in tool.parameters["properties"]["limit"].items() if k != "description"
    }
    reference = operation["responses"]["200"]["content"]["application/json"]["schema"]["$ref"]
    assert reference == "#/components/schemas/DirectoryListing"
    assert document["components"]["schemas"]["DirectoryListing"]


def test_every_reference_leads_somewhere(document: dict[str, Any]) -> None:
    def references(node: Any) -> set[str]:  # noqa: ANN401
        if isinstance(node, list):
            return {r for item in node for r in references(item)}  # pyright: ignore[reportUnknownVariableType]
        if not isinstance(node, dict):
            return set()
        own = {str(node["$ref"])} if "$ref" in node else set[str]()  # pyright: ignore[reportUnknownArgumentType]
        return own.union(*(references(value) for value in node.values()))  # pyright: ignore[reportUnknownVariableType]

    known = {f"#/components/schemas/{name}" for name in document["components"]["schemas"]}

    assert references(document) <= known


def test_two_descriptions_of_one_thing_are_refused() -> None:
    first: dict[str, Any] = {"info": {}, "paths": {"/a": {"get": {"summary": "one"}}}}
    second: dict[str, Any] = {"paths": {"/a": {"get": {"summary": "two"}}}}

    with pytest.raises(ValueError, match="/a get"):
        merged([first, second])
