"""Reading files (O36, O37)."""

from base64 import b64encode
from datetime import datetime

from pydantic import Field

from archivolt.domain.partial_reads import etag_of_part
from archivolt.domain.paths import resolve_path, vault_uri
from archivolt.domain.tool import JsonObject
from archivolt.tools.catalogue.parameters import FilePath, Note, Vault
from archivolt.tools.context import ToolContext
from archivolt.tools.registry import tool
from archivolt.tools.schemas import ToolInput, ToolOutput
from archivolt.tools.truncation import Cut, from_offset
from archivolt.vaults.files import BytesPart, TextPart


class ReadFile(ToolInput):
    """Arguments of `read_file`."""

    vault: Vault
    path: FilePath
    offset: int = Field(default=0, ge=0, description="Character to start at.")
    limit: int | None = Field(default=None, ge=1, description="How many characters at most.")


class FileText(ToolOutput):
    """Result of `read_file`."""

    vault: str
    path: str
    uri: str = Field(description="How to cite it.")
    etag: str = Field(
        description="Names this version of the file; a change gives it back. That of a part of a "
        "file says so, and serves for no edit_file."
    )
    size: int = Field(description="In bytes.")
    modified: datetime
    content_type: str
    encoding: str
    total_chars: int
    redactions: int = Field(description="How many secrets of the file are hidden.")
    offset: int
    next_offset: int | None = Field(default=None, description="Where to go on; null at the end.")
    content: str
    note: Note = None


@tool(
    description="""Read a text file of a vault: notes, source code, data. Long files come in parts:
    call again with offset = next_offset. Secrets such as keys and passwords are replaced by
    [redacted:…]. For the text of PDF and Office documents use search_documents instead.""",
    cut=Cut(
        field="content",
        cursor="next_offset",
        argument="offset",
        position=from_offset,
        by_line=True,
        etag="etag",
    ),
)
def read_file(context: ToolContext, arguments: ReadFile) -> FileText:
    """Return a part of the text of a file."""
    path = resolve_path(arguments.path)
    part = context.services.files.read_text(
        context.access, path, offset=arguments.offset, limit=arguments.limit
    )
    return FileText(
        vault=context.access.vault.name,
        path=path,
        uri=vault_uri(context.access.vault.name, path),
        etag=_etag(part),
        size=part.info.size,
        modified=part.info.modified,
        content_type=part.info.content_type,
        encoding=part.encoding,
        total_chars=part.total_chars,
        redactions=part.redactions,
        offset=part.offset,
        next_offset=part.next_offset,
        content=part.text,
    )


def _etag(part: TextPart | BytesPart) -> str:
    whole = part.offset == 0 and part.next_offset is None
    return part.info.etag if whole else etag_of_part(part.info.etag)


class ReadFileRaw(ToolInput):
    """Arguments of `read_file_raw`."""

    vault: Vault
    path: FilePath
    offset: int = Field(default=0, ge=0, description="Byte to start at.")
    limit: int | None = Field(default=None, ge=1, description="How many bytes at most.")


class FileBytes(ToolOutput):
    """Result of `read_file_raw`."""

    vault: str
    path: str
    etag: str = Field(
        description="Names this version of the file; a change gives it back. That of a part of a "
        "file says so, and serves for no edit_file."
    )
    size: int = Field(description="In bytes.")
    modified: datetime
    content_type: str
    offset: int
    next_offset: int | None = Field(default=None, description="Where to go on; null at the end.")
    data: str = Field(description="The bytes, in base64.")
    note: Note = None


def _after_bytes(value: JsonObject, kept: int) -> int:
    return from_offset(value, kept // 4 * 3)


@tool(
    description="""Read the bytes of any file of a vault, in base64, in parts. Only for what
    read_file cannot read, such as images; a text is far shorter through read_file. Bytes of
    secrets in text are masked.""",
    cut=Cut(
        field="data",
        cursor="next_offset",
        argument="offset",
        position=_after_bytes,
        unit=4,
        etag="etag",
    ),
)
def read_file_raw(context: ToolContext, arguments: ReadFileRaw) -> FileBytes:
    """Return a part of the bytes of a file."""
    path = resolve_path(arguments.path)
    part = context.services.files.read_masked_bytes(
        context.access, path, offset=arguments.offset, limit=arguments.limit
    )
    return FileBytes(
        vault=context.access.vault.name,
        path=path,
        etag=_etag(part),
        size=part.info.size,
        modified=part.info.modified,
        content_type=part.info.content_type,
        offset=part.offset,
        next_offset=part.next_offset,
        data=b64encode(part.data).decode("ascii"),
    )
