"""The newest documents (O47)."""

from datetime import datetime

from pydantic import BaseModel, Field

from archivolt.domain.limits import DEFAULT_SEARCH_LIMIT, MAX_LISTED_OFFSET, MAX_SEARCH_LIMIT
from archivolt.ports.notes import RecentBy
from archivolt.tools.catalogue.parameters import AnyVault, Note
from archivolt.tools.context import ToolContext
from archivolt.tools.registry import tool
from archivolt.tools.schemas import ToolInput, ToolOutput
from archivolt.tools.truncation import Cut, from_offset


class ListRecent(ToolInput):
    """Arguments of `list_recent`."""

    vault: AnyVault = None
    limit: int = Field(
        default=DEFAULT_SEARCH_LIMIT,
        ge=1,
        le=MAX_SEARCH_LIMIT,
        description="How many files at most.",
    )
    mode: RecentBy = Field(
        default=RecentBy.MODIFIED,
        description="modified: changed last; created: added last, whatever was changed since.",
    )
    offset: int = Field(
        default=0, ge=0, le=MAX_LISTED_OFFSET, description="How many files to skip."
    )


class RecentDocument(BaseModel):
    """A file in the list."""

    vault: str
    path: str
    uri: str
    title: str
    etag: str
    size: int = Field(description="In bytes.")
    created: datetime
    modified: datetime
    age: str = Field(description="How long ago, in words.")


class RecentDocuments(ToolOutput):
    """Result of `list_recent`."""

    files: list[RecentDocument]
    offset: int
    next_offset: int | None = Field(default=None, description="Where to go on; null at the end.")
    note: Note = None


@tool(
    description="""List the files that were changed or added last, newest first, with how long ago.
    Use it for what is new, or for what somebody worked on lately; for a period use search_advanced
    with modified or created.""",
    cut=Cut(field="files", cursor="next_offset", argument="offset", position=from_offset),
)
def list_recent(context: ToolContext, arguments: ListRecent) -> RecentDocuments:
    """Return the newest files first."""
    found = context.services.finding.recent.recent(
        context.searched,
        by=arguments.mode,
        language=context.language,
        limit=arguments.limit,
        offset=arguments.offset,
    )
    return RecentDocuments(
        files=[
            RecentDocument(
                vault=file.vault,
                path=file.path,
                uri=file.uri,
                title=file.title,
                etag=file.etag,
                size=file.size,
                created=file.created,
                modified=file.modified,
                age=file.age,
            )
            for file in found.files
        ],
        offset=arguments.offset,
        next_offset=found.next_offset,
    )
