"""The versions of a file (O39, O40, O54)."""

from datetime import datetime
from typing import Annotated

from pydantic import BaseModel, Field

from archivolt.domain.confirmation import Preview
from archivolt.domain.limits import DEFAULT_LIST_LIMIT
from archivolt.domain.paths import resolve_path
from archivolt.domain.tool import Risk
from archivolt.tools.catalogue.changed import SHORT, ChangedFile, GivenEtag, changed
from archivolt.tools.catalogue.parameters import FilePath, ListLimit, Note, Vault
from archivolt.tools.context import ToolContext
from archivolt.tools.registry import tool
from archivolt.tools.schemas import ToolInput, ToolOutput
from archivolt.tools.truncation import Cut, from_offset

_MAX_VERSION_CHARS = 1_024

Version = Annotated[
    str,
    Field(min_length=1, max_length=_MAX_VERSION_CHARS, description="A version of list_backups."),
]


class ListBackups(ToolInput):
    """Arguments of `list_backups`."""

    vault: Vault
    path: FilePath
    offset: int = Field(default=0, ge=0, description="How many backups to skip.")
    limit: ListLimit = DEFAULT_LIST_LIMIT


class Backup(BaseModel):
    """A version of a file."""

    version: str
    modified: datetime
    size: int = Field(description="In bytes.")
    etag: str
    current: bool = Field(description="Whether the file is this now.")
    deleted: bool = Field(description="Whether this is the deletion of the file: nothing to read.")


class Backups(ToolOutput):
    """Result of `list_backups`."""

    vault: str
    path: str
    backups: list[Backup]
    offset: int
    next_offset: int | None = Field(default=None, description="Where to go on; null at the end.")
    note: Note = None


@tool(
    description="""List the versions of a file, newest first: each change leaves one. Works for a
    deleted file too. Compare them with diff_backup, bring one back with restore_backup.""",
    cut=Cut(field="backups", cursor="next_offset", argument="offset", position=from_offset),
)
def list_backups(context: ToolContext, arguments: ListBackups) -> Backups:
    """Return the versions of a file."""
    path = resolve_path(arguments.path)
    versions = context.services.changing.backups.versions(context.access, path)
    end = arguments.offset + arguments.limit
    return Backups(
        vault=context.access.vault.name,
        path=path,
        backups=[
            Backup(
                version=version.version,
                modified=version.modified,
                size=version.size,
                etag=version.etag,
                current=version.current,
                deleted=version.deletion,
            )
            for version in versions[arguments.offset : end]
        ],
        offset=arguments.offset,
        next_offset=end if end < len(versions) else None,
    )


class DiffBackup(ToolInput):
    """Arguments of `diff_backup`."""

    vault: Vault
    path: FilePath
    version: Version
    compare_with: str | None = Field(
        default=None,
        max_length=_MAX_VERSION_CHARS,
        description="Another version; left out, the file as it is now.",
    )
    offset: int = Field(default=0, ge=0, description="Character of the diff to start at.")


class BackupDiff(ToolOutput):
    """Result of `diff_backup`."""

    vault: str
    path: str
    version: str
    compare_with: str = Field(description="Empty: the file as it is now.")
    diff: str = Field(description="Unified; secrets are not shown. Empty: no visible difference.")
    lines: int = Field(description="How many lines the whole diff has.")
    offset: int
    next_offset: int | None = Field(default=None, description="Where to go on; null at the end.")
    note: Note = None


@tool(
    description="""Show how a version of a text file differs from the file as it is now, or from
    another version, as a unified diff.""",
    cut=Cut(
        field="diff",
        cursor="next_offset",
        argument="offset",
        position=from_offset,
        by_line=True,
    ),
)
def diff_backup(context: ToolContext, arguments: DiffBackup) -> BackupDiff:
    """Return the difference between two versions."""
    path = resolve_path(arguments.path)
    compare_with = arguments.compare_with or ""
    diff = context.services.changing.backups.diff(
        context.access, path, arguments.version, compare_with=compare_with
    )
    return BackupDiff(
        vault=context.access.vault.name,
        path=path,
        version=arguments.version,
        compare_with=compare_with,
        diff=diff.text[arguments.offset :],
        lines=diff.total,
        offset=arguments.offset,
    )


class RestoreBackup(ToolInput):
    """Arguments of `restore_backup`."""

    vault: Vault
    path: FilePath
    version: Version
    etag: GivenEtag = None


def preview_restore_backup(context: ToolContext, arguments: RestoreBackup) -> Preview:
    """Return what `restore_backup` would do."""
    return context.services.changing.backups.preview_restore(
        context.access, resolve_path(arguments.path), arguments.version, etag=arguments.etag
    )


@tool(
    description="""Make an earlier version of a file its newest one; also brings a deleted file
    back. What the file is now stays in its backups.""",
    cut=SHORT,
    risk=Risk.WRITE,
    preview=preview_restore_backup,
)
def restore_backup(context: ToolContext, arguments: RestoreBackup) -> ChangedFile:
    """Restore a version."""
    info = context.services.changing.backups.restore(
        context.access, resolve_path(arguments.path), arguments.version, context.confirmed
    )
    return changed(context, info)
