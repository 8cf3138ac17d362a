"""Finding documents: by their words (O42) and by meaning (R22, decision 19)."""

from typing import Any, Final

from pydantic import BaseModel, Field

from archivolt.domain.limits import (
    DEFAULT_SEARCH_LIMIT,
    DEFAULT_TOP_K,
    MAX_SEARCH_LIMIT,
    MAX_SEARCH_OFFSET,
    MAX_TOP_K,
)
from archivolt.domain.paths import resolve_directory
from archivolt.domain.search import SearchHit, SearchMode, SearchQuery
from archivolt.tools.catalogue.parameters import AnyTag, AnyVault, Note, Query
from archivolt.tools.context import ToolContext
from archivolt.tools.registry import tool
from archivolt.tools.schemas import ToolInput, ToolOutput
from archivolt.tools.truncation import Cut, from_offset
from archivolt.vaults.search import TextHit

_MAX_FILTER_CHARS: Final = 100


class SearchFulltext(ToolInput):
    """Arguments of `search_fulltext`."""

    q: Query
    vault: AnyVault = None
    tag: AnyTag = None
    limit: int = Field(
        default=DEFAULT_SEARCH_LIMIT,
        ge=1,
        le=MAX_SEARCH_LIMIT,
        description="How many documents at most.",
    )
    offset: int = Field(
        default=0, ge=0, le=MAX_SEARCH_OFFSET, description="How many documents to skip."
    )


class Document(BaseModel):
    """A document in which words were found."""

    vault: str
    path: str
    uri: str = Field(description="Where to read it, and how to cite it.")
    title: str
    heading: str = Field(description="The titles that its best passage stands under.")
    page: int | None = None
    excerpt: str
    highlights: list[list[int]] = Field(
        description="Start and end, in characters of the excerpt, of each word found."
    )
    score: float = Field(description="1 for the best of this result, less for the others.")


class Documents(ToolOutput):
    """Result of `search_fulltext`."""

    hits: list[Document]
    offset: int
    next_offset: int | None = Field(default=None, description="Where to go on; null at the end.")
    note: Note = None


@tool(
    description="""Find documents by the words in them: names, identifiers, exact terms. Word forms
    and accents do not matter. Each document comes once, with an excerpt. For a question asked in
    ordinary language use search_documents.""",
    cut=Cut(field="hits", cursor="next_offset", argument="offset", position=from_offset),
)
def search_fulltext(context: ToolContext, arguments: SearchFulltext) -> Documents:
    """Return the documents in which words occur, best first."""
    vaults = context.services.vaults
    found = context.services.text_search.search(
        [context.vault] if context.vault else vaults.accessible(context.principal),
        arguments.q,
        tag=arguments.tag,
        limit=arguments.limit,
        offset=arguments.offset,
    )
    return Documents(
        hits=[_document(hit) for hit in found.hits],
        offset=arguments.offset,
        next_offset=found.next_offset,
    )


def _document(hit: TextHit) -> Document:
    return Document(
        vault=hit.vault,
        path=hit.path,
        uri=hit.uri,
        title=hit.title,
        heading=hit.heading,
        page=hit.page,
        excerpt=hit.excerpt.text,
        highlights=[list(span) for span in hit.excerpt.highlights],
        score=hit.score,
    )


class SearchDocuments(ToolInput):
    """Arguments of `search_documents`."""

    q: Query
    vault: AnyVault = None
    path: str | None = Field(
        default=None, description="Only the file or the directory at this path inside the vault."
    )
    tag: AnyTag = None
    type: str | None = Field(
        default=None,
        max_length=_MAX_FILTER_CHARS,
        description="Only documents of these types: extensions such as pdf, or note, word,"
        " spreadsheet, presentation, mail, image; with commas between them.",
    )
    modified: str | None = Field(
        default=None,
        max_length=_MAX_FILTER_CHARS,
        description="Only documents changed then: 2026-01, 2026-01-01..2026-02-01, >2026, 7d.",
    )
    top_k: int = Field(
        default=DEFAULT_TOP_K, ge=1, le=MAX_TOP_K, description="How many passages at most."
    )
    threshold: float | None = Field(
        default=None,
        ge=-1,
        le=1,
        description="In dense mode, the least cosine; left out, the embedding model's own.",
    )
    mode: SearchMode = Field(
        default=SearchMode.HYBRID,
        description="hybrid joins meaning (dense) and words (lexical); it suits nearly always.",
    )
    explain: bool = Field(default=False, description="Whether each hit says why it was found.")


class Passage(BaseModel):
    """A passage that was found."""

    vault: str
    path: str
    uri: str = Field(description="Where to read it, and how to cite it.")
    heading: str
    page: int | None = Field(description="Counted from 1; null where there are no pages.")
    excerpt: str
    score: float = Field(description="From 0 to 1, to compare within one result only.")
    line: int | None = Field(
        default=None,
        description="The passage's first line in the document's text, counted from 1.",
    )
    span: list[int] = Field(description="Start and end of the excerpt, in characters from there.")
    also_in: list[str] = Field(
        default=[],
        description="Other documents that say nearly the same.",
        exclude_if=lambda also_in: not also_in,
    )
    explanation: dict[str, Any] | None = Field(
        default=None,
        description="Only with explain: the score and rank in each list, and what decided between "
        "them: lexical_weight, by the coverage of the words asked, by the evenness with which many "
        "documents have them and by foreign_language, there by the best document's lead; "
        "words_for_meaning, where no vectors could be compared.",
        exclude_if=lambda explanation: explanation is None,
    )


class Notice(BaseModel):
    """Something to know about the hits."""

    code: str
    message: str


class Passages(ToolOutput):
    """Result of `search_documents`, as the contract has it."""

    hits: list[Passage]
    notices: list[Notice] = Field(
        description="What limits the result: documents not indexed yet, without text, and so on."
    )


@tool(
    description="""Find the passages of documents that answer a question, in ordinary language, by
    meaning and by words, across French and English, PDF and Office documents included. Use it
    first for any question about what the documents say, and cite the uri of what you use. Narrow
    it with vault, path, tag, type or modified. Read more of a hit with read_file.""",
    cut=Cut(field="hits", to_notices=True),
)
def search_documents(context: ToolContext, arguments: SearchDocuments) -> Passages:
    """Return the passages nearest to a question, best first."""
    query = SearchQuery(
        q=arguments.q,
        vault=context.vault.vault.name if context.vault else None,
        path=resolve_directory(arguments.path) or None if arguments.path else None,
        tag=arguments.tag,
        type=arguments.type,
        modified=arguments.modified,
        top_k=arguments.top_k,
        threshold=arguments.threshold,
        mode=arguments.mode,
        explain=arguments.explain,
    )
    found = context.services.retrieval.search(context.principal, query, language=context.language)
    return Passages(
        hits=[_passage(hit, explain=arguments.explain) for hit in found.hits],
        notices=[Notice(code=notice.code, message=notice.message) for notice in found.notices],
    )


def _passage(hit: SearchHit, *, explain: bool) -> Passage:
    return Passage(
        vault=hit.vault,
        path=hit.path,
        uri=hit.uri,
        heading=hit.heading,
        page=hit.page,
        excerpt=hit.excerpt,
        score=hit.score,
        line=hit.line,
        span=list(hit.span),
        also_in=list(hit.also_in),
        explanation=hit.explanation if explain else None,
    )
