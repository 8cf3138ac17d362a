"""Creating files and directories (O50, O51)."""

from typing import Annotated

from pydantic import Field

from archivolt.domain.confirmation import Preview
from archivolt.domain.paths import resolve_path
from archivolt.domain.tool import Risk
from archivolt.tools.catalogue.changed import SHORT, ChangedFile, Content, DirectoryPath, changed
from archivolt.tools.catalogue.parameters import FilePath, Note, Vault
from archivolt.tools.context import ToolContext
from archivolt.tools.registry import tool
from archivolt.tools.schemas import ToolInput, ToolOutput


class CreateFile(ToolInput):
    """Arguments of `create_file`."""

    vault: Vault
    path: FilePath
    content: Annotated[Content, Field(description="The whole text of the file.")]


def preview_create_file(context: ToolContext, arguments: CreateFile) -> Preview:
    """Return what `create_file` would do."""
    return context.services.changing.mutations.preview_create(
        context.access, resolve_path(arguments.path), arguments.content
    )


@tool(
    description="""Create a text file in a vault, such as a Markdown note. Directories of its path
    need not exist. It never overwrites: to change a file that exists use edit_file or
    append_to_file.""",
    cut=SHORT,
    risk=Risk.WRITE,
    preview=preview_create_file,
)
def create_file(context: ToolContext, arguments: CreateFile) -> ChangedFile:
    """Write a new file."""
    info = context.services.changing.mutations.create(
        context.access, resolve_path(arguments.path), arguments.content, context.confirmed
    )
    return changed(context, info)


class CreateDirectory(ToolInput):
    """Arguments of `create_directory`."""

    vault: Vault
    path: DirectoryPath


class CreatedDirectory(ToolOutput):
    """Result of `create_directory`."""

    vault: str
    path: str
    note: Note = None


def preview_create_directory(context: ToolContext, arguments: CreateDirectory) -> Preview:
    """Return what `create_directory` would do."""
    return context.services.changing.mutations.preview_directory(
        context.access, resolve_path(arguments.path.removesuffix("/"))
    )


@tool(
    description="""Create an empty directory in a vault. Not needed before create_file, which makes
    the directories of its path.""",
    cut=SHORT,
    risk=Risk.WRITE,
    preview=preview_create_directory,
)
def create_directory(context: ToolContext, arguments: CreateDirectory) -> CreatedDirectory:
    """Make a directory."""
    path = resolve_path(arguments.path.removesuffix("/"))
    context.services.changing.mutations.create_directory(context.access, path)
    return CreatedDirectory(vault=context.access.vault.name, path=path)
