"""A person's own files: their bytes as they are (decision 26)."""

from typing import Annotated, Any
from urllib.parse import quote

from fastapi import APIRouter, Query, Request, Response

from archivolt.domain.errors import InvalidRequestError
from archivolt.domain.messages import Language
from archivolt.domain.paths import VaultPath, name_of, resolve_path
from archivolt.domain.vault import FileContent, FileInfo, VaultAccess
from archivolt.entrypoints.http.authentication import InteractivePrincipal
from archivolt.entrypoints.http.byte_ranges import ByteRange, content_range, requested_range
from archivolt.entrypoints.http.errors import error_response, language_for
from archivolt.entrypoints.http.services import ServicesOf
from archivolt.vaults.content_types import is_shown_in_place
from archivolt.vaults.files import FileService

_PART: dict[str, Any] = {
    "description": "The part that a `Range` header asks for.",
    "content": {"*/*": {}},
}
_WHOLE: dict[str, Any] = {"description": "The bytes.", "content": {"*/*": {}}}


def file_router(services: ServicesOf) -> APIRouter:
    """Return the routes of a person's own files."""
    router = APIRouter(tags=["files"])
    _add_reading(router, services)
    return router


def _add_reading(router: APIRouter, services: ServicesOf) -> None:
    @router.get(
        "/file/{vault}/raw",
        summary="Download a file as it is",
        operation_id="read_bytes",
        response_class=Response,
        responses={200: _WHOLE, 206: _PART, 304: {"description": "`If-None-Match` still holds."}},
    )
    def read_bytes(  # pyright: ignore[reportUnusedFunction]
        request: Request, principal: InteractivePrincipal, vault: str, path: Annotated[str, Query()]
    ) -> Response:
        """In one answer up to 4 MB, in parts (`Range`) beyond; takes a person's own token."""
        with services().by_hand.doing(principal, "read_bytes", vault=vault, path=path):
            access = services().vaults.access(principal, vault)
            return _bytes_of(services().files, access, resolve_path(path), request)


def _bytes_of(
    files: FileService, access: VaultAccess, path: VaultPath, request: Request
) -> Response:
    info = files.info(access, path)
    if request.headers.get("if-none-match") == _quoted(info):
        return Response(status_code=304, headers={"ETag": _quoted(info)})
    part = requested_range(request.headers.get("range"), info.size)
    if part is None:
        return _answer(files.read_bytes(access, path), None)
    if not part.satisfiable:
        return _unsatisfiable(info, language_for(request))
    return _answer(files.read_bytes(access, path, offset=part.offset, limit=part.length), part)


def _unsatisfiable(info: FileInfo, language: Language) -> Response:
    error = InvalidRequestError("range_not_satisfiable", path=info.path, size=info.size)
    headers = {"Content-Range": f"bytes */{info.size}"}
    return error_response(error, language, status=416, headers=headers)


def _answer(content: FileContent, part: ByteRange | None) -> Response:
    info = content.info
    headers = {
        "Accept-Ranges": "bytes",
        "Cache-Control": "private, no-cache",
        "Content-Disposition": _disposition(info),
        "Content-Security-Policy": "default-src 'none'; sandbox",
        "Content-Type": info.content_type,
        "ETag": _quoted(info),
        "X-Content-Type-Options": "nosniff",
    }
    if info.content_type == "application/pdf":
        del headers["Content-Security-Policy"]  # a browser's own viewer does not open under it
    if part is not None:
        headers["Content-Range"] = content_range(part.offset, len(content.data), info.size)
    return Response(content.data, 200 if part is None else 206, headers)


def _disposition(info: FileInfo) -> str:
    """Return how a browser takes the file: what could run a script is only downloaded."""
    kind = "inline" if is_shown_in_place(info.content_type) else "attachment"
    return f"{kind}; filename*=UTF-8''{quote(name_of(info.path), safe='')}"


def _quoted(info: FileInfo) -> str:
    return f'"{info.etag}"'
