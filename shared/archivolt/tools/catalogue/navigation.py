"""Finding one's way: vaults, directories, files (O33 to O35)."""

from datetime import datetime
from enum import StrEnum
from typing import Self

from pydantic import BaseModel, Field

from archivolt.domain.limits import DEFAULT_LIST_LIMIT
from archivolt.domain.paths import name_of, resolve_directory
from archivolt.domain.vault import FileInfo, Listing, VaultRole
from archivolt.tools.catalogue.parameters import After, Directory, ListLimit, Note, Vault
from archivolt.tools.context import ToolContext
from archivolt.tools.registry import tool
from archivolt.tools.schemas import ToolInput, ToolOutput
from archivolt.tools.truncation import Cut, after_last, from_offset
from archivolt.vaults.access import VaultSummary


class ListVaults(ToolInput):
    """Arguments of `list_vaults`."""

    offset: int = Field(default=0, ge=0, description="How many vaults to skip.")


class VaultInList(BaseModel):
    """A vault of the caller."""

    name: str
    role: VaultRole = Field(description="What you may do: reader, writer or owner.")
    files: int = Field(description="How many files it has.")
    aiDestructiveTools: bool = Field(  # noqa: N815  the name of the setting (O62)
        description="Whether tools may move and delete files in it."
    )

    @classmethod
    def of(cls, summary: VaultSummary) -> Self:
        """Return a vault as it is listed."""
        return cls(
            name=summary.name,
            role=summary.role,
            files=summary.files,
            aiDestructiveTools=summary.ai_destructive_tools,
        )


class Vaults(ToolOutput):
    """Result of `list_vaults`."""

    vaults: list[VaultInList]
    offset: int
    next_offset: int | None = Field(default=None, description="Where to go on; null at the end.")
    note: Note = None


@tool(
    description="""List the vaults (document collections) you can read, with your role in each and
    how many files it has. Call it first when you do not know which vault a question is about.""",
    cut=Cut(field="vaults", cursor="next_offset", argument="offset", position=from_offset),
)
def list_vaults(context: ToolContext, arguments: ListVaults) -> Vaults:
    """Return the caller's vaults by name."""
    summaries = context.services.vaults.summaries(context.principal)
    return Vaults(
        vaults=[VaultInList.of(summary) for summary in summaries[arguments.offset :]],
        offset=arguments.offset,
    )


class EntryKind(StrEnum):
    """What an entry of a directory is."""

    FILE = "file"
    DIRECTORY = "directory"


class Entry(BaseModel):
    """An entry of a directory; a directory's path ends with a slash."""

    kind: EntryKind
    path: str
    name: str
    size: int | None = Field(default=None, description="In bytes; null for a directory.")
    modified: datetime | None = None
    etag: str | None = None


class ListDirectory(ToolInput):
    """Arguments of `list_directory`."""

    vault: Vault
    path: Directory = ""
    limit: ListLimit = DEFAULT_LIST_LIMIT
    after: After = None


class DirectoryListing(ToolOutput):
    """Result of `list_directory`."""

    vault: str
    path: str
    entries: list[Entry]
    next_after: str | None = Field(default=None, description="Where to go on; null at the end.")
    note: Note = None


@tool(
    description="""List what is directly in one directory of a vault: sub-directories and files
    with size and date. Use it to explore a vault step by step; to find documents about a subject
    use search_documents, to get every file below a directory use list_all_files.""",
    cut=Cut(field="entries", cursor="next_after", argument="after", position=after_last("entries")),
)
def list_directory(context: ToolContext, arguments: ListDirectory) -> DirectoryListing:
    """Return one page of a directory, in the order of names."""
    directory = resolve_directory(arguments.path)
    page = context.services.files.list_directory(
        context.access, directory, limit=arguments.limit, after=arguments.after
    )
    return DirectoryListing(
        vault=context.access.vault.name,
        path=directory,
        entries=_entries(page),
        next_after=page.next_after,
    )


class ListAllFiles(ToolInput):
    """Arguments of `list_all_files`."""

    vault: Vault
    dir: Directory = ""
    limit: ListLimit = DEFAULT_LIST_LIMIT
    recursive: bool = Field(
        default=True, description="Whether files in sub-directories are listed too."
    )
    after: After = None


class ListedFile(BaseModel):
    """A file in a list."""

    path: str
    size: int = Field(description="In bytes.")
    modified: datetime
    etag: str


class FileList(ToolOutput):
    """Result of `list_all_files`."""

    vault: str
    dir: str
    files: list[ListedFile]
    next_after: str | None = Field(default=None, description="Where to go on; null at the end.")
    note: Note = None


@tool(
    description="""List the paths of all files of a vault, or below one of its directories. Use it
    to get an overview or to count; it says nothing of what is in the files.""",
    cut=Cut(field="files", cursor="next_after", argument="after", position=after_last("files")),
)
def list_all_files(context: ToolContext, arguments: ListAllFiles) -> FileList:
    """Return one page of the files below a directory, in the order of paths."""
    directory = resolve_directory(arguments.dir)
    page = context.services.files.list_directory(
        context.access,
        directory,
        recursive=arguments.recursive,
        limit=arguments.limit,
        after=arguments.after,
    )
    return FileList(
        vault=context.access.vault.name,
        dir=directory,
        files=[
            ListedFile(path=file.path, size=file.size, modified=file.modified, etag=file.etag)
            for file in page.files
        ],
        next_after=page.next_after,
    )


def _entries(page: Listing) -> list[Entry]:
    directories = [
        Entry(kind=EntryKind.DIRECTORY, path=f"{path}/", name=name_of(path))
        for path in page.directories
    ]
    return sorted(
        [*directories, *(_file_entry(file) for file in page.files)], key=lambda entry: entry.path
    )


def _file_entry(file: FileInfo) -> Entry:
    return Entry(
        kind=EntryKind.FILE,
        path=file.path,
        name=name_of(file.path),
        size=file.size,
        modified=file.modified,
        etag=file.etag,
    )
