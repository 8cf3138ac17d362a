"""The tags of notes (O45, O46)."""

from pydantic import BaseModel, Field

from archivolt.domain.limits import (
    DEFAULT_LIST_LIMIT,
    DEFAULT_TAG_SUGGESTIONS,
    MAX_LIST_LIMIT,
    MAX_QUERY_CHARS,
    MAX_SEARCH_LIMIT,
)
from archivolt.tools.catalogue.parameters import AnyVault, Note
from archivolt.tools.context import ToolContext
from archivolt.tools.registry import tool
from archivolt.tools.schemas import ToolInput, ToolOutput
from archivolt.tools.truncation import Cut, from_offset
from archivolt.vaults.tags import SuggestedFor


class ListTags(ToolInput):
    """Arguments of `list_tags`."""

    vault: AnyVault = None
    limit: int = Field(
        default=DEFAULT_LIST_LIMIT, ge=1, le=MAX_LIST_LIMIT, description="How many tags at most."
    )
    offset: int = Field(default=0, ge=0, description="How many tags to skip.")


class TagInList(BaseModel):
    """A tag in use."""

    tag: str = Field(description="Without #; project/alpha is nested in project.")
    documents: int = Field(description="How many documents have it themselves.")
    with_nested: int = Field(description="How many have it or a tag nested in it.")


class Tags(ToolOutput):
    """Result of `list_tags`."""

    tags: list[TagInList]
    total: int = Field(description="How many tags there are.")
    offset: int
    next_offset: int | None = Field(default=None, description="Where to go on; null at the end.")
    note: Note = None


@tool(
    description="""List the tags in use, from front matter and #tags in texts, each followed by
    those nested in it, with how many documents have them. Give one to search_fulltext or
    search_advanced to get the documents.""",
    cut=Cut(field="tags", cursor="next_offset", argument="offset", position=from_offset),
)
def list_tags(context: ToolContext, arguments: ListTags) -> Tags:
    """Return the tags, those nested in one behind it."""
    found = context.services.finding.tags.tags(context.searched)
    end = arguments.offset + arguments.limit
    return Tags(
        tags=[
            TagInList(tag=tag.name, documents=tag.documents, with_nested=tag.with_nested)
            for tag in found[arguments.offset : end]
        ],
        total=len(found),
        offset=arguments.offset,
        next_offset=end if len(found) > end else None,
    )


class SuggestTags(ToolInput):
    """Arguments of `suggest_tags`."""

    q: str = Field(
        min_length=1,
        max_length=MAX_QUERY_CHARS,
        description="The start of a tag, a text, or the path of a note.",
    )
    vault: AnyVault = None
    limit: int = Field(
        default=DEFAULT_TAG_SUGGESTIONS,
        ge=1,
        le=MAX_SEARCH_LIMIT,
        description="How many tags at most.",
    )


class SuggestedTag(BaseModel):
    """A tag that may suit."""

    tag: str
    documents: int = Field(description="How many documents have it.")
    reason: SuggestedFor = Field(
        description="name: it begins with q or is named in it; content: notes like it have it."
    )
    score: float = Field(description="To compare within one result only.")


class SuggestedTags(ToolOutput):
    """Result of `suggest_tags`."""

    tags: list[SuggestedTag]
    note: Note = None


@tool(
    description="""Suggest tags already in use that suit a text or a note: those whose names begin
    with q or are in it, then those of the documents most like it. Use it before you tag a note, so
    that no second tag for the same thing is invented.""",
    cut=Cut(field="tags"),
)
def suggest_tags(context: ToolContext, arguments: SuggestTags) -> SuggestedTags:
    """Return tags in use that suit, best first."""
    found = context.services.finding.tags.suggest(
        context.searched, arguments.q, limit=arguments.limit
    )
    return SuggestedTags(
        tags=[
            SuggestedTag(
                tag=each.name, documents=each.documents, reason=each.reason, score=each.score
            )
            for each in found
        ]
    )
