"""Vaults and documents as MCP resources (O23), read through the tools and so through their steps.

`vault://<name>` and `vault://<name>/<directory>/` are listings, `vault://<name>/<path>` is a
document: text without secrets, or bytes. What is absent, malformed or another's looks the same.
"""

import json
from base64 import b64decode, b64encode
from collections.abc import Iterable, Iterator
from typing import Final

from mcp_types import (
    BlobResourceContents,
    ListResourcesResult,
    ListResourceTemplatesResult,
    PaginatedRequestParams,
    ReadResourceRequestParams,
    ReadResourceResult,
    Resource,
    ResourceTemplate,
    TextResourceContents,
)

from archivolt.domain.errors import (
    ArchivoltError,
    ConflictError,
    InvalidRequestError,
    NotFoundError,
    TooLargeError,
    UnsupportedContentError,
)
from archivolt.domain.limits import MAX_LIST_LIMIT, MAX_RESOURCE_BYTES, RESOURCES_PAGE
from archivolt.domain.paths import name_of, vault_uri
from archivolt.domain.tool import JsonObject
from archivolt.domain.vault_addresses import ResourceAddress, read_address
from archivolt.entrypoints.mcp.caller import Caller, RequestContext, caller_of
from archivolt.entrypoints.mcp.cursors import Place, read_cursor, require_no_cursor
from archivolt.entrypoints.mcp.failures import protocol_error, resource_not_found
from archivolt.tools.pipeline import ToolPipeline
from archivolt.vaults.content_types import UNKNOWN, content_type_of

# A part of a document is never cut again: whole it is at most 200,000 bytes, six times that
# written as JSON escapes.
_ROOM_CHARS: Final = 2_000_000
_BYTES_ONLY: Final = ("image/", "audio/", "video/", "application/pdf", "application/zip")
_TEXT_ANYWAY: Final = "image/svg+xml"

_TEMPLATES: Final = [
    ResourceTemplate(
        uri_template="vault://{vault}",
        name="vault",
        title="Vault",
        description="What is at the root of a vault, as JSON with the address of each entry.",
        mime_type="application/json",
    ),
    ResourceTemplate(
        uri_template="vault://{vault}/{+path}",
        name="document",
        title="Document",
        description=(
            "A document of a vault: text without its secrets, or bytes. A path that ends in a "
            "slash is a directory, listed as JSON."
        ),
    ),
]

Contents = TextResourceContents | BlobResourceContents


class McpResources:
    """The handlers of `resources/list`, `resources/templates/list` and `resources/read`."""

    def __init__(self, pipeline: ToolPipeline) -> None:
        self._pipeline = pipeline.with_room_for(_ROOM_CHARS)

    async def list_templates(
        self, _: RequestContext, params: PaginatedRequestParams | None
    ) -> ListResourceTemplatesResult:
        """Return the forms of our addresses."""
        require_no_cursor(params.cursor if params else None)
        return ListResourceTemplatesResult(resource_templates=_TEMPLATES)

    async def list_resources(
        self, context: RequestContext, params: PaginatedRequestParams | None
    ) -> ListResourcesResult:
        """Return one page: first every vault of the caller, then the files of each in turn."""
        caller = caller_of(context)
        cursor = params.cursor if params else None
        place = read_cursor(cursor) if cursor is not None else None
        try:
            names = self._vaults(caller)
            roots = [] if place else [_vault(name) for name in names]
            return self._page(caller, names, roots, place or Place(""))
        except ArchivoltError as error:
            raise protocol_error(error, caller.language) from error

    async def read(
        self, context: RequestContext, params: ReadResourceRequestParams
    ) -> ReadResourceResult:
        """Return a listing or a document.

        Raises:
            MCPError: "Resource not found", or why it cannot be read now or here.

        """
        caller = caller_of(context)
        absent = resource_not_found(params.uri, context.protocol_version)
        try:
            address = read_address(params.uri)
            contents = self._contents(caller, address, params.uri)
        except (ValueError, NotFoundError, InvalidRequestError):
            raise absent from None
        except ArchivoltError as error:
            raise protocol_error(error, caller.language) from error
        return ReadResourceResult(contents=[contents])

    def _vaults(self, caller: Caller) -> list[str]:
        listed = caller.call(self._pipeline, "list_vaults", {})
        return sorted(vault["name"] for vault in listed["vaults"])

    def _page(
        self, caller: Caller, names: Iterable[str], resources: list[Resource], place: Place
    ) -> ListResourcesResult:
        for name in names:
            if name < place.vault:
                continue
            if len(resources) >= RESOURCES_PAGE:
                return ListResourcesResult(resources=resources, next_cursor=Place(name).cursor())
            arguments = {
                "vault": name,
                "limit": RESOURCES_PAGE - len(resources),
                "after": place.after if name == place.vault else None,
            }
            listed = caller.call(self._pipeline, "list_all_files", arguments)
            resources += [_document(name, file) for file in listed["files"]]
            if listed["next_after"] is not None:
                cursor = Place(name, listed["next_after"]).cursor()
                return ListResourcesResult(resources=resources, next_cursor=cursor)
        return ListResourcesResult(resources=resources)

    def _contents(self, caller: Caller, address: ResourceAddress, uri: str) -> Contents:
        if address.is_directory:
            return self._listing(caller, address, uri)
        kind = content_type_of(address.path)
        if not kind.startswith(_BYTES_ONLY) or kind == _TEXT_ANYWAY:
            try:
                return self._text(caller, address, uri, kind)
            except UnsupportedContentError:
                pass
        return self._blob(caller, address, uri, kind)

    def _listing(self, caller: Caller, address: ResourceAddress, uri: str) -> Contents:
        arguments = {"vault": address.vault, "path": address.path, "limit": MAX_LIST_LIMIT}
        listed = caller.call(self._pipeline, "list_directory", arguments)
        for entry in listed["entries"]:
            entry["uri"] = vault_uri(listed["vault"], entry["path"])
        text = json.dumps(listed, ensure_ascii=False)
        return TextResourceContents(uri=uri, mime_type="application/json", text=text)

    def _text(self, caller: Caller, address: ResourceAddress, uri: str, kind: str) -> Contents:
        parts = self._parts(caller, "read_file", address)
        text = "".join(part["content"] for part in parts)
        mime_type = "text/plain" if kind == UNKNOWN else kind
        return TextResourceContents(uri=uri, mime_type=mime_type, text=text)

    def _blob(self, caller: Caller, address: ResourceAddress, uri: str, kind: str) -> Contents:
        parts = self._parts(caller, "read_file_raw", address)
        data = b"".join(b64decode(part["data"]) for part in parts)
        mime_type = UNKNOWN if kind.startswith("text/") else kind
        return BlobResourceContents(uri=uri, mime_type=mime_type, blob=b64encode(data).decode())

    def _parts(self, caller: Caller, tool: str, address: ResourceAddress) -> Iterator[JsonObject]:
        """Yield the parts of one version of a document, in order."""
        offset, etag = 0, None
        while offset is not None:
            arguments = {"vault": address.vault, "path": address.path, "offset": offset}
            part = caller.call(self._pipeline, tool, arguments)
            if part["size"] > MAX_RESOURCE_BYTES:
                raise TooLargeError(
                    "file_too_large",
                    path=part["path"],
                    size=part["size"],
                    limit=MAX_RESOURCE_BYTES,
                )
            if etag not in {None, part["etag"]}:
                raise ConflictError("conflict")
            yield part
            offset, etag = part["next_offset"], part["etag"]


def _vault(name: str) -> Resource:
    return Resource(uri=vault_uri(name), name=name, title=name, mime_type="application/json")


def _document(vault: str, file: JsonObject) -> Resource:
    path: str = file["path"]
    return Resource(
        uri=vault_uri(vault, path),
        name=path,
        title=name_of(path),
        mime_type=content_type_of(path),
        size=file["size"],
    )
