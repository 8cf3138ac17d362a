"""Finds passages by meaning: in the vectors of the model in use, and in those of the one before.

After a change of model the documents are embedded anew one after the other. Until its turn comes a
document is found by the vectors it has, whose model the catalogue names. Two models' cosines are
not the same measure; a threshold says for each what is near enough (decision 29), so the former
model's are brought to the scale of the present one.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Final

from archivolt.domain.errors import UnavailableError
from archivolt.domain.identity import Principal, TenantId
from archivolt.domain.ingestion import CatalogueEntry, is_alike
from archivolt.domain.paths import VaultPath
from archivolt.domain.vault import VaultRef
from archivolt.observability import failure, logger
from archivolt.ports.retrieval import Candidate, Embedder, Vector, VectorStore, Within
from archivolt.retrieval.breaker import Breaker

_LEAST: Final = -1.0
_NOISE_SHARE: Final = 0.5
# One server has the vectors of everybody; a model is asked with the key of a tenant.
_VECTORS: Final = "vectors"

Entries = Mapping[tuple[VaultRef, VaultPath], CatalogueEntry]


@dataclass(frozen=True, slots=True, kw_only=True)
class DenseIndex:
    """The vectors of one model and what makes them."""

    embedder: Embedder
    vectors: VectorStore


def no_former_index(_: TenantId) -> DenseIndex | None:
    """Say that the model was never another."""
    return None


@dataclass(frozen=True, slots=True, kw_only=True)
class MeaningQuestion:
    """What is looked for, where.

    With `cut`, what is less near than the model's threshold is left out; `least` is a cosine that
    takes its place. With `alone`, nothing else would answer, and even what was silent is asked.
    `embedded` keeps what models made of the text, by their ids. Of vaults that the user joined
    `lately`, not all documents may be in their collection.
    """

    text: str
    user: Principal
    vaults: Sequence[VaultRef]
    path: VaultPath
    within: Within | None
    limit: int
    cut: bool = False
    least: float | None = None
    alone: bool = False
    embedded: dict[str, Vector] = field(default_factory=dict[str, Vector])
    lately: Set[VaultRef] = frozenset()


Lacking = Callable[[Sequence[Candidate]], Sequence[Candidate]]


def _nothing(_: Sequence[Candidate]) -> Sequence[Candidate]:
    return []


@dataclass(frozen=True, slots=True, kw_only=True)
class Nearest:
    """The nearest passages: by the model in use, and by the one before, named `former_model`.

    `models` are those that answered; `lacking` tells which of some passages, that the model in use
    has read, the user has no vectors of yet.
    """

    present: list[Candidate] = field(default_factory=list[Candidate])
    former: list[Candidate] = field(default_factory=list[Candidate])
    former_model: str = ""
    models: Set[str] = frozenset()
    threshold: float = 1.0
    lacking: Lacking = _nothing

    @property
    def candidates(self) -> list[Candidate]:
        """Both lists."""
        return [*self.present, *self.former]

    @property
    def noise(self) -> float:
        """The cosine below which nearness alone is no answer."""
        return _NOISE_SHARE * self.threshold

    def nearness(self, shown: Sequence[Candidate]) -> float:
        """Return the best cosine of those of the passages that are shown, as a share of it."""
        return max((each.score for each in shown), default=0.0) / self.threshold

    def joined(self, entries: Entries) -> list[Candidate]:
        """Return one list, best first, each document by the vectors of one model."""
        former = [
            each
            for each in _as_current(self.former, entries)
            if (entry := entries.get((each.vault, each.path)))
            and _is_of_former(each, entry, self.former_model)
        ]
        by_former = {(each.vault, each.path, each.generation) for each in former}
        present = [
            each
            for each in _as_current(self.present, entries)
            if (each.vault, each.path, each.generation) not in by_former
        ]
        if not former:
            return present
        return sorted([*present, *former], key=lambda each: -each.score)


def _is_of_former(candidate: Candidate, entry: CatalogueEntry, model: str) -> bool:
    """Tell whether the former model's vectors are those that a passage is found by.

    What left a place that has another document now is not embedded there any more.
    """
    if candidate.generation == entry.generation:
        return entry.embedder == model
    return bool(entry.served) and candidate.generation == entry.served


def _as_current(candidates: Iterable[Candidate], entries: Entries) -> Iterator[Candidate]:
    """Yield passages as those of the current generation, where that has the same ones."""
    for each in candidates:
        entry = entries.get((each.vault, each.path))
        alike = entry and is_alike(entry, each.generation)
        yield replace(each, generation=entry.generation) if entry and alike else each


def nearest(
    question: MeaningQuestion,
    present: DenseIndex,
    former: Callable[[], DenseIndex | None],
    breaker: Breaker,
) -> Nearest:
    """Return the nearest passages; the former model's failure costs its passages alone.

    Raises:
        UnavailableError: The model in use, or its vectors, cannot be reached, or could not be a
            short while ago.

    """
    threshold = present.embedder.threshold
    least = (threshold if question.least is None else question.least) if question.cut else _LEAST
    nearby = _found(question, present, breaker, alone=question.alone)
    found = [each for each in nearby if each.score >= least]
    models = {present.embedder.model}
    lacking = partial(_lacking, question, present, breaker, whole=len(nearby) < question.limit)
    before = former()
    former_found = before and _found_if_up(question, before, breaker)
    if before is None or former_found is None:
        return Nearest(present=found, models=models, threshold=threshold, lacking=lacking)
    scale = threshold / before.embedder.threshold
    rescaled = [replace(each, score=min(1.0, each.score * scale)) for each in former_found]
    return Nearest(
        present=found,
        former=[each for each in rescaled if each.score >= least],
        former_model=before.embedder.model,
        models=models | {before.embedder.model},
        threshold=threshold,
        lacking=lacking,
    )


def _found(
    question: MeaningQuestion, index: DenseIndex, breaker: Breaker, *, alone: bool
) -> list[Candidate]:
    tenant, model = question.user.tenant, index.embedder.model
    # What would not be looked for is not embedded, nor paid for.
    with breaker.turn(_VECTORS, tenant, shared=True, alone=alone) as search:
        if model not in question.embedded:
            with breaker.turn(model, tenant, alone=alone) as embed:
                question.embedded[model] = embed.ask(
                    lambda: index.embedder.embed_query(question.text)
                )
        return search.ask(
            lambda: index.vectors.search(
                tenant,
                question.user.user,
                question.vaults,
                question.embedded[model],
                limit=question.limit,
                prefix=question.path,
                within=question.within,
            )
        )


def _lacking(
    question: MeaningQuestion,
    index: DenseIndex,
    breaker: Breaker,
    passages: Sequence[Candidate],
    *,
    whole: bool,
) -> Sequence[Candidate]:
    """Return the passages that the user has no vectors of; a `whole` list had all that are."""
    lately = [each for each in passages if each.vault in question.lately]
    if whole or not lately:
        return passages if whole else []
    tenant, user = question.user.tenant, question.user.user
    try:
        with breaker.turn(_VECTORS, tenant, shared=True) as search:
            return search.ask(lambda: index.vectors.lacks(tenant, user, lately))
    except UnavailableError as error:
        logger.warning("it is not known what has no vectors yet", extra=failure(error))
        return []


def _found_if_up(
    question: MeaningQuestion, index: DenseIndex, breaker: Breaker
) -> list[Candidate] | None:
    try:
        return _found(question, index, breaker, alone=False)
    except UnavailableError as error:
        logger.warning("the former embedding model does not answer", extra=failure(error))
        return None
