"""Deleting files and directories (O59, O60)."""

from pydantic import Field

from archivolt.domain.confirmation import Preview
from archivolt.domain.paths import resolve_path
from archivolt.domain.tool import Risk
from archivolt.tools.catalogue.changed import SHORT, DirectoryPath, GivenEtag
from archivolt.tools.catalogue.parameters import FilePath, Note, Vault
from archivolt.tools.context import ToolContext
from archivolt.tools.registry import tool
from archivolt.tools.schemas import ToolInput, ToolOutput
from archivolt.tools.truncation import Cut


class DeleteFile(ToolInput):
    """Arguments of `delete_file`."""

    vault: Vault
    path: FilePath
    etag: GivenEtag = None


class DeletedFile(ToolOutput):
    """Result of `delete_file`."""

    vault: str
    path: str
    note: Note = None


def preview_delete_file(context: ToolContext, arguments: DeleteFile) -> Preview:
    """Return what `delete_file` would do."""
    return context.services.changing.deletions.preview_delete(
        context.access, resolve_path(arguments.path), etag=arguments.etag
    )


@tool(
    description="""Delete a file of a vault. Its versions stay: restore_backup brings it back.""",
    cut=SHORT,
    risk=Risk.DANGEROUS,
    preview=preview_delete_file,
)
def delete_file(context: ToolContext, arguments: DeleteFile) -> DeletedFile:
    """Delete a file."""
    path = resolve_path(arguments.path)
    context.services.changing.deletions.delete(context.access, path, context.confirmed)
    return DeletedFile(vault=context.access.vault.name, path=path)


class DeleteDirectory(ToolInput):
    """Arguments of `delete_directory`."""

    vault: Vault
    path: DirectoryPath
    recursive: bool = Field(
        default=False, description="Whether all that is in it goes too; else it must be empty."
    )


class DeletedDirectory(ToolOutput):
    """Result of `delete_directory`."""

    vault: str
    path: str
    deleted: int = Field(description="How many files were deleted.")
    kept: int = Field(description="How many stay, added or changed since it was confirmed.")
    kept_files: list[str] = Field(description="The first of those that stay.")
    note: Note = None


def preview_delete_directory(context: ToolContext, arguments: DeleteDirectory) -> Preview:
    """Return what `delete_directory` would do."""
    return context.services.changing.deletions.preview_delete_directory(
        context.access,
        resolve_path(arguments.path.removesuffix("/")),
        recursive=arguments.recursive,
    )


@tool(
    description="""Delete a directory of a vault, with recursive = true also the files in it. Their
    versions stay and can be restored.""",
    cut=Cut(field="kept_files"),
    risk=Risk.DANGEROUS,
    preview=preview_delete_directory,
)
def delete_directory(context: ToolContext, arguments: DeleteDirectory) -> DeletedDirectory:
    """Delete a directory."""
    path = resolve_path(arguments.path.removesuffix("/"))
    outcome = context.services.changing.deletions.delete_directory(
        context.access, path, context.confirmed, recursive=arguments.recursive
    )
    return DeletedDirectory(
        vault=context.access.vault.name,
        path=path,
        deleted=outcome.deleted,
        kept=outcome.kept,
        kept_files=list(outcome.kept_files),
    )
