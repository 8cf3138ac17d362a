"""Renaming and moving; links follow (O55 to O57)."""

from pydantic import Field

from archivolt.domain.confirmation import Preview
from archivolt.domain.limits import MAX_NAME_BYTES
from archivolt.domain.paths import resolve_directory, resolve_path, vault_uri
from archivolt.domain.tool import Risk
from archivolt.tools.catalogue.changed import DirectoryPath, GivenEtag
from archivolt.tools.catalogue.parameters import FilePath, Note, Vault
from archivolt.tools.context import ToolContext
from archivolt.tools.registry import tool
from archivolt.tools.schemas import ToolInput, ToolOutput
from archivolt.tools.truncation import Cut
from archivolt.vaults.move_requests import (
    MoveRequest,
    move_into,
    rename_of_directory,
    rename_of_file,
)


class RenameFile(ToolInput):
    """Arguments of `rename_file`."""

    vault: Vault
    path: FilePath
    new_name: str = Field(
        min_length=1,
        max_length=MAX_NAME_BYTES,
        description="The new name, without directories; the extension stays if it is left out.",
    )
    etag: GivenEtag = None


class RenameDirectory(ToolInput):
    """Arguments of `rename_directory`."""

    vault: Vault
    path: DirectoryPath
    new_name: str = Field(
        min_length=1, max_length=MAX_NAME_BYTES, description="The new name, without directories."
    )


class MovePath(ToolInput):
    """Arguments of `move_path`."""

    vault: Vault
    source_path: str = Field(
        min_length=1, description="Path of the file or directory inside the vault."
    )
    destination_dir: str = Field(
        description="The directory it goes to, made if need be; empty for the top of the vault."
    )
    etag: GivenEtag = None


class Moved(ToolOutput):
    """Result of a renaming or a move."""

    vault: str
    path: str = Field(description="Where it was.")
    new_path: str = Field(description="Where it is.")
    uri: str = Field(description="How to cite it now.")
    files: int = Field(description="How many files moved.")
    relinked: int = Field(description="In how many other notes links were made to follow.")
    unlinked: list[str] = Field(
        description="Notes whose links could not be rewritten: correct them by hand."
    )
    kept: list[str] = Field(
        description="Files that are still in the old place: added or changed meanwhile."
    )
    note: Note = None


_CUT = Cut(field="kept", then=Cut(field="unlinked"))


def _preview(context: ToolContext, request: MoveRequest, etag: str | None = None) -> Preview:
    return context.services.moves.preview(context.access, request, etag=etag)


def _moved(context: ToolContext, request: MoveRequest) -> Moved:
    confirmed = context.confirmed
    result = context.services.moves.run(context.access, request, confirmed)
    vault, move = context.access.vault.name, result.move
    return Moved(
        vault=vault,
        path=move.source,
        new_path=move.target,
        uri=vault_uri(vault, move.target),
        files=result.files,
        relinked=result.relinked,
        unlinked=list(result.unlinked),
        kept=list(result.kept),
    )


def _file_renaming(arguments: RenameFile) -> MoveRequest:
    return rename_of_file(resolve_path(arguments.path), arguments.new_name)


def preview_rename_file(context: ToolContext, arguments: RenameFile) -> Preview:
    """Return what `rename_file` would do."""
    return _preview(context, _file_renaming(arguments), arguments.etag)


@tool(
    description="""Give a file of a vault a new name, in the same directory. Links to it in other
    notes follow: wikilinks, embeds and Markdown links. Its earlier versions stay under the old
    name.""",
    cut=_CUT,
    risk=Risk.DANGEROUS,
    preview=preview_rename_file,
)
def rename_file(context: ToolContext, arguments: RenameFile) -> Moved:
    """Rename a file."""
    return _moved(context, _file_renaming(arguments))


def _directory_renaming(arguments: RenameDirectory) -> MoveRequest:
    return rename_of_directory(resolve_path(arguments.path.removesuffix("/")), arguments.new_name)


def preview_rename_directory(context: ToolContext, arguments: RenameDirectory) -> Preview:
    """Return what `rename_directory` would do."""
    return _preview(context, _directory_renaming(arguments))


@tool(
    description="""Give a directory of a vault a new name; all that is in it moves along. Links to
    its files in all notes follow.""",
    cut=_CUT,
    risk=Risk.DANGEROUS,
    preview=preview_rename_directory,
)
def rename_directory(context: ToolContext, arguments: RenameDirectory) -> Moved:
    """Rename a directory."""
    return _moved(context, _directory_renaming(arguments))


def _move(arguments: MovePath) -> MoveRequest:
    source = resolve_path(arguments.source_path.removesuffix("/"))
    return move_into(source, resolve_directory(arguments.destination_dir))


def preview_move_path(context: ToolContext, arguments: MovePath) -> Preview:
    """Return what `move_path` would do."""
    return _preview(context, _move(arguments), arguments.etag)


@tool(
    description="""Move a file, or a directory with all that is in it, into another directory of
    the same vault; its name stays. Links to what moves, and relative links in it, follow.""",
    cut=_CUT,
    risk=Risk.DANGEROUS,
    preview=preview_move_path,
)
def move_path(context: ToolContext, arguments: MovePath) -> Moved:
    """Move a file or directory."""
    return _moved(context, _move(arguments))
