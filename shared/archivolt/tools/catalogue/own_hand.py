"""Changes in the form of tools that only a person makes, at an address of their own."""

from datetime import datetime

from pydantic import BaseModel, ConfigDict, Field

from archivolt.domain.confirmation import Preview
from archivolt.domain.language import Message
from archivolt.domain.limits import MAX_PROPERTY_CHANGES
from archivolt.domain.messages import reason_for
from archivolt.domain.paths import resolve_path
from archivolt.domain.tool import Risk, Surface
from archivolt.tools.catalogue import native_tools
from archivolt.tools.catalogue.changed import SHORT, ChangedFile, DirectoryPath, GivenEtag, changed
from archivolt.tools.catalogue.parameters import FilePath, Note, Vault
from archivolt.tools.context import ToolContext
from archivolt.tools.registry import Registry, tool
from archivolt.tools.schemas import ToolInput, ToolOutput
from archivolt.tools.truncation import Cut
from archivolt.vaults.frontmatter import PropertyChanges
from archivolt.vaults.frontmatter_text import PropertyValue

_NO_DOOR = frozenset[Surface]()


class PropertyEdits(BaseModel):
    """Changes to the front matter of a note, made in this order."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    set: dict[str, PropertyValue] = Field(
        default_factory=dict[str, PropertyValue],
        max_length=MAX_PROPERTY_CHANGES,
        description="Properties and their new values.",
    )
    remove: tuple[str, ...] = Field(
        default=(), max_length=MAX_PROPERTY_CHANGES, description="Properties to remove."
    )
    add_tags: tuple[str, ...] = Field(
        default=(),
        max_length=MAX_PROPERTY_CHANGES,
        description="Tags to add, with or without #.",
    )

    @property
    def changes(self) -> PropertyChanges:
        """What is to change."""
        return PropertyChanges(set=self.set, remove=self.remove, add_tags=self.add_tags)


class UpdateProperties(ToolInput):
    """Arguments of `update_properties`."""

    vault: Vault
    path: FilePath
    frontmatter: PropertyEdits = Field(
        description="Properties to `set`, to `remove`, and tags: `add_tags`."
    )
    etag: GivenEtag = None


def preview_update_properties(context: ToolContext, arguments: UpdateProperties) -> Preview:
    """Return what `update_properties` would do."""
    return context.services.changing.frontmatter.preview(
        context.access,
        resolve_path(arguments.path),
        arguments.frontmatter.changes,
        etag=arguments.etag,
    )


@tool(
    description="""`set`, `remove` and `add_tags` change properties of the note and no other byte of
    it; the answer is as that of saving.""",
    cut=SHORT,
    risk=Risk.WRITE,
    scopes=_NO_DOOR,
    preview=preview_update_properties,
)
def update_properties(context: ToolContext, arguments: UpdateProperties) -> ChangedFile:
    """Change the front matter of a note."""
    info = context.services.changing.frontmatter.update(
        context.access,
        resolve_path(arguments.path),
        arguments.frontmatter.changes,
        context.confirmed,
    )
    return changed(context, info)


class UndeleteDirectory(ToolInput):
    """Arguments of `undelete_directory`."""

    vault: Vault
    path: DirectoryPath
    since: datetime | None = Field(
        default=None, description="Only what was deleted then or later; left out, everything."
    )


class NotRestored(BaseModel):
    """A file that stays deleted."""

    path: str
    reason: str = Field(description="A stable code.")
    explanation: str


class UndeletedDirectory(ToolOutput):
    """Result of `undelete_directory`."""

    vault: str
    path: str
    restored: int
    skipped: list[NotRestored]
    note: Note = None


def preview_undelete_directory(context: ToolContext, arguments: UndeleteDirectory) -> Preview:
    """Return nothing to look at: what comes back is what was there."""
    path = resolve_path(arguments.path.removesuffix("/"))
    return Preview(
        summary=Message(
            f"Bring back the deleted files of {path} in {context.access.vault.name}.",
            f"Rétablir les fichiers supprimés de {path} dans {context.access.vault.name}.",
        )
    )


@tool(
    description="Bring back the deleted files of a directory; those that exist again stay.",
    cut=Cut(field="skipped"),
    risk=Risk.WRITE,
    scopes=_NO_DOOR,
    preview=preview_undelete_directory,
)
def undelete_directory(context: ToolContext, arguments: UndeleteDirectory) -> UndeletedDirectory:
    """Undelete a directory."""
    path = resolve_path(arguments.path.removesuffix("/"))
    outcome = context.services.changing.undeletions.undelete_directory(
        context.access, path, context.confirmed, since=arguments.since
    )
    return UndeletedDirectory(
        vault=context.access.vault.name,
        path=path,
        restored=outcome.restored,
        skipped=[
            NotRestored(
                path=skip.path,
                reason=skip.reason,
                explanation=reason_for(skip.reason, context.language, {}),
            )
            for skip in outcome.skipped
        ],
    )


def hand_tools() -> Registry:
    """Return the product's tools, and those that only people have."""
    return Registry([*native_tools(), update_properties, undelete_directory])
