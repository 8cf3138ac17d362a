"""The routes that read: each is a tool under an address of its own (O6).

A call gives the same result, or the same error, as the tool of the same arguments: through the
same pipeline, only with more room.
"""

from collections.abc import Mapping
from typing import Any, Final, NamedTuple

from fastapi import APIRouter, Request
from fastapi.datastructures import QueryParams
from fastapi.responses import JSONResponse

from archivolt.domain.limits import MAX_REST_RESULT_CHARS
from archivolt.entrypoints.http.authentication import CurrentPrincipal
from archivolt.entrypoints.http.errors import language_for
from archivolt.entrypoints.http.etags import etag_header
from archivolt.entrypoints.http.services import ServicesOf, surface_of
from archivolt.tools.catalogue import native_tools
from archivolt.tools.registry import Tool


class ReadRoute(NamedTuple):
    """An address and the tool behind it."""

    path: str
    tool: str
    tag: str
    summary: str


READ_ROUTES: Final = (
    ReadRoute("/vaults", "list_vaults", "vaults", "List your vaults"),
    ReadRoute("/browse/{vault}", "list_directory", "files", "List a directory"),
    ReadRoute("/file/{vault}", "read_file", "files", "Read a text file, secrets taken out"),
    ReadRoute("/vault/{vault}/files", "list_all_files", "files", "List all files of a vault"),
    ReadRoute("/file/{vault}/backups", "list_backups", "files", "List the versions of a file"),
    ReadRoute("/file/{vault}/diff", "diff_backup", "files", "Compare two versions of a file"),
    ReadRoute("/file/{vault}/backlinks", "get_backlinks", "files", "List what links to a file"),
    ReadRoute("/graph/{vault}", "get_graph", "files", "Draw the links between notes"),
    ReadRoute("/search", "search_fulltext", "search", "Search the words of documents"),
    ReadRoute("/search/advanced", "search_advanced", "search", "Search texts and patterns"),
    ReadRoute("/tree-search", "search_paths", "search", "Search paths by their words"),
    ReadRoute("/tags", "list_tags", "search", "List the tags in use"),
    ReadRoute("/tags/suggest", "suggest_tags", "search", "Suggest tags that suit a text or a note"),
    ReadRoute("/recent", "list_recent", "search", "List the newest files"),
)


def read_router(services: ServicesOf) -> APIRouter:
    """Return the routes of `READ_ROUTES`."""
    router = APIRouter()
    tools = native_tools()
    for route in READ_ROUTES:
        _add(router, route, tools.get(route.tool), services)
    return router


def _add(router: APIRouter, route: ReadRoute, tool: Tool, services: ServicesOf) -> None:
    def read(request: Request, principal: CurrentPrincipal) -> JSONResponse:
        # The path comes last: a query parameter cannot name another vault.
        given = _given(request.query_params)
        result = (
            services()
            .pipeline.with_room_for(MAX_REST_RESULT_CHARS)
            .call(
                principal,
                tool.name,
                given | request.path_params,
                surface=surface_of(principal),
                language=language_for(request),
            )
        )
        return JSONResponse(result.value, headers=etag_header(result.value))

    router.add_api_route(
        route.path,
        read,
        methods=["GET"],
        response_model=tool.result,
        name=tool.name,
        operation_id=tool.name,
        tags=[route.tag],
        summary=route.summary,
        description=f"The same as the tool `{tool.name}`.",
        openapi_extra={"parameters": _parameters(route.path, tool.spec.parameters)},
    )


def _given(query: QueryParams) -> dict[str, str | list[str]]:
    """Return the parameters of an address; one that is given several times is a list."""
    return {
        name: values if len(values) > 1 else values[0]
        for name in query
        if any(values := query.getlist(name))
    }


def _parameters(path: str, schema: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return a tool's parameters as those of an address."""
    parameters: list[dict[str, Any]] = []
    for name, property_ in schema["properties"].items():
        in_path = f"{{{name}}}" in path
        parameters.append(
            {
                "name": name,
                "in": "path" if in_path else "query",
                "required": in_path or name in schema.get("required", []),
                "description": property_["description"],
                "schema": {k: v for k, v in property_.items() if k != "description"},
            }
        )
    return parameters
