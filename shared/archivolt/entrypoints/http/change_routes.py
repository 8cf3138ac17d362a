"""The routes by which a person changes files (O6): each is a tool at an address of its own.

They take a person's own token and no second step (decision 26). `If-Match` says the same as `etag`;
where it does not hold, the answer is 412, with the ETag and the difference that a 409 has.
"""

from collections.abc import Callable
from typing import Annotated, Any, Final, NamedTuple

from fastapi import APIRouter, Body, Request
from fastapi.responses import JSONResponse

from archivolt.domain.errors import ConflictError, InvalidRequestError
from archivolt.entrypoints.http.authentication import InteractivePrincipal
from archivolt.entrypoints.http.errors import error_response, language_for
from archivolt.entrypoints.http.etags import etag_header, etag_in
from archivolt.entrypoints.http.services import ServicesOf
from archivolt.tools.catalogue.own_hand import hand_tools
from archivolt.tools.registry import Registry
from archivolt.tools.schemas import input_schema

_OPERATION: Final = {
    "type": "string",
    "description": "To go on with a change that answered `operation_unfinished`: its `operation`.",
}


class ChangeRoute(NamedTuple):
    """An address and the tool behind it.

    `otherwise` is a parameter, and the tool that is meant where it is given. A change of `many`
    files may end unfinished, and goes on when it is asked for again as that operation.
    """

    method: str
    path: str
    tool: str
    tag: str
    summary: str
    status: int = 200
    otherwise: tuple[str, str] = ("", "")
    needs_etag: bool = False
    many: bool = False


CHANGE_ROUTES: Final = (
    ChangeRoute("POST", "/file/{vault}", "create_file", "files", "Create a file", 201),
    ChangeRoute(
        "PUT", "/file/{vault}/save", "edit_file", "files", "Save a text file", needs_etag=True
    ),
    ChangeRoute("POST", "/file/{vault}/append", "append_to_file", "files", "Add to a text file"),
    ChangeRoute(
        "PATCH",
        "/file/{vault}",
        "rename_file",
        "files",
        "Rename a file, or change its front matter",
        otherwise=("frontmatter", "update_properties"),
    ),
    ChangeRoute("DELETE", "/file/{vault}", "delete_file", "files", "Delete a file"),
    ChangeRoute("POST", "/file/{vault}/restore", "restore_backup", "files", "Restore a version"),
    ChangeRoute(
        "POST", "/directory/{vault}", "create_directory", "files", "Create a directory", 201
    ),
    ChangeRoute(
        "PATCH", "/directory/{vault}", "rename_directory", "files", "Rename a directory", many=True
    ),
    ChangeRoute(
        "DELETE", "/directory/{vault}", "delete_directory", "files", "Delete a directory", many=True
    ),
    ChangeRoute(
        "POST",
        "/directory/{vault}/undelete",
        "undelete_directory",
        "files",
        "Undelete a directory",
        many=True,
    ),
    ChangeRoute(
        "POST", "/move/{vault}", "move_path", "files", "Move a file or a directory", many=True
    ),
    ChangeRoute("POST", "/search/replace", "replace_in_files", "search", "Replace in many files"),
)

JsonBody = Annotated[dict[str, Any], Body()]
Answer = Callable[[Request, InteractivePrincipal, dict[str, Any]], JSONResponse]


def change_router(services: ServicesOf) -> APIRouter:
    """Return the routes of `CHANGE_ROUTES`."""
    router = APIRouter()
    tools = hand_tools()
    for route in CHANGE_ROUTES:
        answer = _answer_of(route, services)
        endpoint = _without_body(answer) if route.method == "DELETE" else _with_body(answer)
        router.add_api_route(
            route.path,
            endpoint,
            methods=[route.method],
            status_code=route.status,
            response_model=tools.get(route.tool).result,
            name=f"{route.tool}_by_hand",
            operation_id=route.tool,
            tags=[route.tag],
            summary=route.summary,
            description=_description(route, tools),
            openapi_extra=_parameters(route, tools),
        )
    return router


def _with_body(answer: Answer) -> Callable[..., JSONResponse]:
    def change(request: Request, principal: InteractivePrincipal, body: JsonBody) -> JSONResponse:
        return answer(request, principal, body)

    return change


def _without_body(answer: Answer) -> Callable[..., JSONResponse]:
    def change(request: Request, principal: InteractivePrincipal) -> JSONResponse:
        return answer(request, principal, dict(request.query_params))

    return change


def _answer_of(route: ChangeRoute, services: ServicesOf) -> Answer:
    def answer(
        request: Request, principal: InteractivePrincipal, given: dict[str, Any]
    ) -> JSONResponse:
        name, tool = route.otherwise
        tool = tool if name in given else route.tool
        condition = etag_in(request.headers.get("if-match"))
        # The path comes last: a body cannot name another vault.
        arguments = given | ({"etag": condition} if condition else {}) | request.path_params
        operation = arguments.pop("operation", "") if route.many else ""
        if route.needs_etag and not (arguments.get("etag") or "if-match" in request.headers):
            raise InvalidRequestError("etag_required")
        try:
            result = services().changes.change(
                principal,
                tool,
                arguments,
                language=language_for(request),
                operation=str(operation),
            )
        except ConflictError as error:
            if error.code != "conflict" or not condition:
                raise
            return error_response(error, language_for(request), status=412)
        return JSONResponse(result.value, route.status, etag_header(result.value))

    return answer


def _description(route: ChangeRoute, tools: Registry) -> str:
    tool = tools.get(route.tool)
    name, other = route.otherwise
    parts = [
        f"The same as the tool `{tool.name}`, at once." if tool.scopes else tool.description,
        f"With `{name}`: {tools.get(other).description}" if other else "",
        "Takes a person's own token.",
        "`If-Match` says the same as `etag`." if "etag" in tool.arguments.model_fields else "",
    ]
    return " ".join(filter(None, parts))


def _parameters(route: ChangeRoute, tools: Registry) -> dict[str, Any]:
    """Return how the arguments travel, for OpenAPI."""
    schema = _schema(route, tools)
    in_path = [
        {"name": "vault", "in": "path", "required": True, "schema": {"type": "string"}}
        for _ in range(route.path.count("{vault}"))
    ]
    if route.method != "DELETE":
        body = {"content": {"application/json": {"schema": schema}}, "required": True}
        return {"parameters": in_path, "requestBody": body}
    in_query = [
        {
            "name": name,
            "in": "query",
            "required": name in schema["required"],
            "description": about["description"],
            "schema": {key: value for key, value in about.items() if key != "description"},
        }
        for name, about in schema["properties"].items()
    ]
    return {"parameters": [*in_path, *in_query]}


def _schema(route: ChangeRoute, tools: Registry) -> dict[str, Any]:
    """Return the schema of what is given beside the path, of both tools where there are two."""
    names = [route.tool, *filter(None, route.otherwise[1:])]
    schemas = [input_schema(tools.get(name).arguments) for name in names]
    given: dict[str, Any] = {n: about for s in schemas for n, about in s["properties"].items()}
    if "{vault}" in route.path:
        del given["vault"]
    if route.many:
        given["operation"] = _OPERATION
    required = [n for n in given if all(n in schema.get("required", []) for schema in schemas)]
    return {**schemas[0], "properties": given, "required": required}
