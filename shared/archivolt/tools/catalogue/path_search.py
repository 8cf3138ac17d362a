"""Finding files and directories by their names (O44)."""

from datetime import datetime

from pydantic import BaseModel, Field

from archivolt.domain.limits import (
    DEFAULT_SEARCH_LIMIT,
    MAX_QUERY_CHARS,
    MAX_SEARCH_LIMIT,
    MAX_SEARCH_OFFSET,
)
from archivolt.tools.catalogue.navigation import EntryKind
from archivolt.tools.catalogue.parameters import AnyVault, Note
from archivolt.tools.context import ToolContext
from archivolt.tools.registry import tool
from archivolt.tools.schemas import ToolInput, ToolOutput
from archivolt.tools.truncation import Cut, from_offset
from archivolt.vaults.path_search import FoundPath


class SearchPaths(ToolInput):
    """Arguments of `search_paths`."""

    q: str = Field(
        min_length=1,
        max_length=MAX_QUERY_CHARS,
        description="Words or parts of words of the path, in any order.",
    )
    vault: AnyVault = None
    limit: int = Field(
        default=DEFAULT_SEARCH_LIMIT, ge=1, le=MAX_SEARCH_LIMIT, description="How many at most."
    )
    offset: int = Field(default=0, ge=0, le=MAX_SEARCH_OFFSET, description="How many to skip.")


class Place(BaseModel):
    """A file or a directory; a directory's path ends with a slash."""

    kind: EntryKind
    vault: str
    path: str
    uri: str
    title: str | None = Field(default=None, description="Of a file.")
    etag: str | None = None
    size: int | None = Field(default=None, description="In bytes; null for a directory.")
    modified: datetime | None = None


class Places(ToolOutput):
    """Result of `search_paths`."""

    paths: list[Place]
    offset: int
    next_offset: int | None = Field(default=None, description="Where to go on; null at the end.")
    note: Note = None


@tool(
    description="""Find files and directories by name when you know part of it: every word must be
    in the path, case and accents do not matter. It says nothing of what is in the files; for that
    use search_documents or search_fulltext.""",
    cut=Cut(field="paths", cursor="next_offset", argument="offset", position=from_offset),
)
def search_paths(context: ToolContext, arguments: SearchPaths) -> Places:
    """Return the files and directories whose paths have every word, best first."""
    found = context.services.finding.paths.search(
        context.searched, arguments.q, limit=arguments.limit, offset=arguments.offset
    )
    return Places(
        paths=[_place(place) for place in found.found],
        offset=arguments.offset,
        next_offset=found.next_offset,
    )


def _place(found: FoundPath) -> Place:
    return Place(
        kind=EntryKind.DIRECTORY if found.directory else EntryKind.FILE,
        vault=found.vault,
        path=f"{found.path}/" if found.directory else found.path,
        uri=found.uri,
        title=found.title,
        etag=found.etag,
        size=found.size,
        modified=found.modified,
    )
