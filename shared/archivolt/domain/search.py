"""A question to the index and its answer (R11, R25, decision 19)."""

from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from archivolt.domain.limits import DEFAULT_TOP_K
from archivolt.domain.paths import VaultPath


class SearchMode(StrEnum):
    """Which lists are consulted."""

    HYBRID = "hybrid"
    DENSE = "dense"
    LEXICAL = "lexical"


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchQuery:
    """What to look for. `vault` and `path` (a directory or file prefix) narrow the search.

    So do `tag`, `type` and `modified`, as people write them: see `domain.document_types` and
    `domain.ranges`.
    `threshold` is a cosine; None takes the model's own (decision 29). It applies to dense mode.
    """

    q: str
    vault: str | None = None
    path: str | None = None
    tag: str | None = None
    type: str | None = None
    modified: str | None = None
    top_k: int = DEFAULT_TOP_K
    threshold: float | None = None
    mode: SearchMode = SearchMode.HYBRID
    explain: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchHit:
    """One passage found. `score` is in 0..1, comparable within one answer only.

    `line` is the passage's first in the extracted text, counted from 1; `span` is where the
    excerpt stands in the passage, in characters; `also_in` names what says nearly the same.
    """

    vault: str
    path: VaultPath
    uri: str
    heading: str
    page: int | None
    excerpt: str
    score: float
    line: int | None = None
    span: tuple[int, int] = (0, 0)
    also_in: tuple[str, ...] = ()
    explanation: dict[str, Any] = field(default_factory=dict[str, Any])


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchNotice:
    """Something the reader of the hits should know: `code` is stable, `message` is for a person."""

    code: str
    message: str


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchResult:
    """Hits, best first, and notices (documents pending, a degraded part)."""

    hits: list[SearchHit]
    notices: list[SearchNotice]
