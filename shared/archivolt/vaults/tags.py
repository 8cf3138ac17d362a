"""The tags of vaults, and those that would suit a text (O45, O46)."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from archivolt.domain.folding import folded
from archivolt.domain.ingestion import CatalogueEntry, IndexState
from archivolt.domain.limits import DEFAULT_TAG_SUGGESTIONS
from archivolt.domain.paths import VaultPath
from archivolt.domain.vault import VaultAccess, VaultRef
from archivolt.ports.catalogue import Catalogue
from archivolt.ports.notes import NoteIndex, TagCount
from archivolt.ports.retrieval import Candidate, TextIndex
from archivolt.retrieval.analysis import query_terms

# The passages whose documents' tags are suggested, and how much of a text they are sought by.
_PASSAGES: Final = 30
_NOTE_CHARS: Final = 600
_TERMS: Final = 32
# How well a tag's name suits what was asked.
_SAME: Final = 4.0
_BEGINS: Final = 3.0
_PART_BEGINS: Final = 2.5
_NAMED: Final = 2.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Tag:
    """A tag with how many documents have it, and how many it or a tag nested in it."""

    name: str
    documents: int
    with_nested: int


class SuggestedFor(StrEnum):
    """Why a tag is suggested."""

    NAME = "name"
    """It begins with what was asked, or is named in it."""
    CONTENT = "content"
    """Documents about the same have it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TagSuggestion:
    """A tag in use that may suit; `score` orders the suggestions of one answer."""

    name: str
    documents: int
    reason: SuggestedFor
    score: float


class TagService:
    """Lists and suggests the tags of the vaults it is given access to."""

    def __init__(self, index: NoteIndex, text_index: TextIndex, catalogue: Catalogue) -> None:
        self._index = index
        self._text_index = text_index
        self._catalogue = catalogue

    def tags(self, vaults: Sequence[VaultAccess]) -> list[Tag]:
        """Return all tags; those nested in one follow it.

        Raises:
            UnavailableError: The index cannot be read.

        """
        counts = self._index.tags([access.vault.ref for access in vaults])
        return [
            Tag(name=name, documents=count.own, with_nested=count.nested)
            for name, count in sorted(counts.items(), key=lambda item: item[0].split("/"))
        ]

    def suggest(
        self, vaults: Sequence[VaultAccess], q: str, *, limit: int = DEFAULT_TAG_SUGGESTIONS
    ) -> list[TagSuggestion]:
        """Return tags in use that suit `q`: the start of a tag, a text, or the path of a note.

        Tags that begin with `q` or are named in it come first, then those of the documents that
        full-text search finds for it (for a note: for its text), each weighted by how well its
        document suits. A note's own tags are left out.

        Raises:
            UnavailableError: The index cannot be read.

        """
        refs = [access.vault.ref for access in vaults]
        counts = {name: count for name, count in self._index.tags(refs).items() if count.own}
        if not counts:
            return []
        text, own = self._asked_about(refs, q)
        start, words = folded(q).strip().strip("#/"), f" {_as_words(folded(text))} "
        by_name = {name: score for name in counts if (score := _name_score(name, start, words))}
        by_content = self._by_content(refs, text)
        suggestions = [
            _suggestion(name, counts[name], by_name.get(name, 0), by_content.get(name, 0))
            for name in (by_name.keys() | by_content.keys()) & counts.keys() - own
        ]
        order = sorted(suggestions, key=lambda each: (-each.score, -each.documents, each.name))
        return order[:limit]

    def _asked_about(self, refs: Sequence[VaultRef], q: str) -> tuple[str, frozenset[str]]:
        """Return the text of the note whose path was given, with its tags; else what was given."""
        path = VaultPath(q.strip())
        for ref in refs:
            text = self._index.text(ref, path)
            if text is not None:
                note = self._index.notes(ref, [path]).get(path)
                return f"{q} {text[:_NOTE_CHARS]}", frozenset(note.tags if note else ())
        return q, frozenset()

    def _by_content(self, refs: Sequence[VaultRef], text: str) -> Mapping[str, float]:
        """Return the tags of the documents that suit a text, each from 0 to 1."""
        terms = query_terms(text)[:_TERMS]
        found = self._text_index.search(refs, terms, limit=_PASSAGES)
        best: dict[tuple[VaultRef, VaultPath], Candidate] = {}
        for candidate in found:
            best.setdefault((candidate.vault, candidate.path), candidate)
        entries = self._catalogue.get_many(list(best))
        return _weighed(
            (best[key].score, entry)
            for key, entry in entries.items()
            if entry.state is not IndexState.DELETED and entry.generation == best[key].generation
        )


def _weighed(documents: Iterable[tuple[float, CatalogueEntry]]) -> Mapping[str, float]:
    weights: dict[str, float] = defaultdict(float)
    total = 0.0
    for score, entry in documents:
        total += score
        for tag in entry.tags:
            weights[tag] += score
    return {tag: weight / total for tag, weight in weights.items()} if total else {}


def _name_score(tag: str, start: str, words: str) -> float:
    """Return how well a tag's name suits the start of one, or words between spaces; 0: not."""
    name = folded(tag)
    if start and name.startswith(start):
        return _SAME if name == start else _BEGINS
    if start and any(part.startswith(start) for part in name.replace("-", "/").split("/")):
        return _PART_BEGINS
    return _NAMED if f" {_as_words(name)} " in words else 0


def _as_words(text: str) -> str:
    return " ".join("".join(c if c.isalnum() else " " for c in text).split())


def _suggestion(name: str, count: TagCount, by_name: float, by_content: float) -> TagSuggestion:
    return TagSuggestion(
        name=name,
        documents=count.own,
        reason=SuggestedFor.NAME if by_name else SuggestedFor.CONTENT,
        score=round(by_name + by_content, 4),
    )
