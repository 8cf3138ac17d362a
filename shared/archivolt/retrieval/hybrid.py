"""Finds the passages that answer a question, in the caller's vaults and in no others (R10).

Two lists, by words and by meaning, are checked against the catalogue, so that nothing stale or
deleted is shown, and made one. Either list may be down: then the other answers, and a notice says
so. The embedding model is built at the first question that needs it.
"""

from collections.abc import Callable, Set
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Final

from archivolt.domain.embedding_key import KEY_TROUBLES
from archivolt.domain.errors import InvalidRequestError, UnavailableError
from archivolt.domain.identity import Principal, TenantId
from archivolt.domain.limits import MAX_QUERY_CHARS, MAX_TOP_K
from archivolt.domain.messages import Language
from archivolt.domain.paths import ROOT, VaultPath, is_below, resolve_directory
from archivolt.domain.search import SearchMode, SearchQuery, SearchResult
from archivolt.domain.vault import VaultRef
from archivolt.ports.catalogue import Catalogue
from archivolt.ports.clock import Clock
from archivolt.ports.retrieval import (
    Candidate,
    Embedder,
    Reranker,
    TextIndex,
    Vector,
    VectorStore,
    Within,
)
from archivolt.ports.vaults import VaultDirectory
from archivolt.retrieval.analysis import query_terms
from archivolt.retrieval.breaker import Breaker
from archivolt.retrieval.current import CurrentPassages
from archivolt.retrieval.explaining import Weighing, explanation
from archivolt.retrieval.filters import DocumentFilters
from archivolt.retrieval.fusion import Ranked
from archivolt.retrieval.hits import hit_of
from archivolt.retrieval.meaning import (
    DenseIndex,
    MeaningQuestion,
    Nearest,
    nearest,
    no_former_index,
)
from archivolt.retrieval.near_duplicates import fold
from archivolt.retrieval.neighbours import joined
from archivolt.retrieval.notices import index_notices, notice
from archivolt.retrieval.ranking import by_cosine, by_words_and_meaning, confidence
from archivolt.retrieval.reach import ReachableVaults
from archivolt.retrieval.reranking import no_reranker, reranked
from archivolt.retrieval.unread import Unread, joined_lately, unread

# How many passages of each list are looked at: the checks and the fusion drop some.
_LEAST_CANDIDATES: Final = 100
_CANDIDATES_PER_HIT: Final = 4
# How much deeper the lists are looked at where half of one, or more, is of former versions.
_DEEPER: Final = 8
# How far down the list a hit's near-duplicates are looked for.
_LOOKED_AT_PER_HIT: Final = 4


@dataclass(frozen=True, slots=True, kw_only=True)
class _Question:
    """A question, ready to be asked, what models `embedded` of it, and vaults joined `lately`."""

    query: SearchQuery
    vaults: dict[VaultRef, str]
    groups: list[list[str]]
    path: VaultPath
    tag: str
    within: Within | None
    user: Principal
    lately: Set[VaultRef]
    depth: int = 1
    embedded: dict[str, Vector] = field(default_factory=dict[str, Vector])

    @property
    def limit(self) -> int:
        """How many passages each list is asked for."""
        return max(_LEAST_CANDIDATES, self.query.top_k * _CANDIDATES_PER_HIT) * self.depth


@dataclass(slots=True)
class _Lists:
    """The two lists, what the second is made of, how they are mixed, what went wrong (codes)."""

    lexical: list[Candidate] = field(default_factory=list[Candidate])
    dense: list[Candidate] = field(default_factory=list[Candidate])
    nearest: Nearest = field(default_factory=Nearest)
    unread: Unread = field(default_factory=Unread)
    weighing: Weighing | None = None
    troubles: list[str] = field(default_factory=list[str])


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchModels:
    """The models that a search asks, each with the key of a tenant, unless they are silent."""

    breaker: Breaker
    embedder: Callable[[TenantId], Embedder]
    former: Callable[[TenantId], DenseIndex | None] = no_former_index
    reranker: Callable[[TenantId], Reranker | None] = no_reranker


class RetrievalService:
    """Searches by meaning and by words."""

    def __init__(
        self,
        *,
        directory: VaultDirectory,
        catalogue: Catalogue,
        text_index: TextIndex,
        vectors: VectorStore,
        clock: Clock,
        filters: DocumentFilters,
        models: SearchModels,
    ) -> None:
        self._vaults_of = ReachableVaults(directory)
        self._catalogue = catalogue
        self._text_index = text_index
        self._vectors = vectors
        self._clock = clock
        self._filters = filters
        self._models = models

    def search(
        self, principal: Principal, query: SearchQuery, *, language: Language
    ) -> SearchResult:
        """Return the best passages, and what the answer may lack.

        Raises:
            InvalidRequestError: `invalid_request`: an empty or overlong question, or a `top_k` out
                of bounds; `invalid_path`, `invalid_type`, `invalid_date_range`.
            NotFoundError: `vault_not_found`: no such vault among the caller's.
            UnavailableError: Nothing that could answer does.

        """
        question = self._prepared(principal, query)
        if not question.vaults:
            return SearchResult(hits=[], notices=[])
        lists = self._current_lists(question)
        found = joined(self._ranked(question, lists))
        codes = [*lists.troubles, *lists.unread.codes]
        hits = fold(found, limit=query.top_k, looked_at=query.top_k * _LOOKED_AT_PER_HIT)
        notices = index_notices(self._catalogue, list(question.vaults), query.mode, language)
        return SearchResult(
            hits=[
                hit_of(
                    each,
                    question.groups,
                    question.vaults,
                    explanation=explanation(
                        each.found.ranked, lists.lexical, lists.dense, lists.weighing
                    )
                    if query.explain
                    else {},
                )
                for each in hits
            ],
            notices=[*(notice(code, language) for code in codes), *notices],
        )

    def _prepared(self, principal: Principal, query: SearchQuery) -> _Question:
        text = query.q.strip()
        if not text or len(text) > MAX_QUERY_CHARS:
            raise InvalidRequestError("invalid_request", problem="query_size")
        if not 1 <= query.top_k <= MAX_TOP_K:
            raise InvalidRequestError("invalid_request", problem="top_k_range")
        wanted = self._filters.read(query)
        accesses = self._vaults_of.asked_for(principal, query.vault)
        vaults = {access.vault.ref: access.vault.name for access in accesses}
        return _Question(
            query=query,
            vaults=vaults,
            groups=query_terms(text),
            path=resolve_directory(query.path) if query.path else ROOT,
            tag=wanted.tag if wanted else "",
            within=self._filters.within(list(vaults), wanted),
            user=principal,
            lately=joined_lately(accesses, now=self._clock.now()),
        )

    def _current_lists(self, question: _Question) -> _Lists:
        """Return the lists with what may be shown, from further down where that is little."""
        lists = self._lists(question)
        asked = len(lists.lexical), len(lists.nearest.present)
        self._keep_current(question, lists)
        kept = len(lists.lexical), len(lists.dense)
        if question.depth == 1 and any(
            found >= question.limit > 2 * left for found, left in zip(asked, kept, strict=True)
        ):
            return self._current_lists(replace(question, depth=_DEEPER))
        return lists

    def _lists(self, question: _Question) -> _Lists:
        lists = _Lists()
        mode = question.query.mode
        if mode is not SearchMode.DENSE:
            try:
                lists.lexical = self._by_words(question)
            except UnavailableError:
                if mode is SearchMode.LEXICAL:
                    raise
                lists.troubles.append("words_unavailable")
        if mode is not SearchMode.LEXICAL:
            try:
                lists.nearest = self._by_meaning(question, alone=bool(lists.troubles))
            except UnavailableError as error:
                if mode is SearchMode.DENSE or lists.troubles:
                    raise
                wants_key = error.code in KEY_TROUBLES
                lists.troubles.append(error.code if wants_key else "meaning_unavailable")
        return lists

    def _by_words(self, question: _Question) -> list[Candidate]:
        if not question.groups:
            return []
        return self._text_index.search(
            list(question.vaults),
            question.groups,
            limit=question.limit,
            prefix=question.path,
            within=question.within,
        )

    def _by_meaning(self, question: _Question, *, alone: bool) -> Nearest:
        query = question.query
        dense = query.mode is SearchMode.DENSE
        asked = MeaningQuestion(
            text=query.q,
            user=question.user,
            vaults=list(question.vaults),
            path=question.path,
            within=question.within,
            limit=question.limit,
            cut=dense,
            least=query.threshold if dense else None,
            alone=alone or dense,
            embedded=question.embedded,
            lately=question.lately,
        )
        tenant = question.user.tenant
        present = DenseIndex(embedder=self._models.embedder(tenant), vectors=self._vectors)
        former = partial(self._models.former, tenant)
        return nearest(asked, present, former, self._models.breaker)

    def _keep_current(self, question: _Question, lists: _Lists) -> None:
        """Drop every candidate that the catalogue does not name as current, in both lists."""
        near = lists.nearest
        current = CurrentPassages(self._catalogue, [*lists.lexical, *near.candidates])
        if current.lacks_newer(lists.lexical):
            with suppress(UnavailableError):
                lists.lexical = self._by_words(question)
            current = CurrentPassages(self._catalogue, [*lists.lexical, *near.candidates])

        def is_wanted(candidate: Candidate) -> bool:
            entry, tag = current.entry_of(candidate), question.tag
            if entry is None or candidate.vault not in question.vaults:
                return False
            return not tag or entry.has_tag(tag)

        proposed = [each for each in lists.lexical if is_wanted(each)]
        by_words = [current.placed(each) for each in proposed]
        joined = near.joined(current.as_proposed)
        by_meaning = current.by_meaning(each for each in joined if is_wanted(each))
        # What a move carries was looked for under its old path.
        lists.lexical = [each for each in by_words if each and is_below(each.path, question.path)]
        lists.dense = [each for each in by_meaning if is_below(each.path, question.path)]
        lists.unread = unread(proposed, lists.dense, near, current)

    def _ranked(self, question: _Question, lists: _Lists) -> list[Ranked]:
        if question.query.mode is SearchMode.DENSE:
            return by_cosine(lists.dense)
        near = lists.nearest
        ranked, lists.weighing = by_words_and_meaning(
            question.query.q,
            question.groups,
            lists.lexical,
            lists.dense,
            noise=near.noise,
            without_vectors=lists.unread.documents,
        )
        share = confidence(question.groups, lists.lexical, near.nearness(lists.dense))
        fused = [replace(each, score=each.score * share) for each in ranked]
        tenant = question.user.tenant
        reranker = self._models.reranker(tenant)
        if not fused or reranker is None or question.query.mode is not SearchMode.HYBRID:
            return fused
        order = partial(reranked, question.query.q, fused, reranker)
        try:
            return self._models.breaker.ask("reranker", tenant, order)
        except UnavailableError:
            lists.troubles.append("rerank_unavailable")
            return fused
