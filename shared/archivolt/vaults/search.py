"""Full-text search: the documents in which words occur, best first (O42).

It finds documents, each with its best passage; passages for an answer are found by
`archivolt.retrieval`. Needs neither vectors nor keys.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from archivolt.domain.limits import DEFAULT_SEARCH_LIMIT, MAX_SEARCH_OFFSET
from archivolt.domain.paths import VaultPath, vault_uri
from archivolt.domain.redaction import redact
from archivolt.domain.vault import VaultAccess, VaultRef
from archivolt.ports.catalogue import Catalogue
from archivolt.ports.retrieval import Candidate, TextIndex
from archivolt.retrieval.analysis import query_terms
from archivolt.retrieval.current import CurrentPassages
from archivolt.vaults.excerpts import Excerpt, excerpt_of

# Passages asked of the index for each document wanted: long documents have several good ones.
_PASSAGES_PER_DOCUMENT: Final = 8
_MAX_PASSAGES: Final = 5_000
_LOOKED_UP_AT_ONCE: Final = 100
# A list that was made while a document changed is made once more.
_ATTEMPTS: Final = 2

_Key = tuple[VaultRef, VaultPath]


@dataclass(frozen=True, slots=True, kw_only=True)
class TextHit:
    """A document found. `score` is relative to the best of the answer, which has 1."""

    vault: str
    path: VaultPath
    uri: str
    title: str
    heading: str
    page: int | None
    excerpt: Excerpt
    score: float


@dataclass(frozen=True, slots=True, kw_only=True)
class TextHits:
    """One page of documents; `next_offset` is None when there are no more."""

    hits: list[TextHit]
    next_offset: int | None


class TextSearch:
    """Searches the words of the vaults it is given access to."""

    def __init__(self, index: TextIndex, catalogue: Catalogue) -> None:
        self._index = index
        self._catalogue = catalogue

    def search(
        self,
        vaults: Sequence[VaultAccess],
        q: str,
        *,
        tag: str | None = None,
        limit: int = DEFAULT_SEARCH_LIMIT,
        offset: int = 0,
    ) -> TextHits:
        """Return the documents in which words of `q` occur, those with the most telling first.

        With `tag`, only documents that have that tag or one nested in it.

        Raises:
            UnavailableError: The index cannot be read.

        """
        names = {access.vault.ref: access.vault.name for access in vaults}
        terms = query_terms(q)
        if not names or not terms:
            return TextHits(hits=[], next_offset=None)
        enough = offset + limit + 1
        best: list[tuple[Candidate, str]] = []
        for _ in range(_ATTEMPTS):
            candidates = self._index.search(
                list(names),
                terms,
                limit=_MAX_PASSAGES if tag else min(enough * _PASSAGES_PER_DOCUMENT, _MAX_PASSAGES),
            )
            best, early = self._best_of_current_documents(candidates, tag, enough=enough)
            if not early:
                break
        page, end = best[offset : offset + limit], offset + limit
        top = best[0][0].score if best else 1.0
        return TextHits(
            hits=[_hit(c, title, names[c.vault], terms, top=top) for c, title in page],
            next_offset=end if end < len(best) and end <= MAX_SEARCH_OFFSET else None,
        )

    def _best_of_current_documents(
        self, candidates: Sequence[Candidate], tag: str | None, *, enough: int
    ) -> tuple[list[tuple[Candidate, str]], bool]:
        """Return the best passage of each document with its title, stale passages left out.

        Only as many candidates are looked up as it takes to have `enough` documents. Also tell
        whether the list was made a moment too early, and lacks what took the place of others.
        """
        early = False
        best: dict[_Key, tuple[Candidate, str]] = {}
        for start in range(0, len(candidates), _LOOKED_UP_AT_ONCE):
            some = candidates[start : start + _LOOKED_UP_AT_ONCE]
            current = CurrentPassages(self._catalogue, some)
            early = early or current.lacks_newer(candidates)
            for candidate in some:
                entry, placed = current.entry_of(candidate), current.placed(candidate)
                if entry and placed and (not tag or entry.has_tag(tag)):
                    best.setdefault((placed.vault, placed.path), (placed, entry.title))
            if len(best) >= enough:
                break
        return list(best.values()), early


def _hit(
    candidate: Candidate, title: str, vault: str, terms: Sequence[Sequence[str]], *, top: float
) -> TextHit:
    passage = candidate.passage
    return TextHit(
        vault=vault,
        path=candidate.path,
        uri=vault_uri(vault, candidate.path),
        title=title,
        heading=" > ".join(passage.headings),
        page=passage.page,
        excerpt=excerpt_of(redact(passage.text).text, terms),
        score=round(candidate.score / top, 4) if top else 0.0,
    )
