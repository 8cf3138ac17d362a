"""Changing the text of a file (O52, O53)."""

from typing import Annotated

from pydantic import Field

from archivolt.domain.confirmation import Preview
from archivolt.domain.paths import resolve_path
from archivolt.domain.tool import Risk
from archivolt.tools.catalogue.changed import SHORT, ChangedFile, Content, GivenEtag, changed
from archivolt.tools.catalogue.parameters import FilePath, Vault
from archivolt.tools.context import ToolContext
from archivolt.tools.registry import tool
from archivolt.tools.schemas import ToolInput


class EditFile(ToolInput):
    """Arguments of `edit_file`."""

    vault: Vault
    path: FilePath
    content: Annotated[
        Content,
        Field(description="The whole new text. Leave [redacted:…] as you read it: secrets stay."),
    ]
    etag: GivenEtag = None


def preview_edit_file(context: ToolContext, arguments: EditFile) -> Preview:
    """Return what `edit_file` would do."""
    return context.services.changing.mutations.preview_edit(
        context.access, resolve_path(arguments.path), arguments.content, etag=arguments.etag
    )


@tool(
    description="""Replace the whole text of a file of a vault. Read the whole file first and give
    its etag. To add at the end use append_to_file; to change words in a long file or in many files
    use replace_in_files. The old text stays in list_backups.""",
    cut=SHORT,
    risk=Risk.WRITE,
    preview=preview_edit_file,
)
def edit_file(context: ToolContext, arguments: EditFile) -> ChangedFile:
    """Write a new version of a file."""
    info = context.services.changing.mutations.edit(
        context.access, resolve_path(arguments.path), arguments.content, context.confirmed
    )
    return changed(context, info)


class AppendToFile(ToolInput):
    """Arguments of `append_to_file`."""

    vault: Vault
    path: FilePath
    content: Annotated[Content, Field(min_length=1, description="What to add.")]
    etag: GivenEtag = None


def preview_append_to_file(context: ToolContext, arguments: AppendToFile) -> Preview:
    """Return what `append_to_file` would do."""
    return context.services.changing.mutations.preview_append(
        context.access, resolve_path(arguments.path), arguments.content, etag=arguments.etag
    )


@tool(
    description="""Add text at the end of a file of a vault, on a new line. What stands there
    already is not touched, whoever else writes to it; the file need not be read first.""",
    cut=SHORT,
    risk=Risk.WRITE,
    preview=preview_append_to_file,
)
def append_to_file(context: ToolContext, arguments: AppendToFile) -> ChangedFile:
    """Add to a file."""
    info = context.services.changing.mutations.append(
        context.access, resolve_path(arguments.path), arguments.content, context.confirmed
    )
    return changed(context, info)
