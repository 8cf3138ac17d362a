"""What is told of a passage that was found: where it stands, what it says, and where else."""

from collections.abc import Mapping, Sequence
from typing import Any

from archivolt.domain.ingestion import Passage
from archivolt.domain.paths import vault_uri
from archivolt.domain.redaction import redact
from archivolt.domain.search import SearchHit
from archivolt.domain.vault import VaultRef
from archivolt.ports.retrieval import Candidate
from archivolt.retrieval.excerpt import best_sentences
from archivolt.retrieval.near_duplicates import Folded


def hit_of(
    folded: Folded,
    groups: Sequence[Sequence[str]],
    names: Mapping[VaultRef, str],
    *,
    explanation: Mapping[str, Any],
) -> SearchHit:
    """Return a hit.

    Args:
        folded: The passage, and those that say the same.
        groups: The question's words, as `analysis.query_terms` makes them.
        names: The names of the vaults that were searched.
        explanation: Why it was found; empty if nobody asked.

    """
    ranked = folded.found.ranked
    candidate = ranked.candidate
    shown = redact(folded.found.text).text
    excerpt = best_sentences(shown, groups)
    start = shown.find(excerpt)
    own = _uri(candidate, names)
    others = dict.fromkeys(
        vault_uri(names[each.vault], each.path)
        for each in folded.same
        if each.path != candidate.path
    )
    return SearchHit(
        vault=names[candidate.vault],
        path=candidate.path,
        uri=own,
        heading=" > ".join(candidate.passage.headings),
        page=candidate.passage.page,
        excerpt=excerpt,
        score=round(min(1.0, ranked.score), 4),
        line=folded.found.line,
        span=(start, start + len(excerpt)),
        also_in=tuple(others),
        explanation=dict(explanation),
    )


def _uri(candidate: Candidate, names: Mapping[VaultRef, str]) -> str:
    fragment = _fragment(candidate.passage)
    return vault_uri(names[candidate.vault], candidate.path, fragment=fragment)


def _fragment(passage: Passage) -> str:
    return f"page={passage.page}" if passage.page else "".join(passage.headings[-1:])
