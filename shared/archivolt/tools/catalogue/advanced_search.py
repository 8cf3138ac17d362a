"""Finding documents by any text or pattern in them, filtered and sorted (O43)."""

from datetime import datetime
from typing import Annotated

from pydantic import BaseModel, Field

from archivolt.domain.limits import (
    DEFAULT_SEARCH_LIMIT,
    MAX_LISTED_OFFSET,
    MAX_QUERY_CHARS,
    MAX_SEARCH_LIMIT,
)
from archivolt.domain.messages import message_for
from archivolt.tools.catalogue.parameters import AnyTag, AnyVault, Globs, Note
from archivolt.tools.context import ToolContext
from archivolt.tools.registry import tool
from archivolt.tools.schemas import ToolInput, ToolOutput
from archivolt.tools.truncation import Cut, from_offset
from archivolt.vaults.advanced_search import AdvancedHit, AdvancedQuery

_MAX_RANGE_CHARS = 100

Moments = Annotated[
    str,
    Field(
        max_length=_MAX_RANGE_CHARS,
        description="2026-01-01..2026-02-01, >2026-01-01, 2026-01, last 7 days, 7d…; UTC.",
    ),
]


class SearchAdvanced(ToolInput):
    """Arguments of `search_advanced`."""

    q: str = Field(
        default="",
        max_length=MAX_QUERY_CHARS,
        description="Text to find as it stands, or a regular expression with regex; left out, all "
        "documents that pass the filters.",
    )
    vault: AnyVault = None
    tag: AnyTag = None
    limit: int = Field(
        default=DEFAULT_SEARCH_LIMIT,
        ge=1,
        le=MAX_SEARCH_LIMIT,
        description="How many documents at most.",
    )
    offset: int = Field(
        default=0, ge=0, le=MAX_LISTED_OFFSET, description="How many documents to skip."
    )
    sort: str = Field(
        default="",
        max_length=_MAX_RANGE_CHARS,
        description="relevance (most occurrences first), path, modified, created or size; with - "
        "in front descending, with asc or desc behind either way.",
    )
    case_sensitive: bool = Field(
        default=False, description="Whether case and accents count; else creer finds Créer."
    )
    whole_word: bool = Field(default=False, description="Whether to find whole words only.")
    regex: bool = Field(
        default=False,
        description="Whether q is a regular expression (RE2: no look-around, no back-references).",
    )
    include_paths: Globs = Field(
        default=(), description="Only paths that match one of these: *.md, projects/, a/**/b*."
    )
    exclude_paths: Globs = Field(default=(), description="No paths that match one of these.")
    created: Moments = ""
    modified: Moments = ""
    size: str = Field(
        default="", max_length=_MAX_RANGE_CHARS, description=">10kb, <1mb, 10kb..2mb."
    )


class Line(BaseModel):
    """A line in which the text was found."""

    line: int = Field(description="Counted from 1.")
    text: str = Field(description="The line; of a long one, the part with the finds.")
    highlights: list[list[int]] = Field(
        description="Start and end of each find, in characters of text."
    )


class FoundDocument(BaseModel):
    """A document in which the text was found."""

    vault: str
    path: str
    uri: str = Field(description="Where to read it, and how to cite it.")
    title: str
    etag: str
    size: int = Field(description="In bytes.")
    created: datetime
    modified: datetime
    tags: list[str]
    occurrences: int = Field(description="How often the text is in it.")
    lines: list[Line] = Field(description="The first lines with it.")


class FoundDocuments(ToolOutput):
    """Result of `search_advanced`."""

    hits: list[FoundDocument]
    offset: int
    next_offset: int | None = Field(default=None, description="Where to go on; null at the end.")
    note: Note = None


@tool(
    description="""Find documents by exact text or a regular expression in their lines, as grep
    does, with filters on path, tag, dates and size; also lists the documents that pass filters
    alone. Gives line numbers. For words in any form use search_fulltext, for a question
    search_documents.""",
    cut=Cut(field="hits", cursor="next_offset", argument="offset", position=from_offset),
)
def search_advanced(context: ToolContext, arguments: SearchAdvanced) -> FoundDocuments:
    """Return the documents whose lines have a text or match a pattern."""
    query = AdvancedQuery(
        q=arguments.q,
        tag=arguments.tag or "",
        sort=arguments.sort,
        case_sensitive=arguments.case_sensitive,
        whole_word=arguments.whole_word,
        regex=arguments.regex,
        include_paths=arguments.include_paths,
        exclude_paths=arguments.exclude_paths,
        created=arguments.created,
        modified=arguments.modified,
        size=arguments.size,
    )
    found = context.services.finding.advanced.search(
        context.searched, query, limit=arguments.limit, offset=arguments.offset
    )
    return FoundDocuments(
        hits=[_document(hit) for hit in found.hits],
        offset=arguments.offset,
        next_offset=found.next_offset,
        note=None if found.complete else message_for("search_incomplete", context.language, {}),
    )


def _document(hit: AdvancedHit) -> FoundDocument:
    return FoundDocument(
        vault=hit.vault,
        path=hit.path,
        uri=hit.uri,
        title=hit.title,
        etag=hit.etag,
        size=hit.size,
        created=hit.created,
        modified=hit.modified,
        tags=list(hit.tags),
        occurrences=hit.occurrences,
        lines=[
            Line(
                line=line.line,
                text=line.excerpt.text,
                highlights=[list(span) for span in line.excerpt.highlights],
            )
            for line in hit.lines
        ],
    )
