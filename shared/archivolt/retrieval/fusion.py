"""Makes one list of two: passages by their words and passages by their meaning. Pure.

Scores are mixed, not ranks: how far the best is ahead says something that its rank does not. The
weight of the words follows the question: the more of its words the lexical list has, the more that
list is worth, and the less, the more evenly it has them: words that many documents have alike do
not tell which one is meant. A question in another language than the passages that mean the same
shares names and technical terms with them by chance: there the words weigh little however many are
found, and what the two languages write alike takes the place of more than half of them
(`cognates`), unless one document is far ahead by what the question names. Decisions 17, 47, 99 and
110 have the figures of `bench/retrieval.py`. No fixed weight serves all sets; rank fusion does
worse.
"""

from collections import Counter
from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass
from typing import Final

from archivolt.domain.ingestion import Generation
from archivolt.domain.language import Language
from archivolt.domain.paths import VaultPath
from archivolt.domain.vault import VaultRef
from archivolt.ports.retrieval import Candidate
from archivolt.retrieval.analysis import language_of_text, terms

# The weight of the lexical list when few and when most of the question's words are found.
_LEAST_WEIGHT: Final = 0.3
_MOST_WEIGHT: Final = 0.8
_MOST_WEIGHT_ABROAD: Final = 0.4
# The most where ten documents have the words nearly as well as the best one.
_MOST_WEIGHT_OF_COMMON_WORDS: Final = 0.4
_FEW_WORDS: Final = 0.4
_MOST_WORDS: Final = 0.8
# The score of the tenth document as a share of the best, where it begins to matter and is all.
_UNEVEN: Final = 0.6
_EVEN: Final = 0.8
_COMPARED_DOCUMENTS: Final = 10
# The score of the second document as a share of the best, where the best is far ahead and is not.
_FAR_BEHIND: Final = 0.4
_CLOSE_BEHIND: Final = 0.7
# Below this coverage the words alone say too little, whatever the language.
_ENOUGH_WORDS: Final = 0.6
# What cognates, where they are asked for, are worth among the words.
_COGNATE_SHARE: Final = 0.6
# Any two texts are a little alike: a cosine below this share of the best one is worth nothing.
_DENSE_FLOOR: Final = 0.3
# Some models find any two texts much alike. The cosine of the hundredth passage, or of the last of
# ten or more, as a share of the best, where it begins to be what is worth nothing, and where it is.
_HUNDREDTH: Final = 100
_TENTH: Final = 10
_SPREAD: Final = 0.6
_NARROW: Final = 0.8
_HIGHEST_FLOOR: Final = 0.99
_PASSAGES_PER_DOCUMENT: Final = 3

Place = tuple[VaultRef, VaultPath, Generation, int]
"""Where a passage stands: in which generation of which document, its number."""
Document = tuple[VaultRef, VaultPath]


@dataclass(frozen=True, slots=True, kw_only=True)
class Ranked:
    """A passage in the joint list: its score in 0..1, and what each list said (None: nothing).

    `cognates` is a share of the best, 0 where nobody asked; `reranked` is what a reranker said.
    `words_for_meaning`: its words spoke for its meaning, which could not be compared.
    """

    candidate: Candidate
    score: float
    lexical: float | None = None
    dense: float | None = None
    cognates: float = 0.0
    reranked: float | None = None
    words_for_meaning: bool = False


def place_of(candidate: Candidate) -> Place:
    """Return where a passage stands."""
    return candidate.vault, candidate.path, candidate.generation, candidate.passage.number


def coverage(groups: Sequence[Sequence[str]], candidates: Sequence[Candidate]) -> float:
    """Return the share of the question's words that occur in any of these passages.

    Args:
        groups: The question's words, as `analysis.query_terms` makes them.
        candidates: The best of the lexical list.

    """
    if not groups:
        return 0.0
    held: set[str] = set()
    for candidate in candidates:
        passage = candidate.passage
        held.update(terms("\n".join([candidate.path, *passage.headings, passage.text])))
    return sum(any(term in held for term in group) for group in groups) / len(groups)


def is_foreign(question: str, candidates: Sequence[Candidate]) -> bool:
    """Return whether half of these passages, or more, are in one language and the question not.

    Args:
        question: As it was asked; it is foreign nowhere if its language does not show.
        candidates: The best of the list by meaning, which looks across languages.

    """
    asked_in = language_of_text(question)
    if asked_in is None:
        return False
    found = Counter[Language | None](language_of_text(each.passage.text) for each in candidates)
    return any(
        times * 2 >= len(candidates)
        for language, times in found.items()
        if language not in {None, asked_in}
    )


def evenness(lexical: Sequence[Candidate]) -> float:
    """Return the score of the tenth document as a share of the best one; 0 if there are not ten."""
    return _share_of_the_best(lexical, _COMPARED_DOCUMENTS)


def lead(lexical: Sequence[Candidate]) -> float:
    """Return how far the best document is ahead of the second, in 0..1; 0 if there is none."""
    if not lexical:
        return 0.0
    return 1 - _share(_share_of_the_best(lexical, 2), _FAR_BEHIND, _CLOSE_BEHIND)


def _share_of_the_best(lexical: Sequence[Candidate], rank: int) -> float:
    best: dict[Document, float] = {}
    for each in lexical:
        document = each.vault, each.path
        best[document] = max(each.score, best.get(document, 0.0))
    scores = sorted(best.values(), reverse=True)
    if len(scores) < rank or scores[0] <= 0:
        return 0.0
    return max(0.0, scores[rank - 1] / scores[0])


def lexical_weight(
    covered: float,
    *,
    foreign: bool = False,
    even: float = 0.0,
    ahead: float = 0.0,
    named: bool = False,
) -> float:
    """Return the share of the lexical list in the mix.

    Args:
        covered: The coverage of its ten best.
        foreign: The question is in another language than what it is put to.
        even: The evenness of the list.
        ahead: The lead of its best document.
        named: That one alone has all that the question names.

    """
    share = _share(covered, _FEW_WORDS, _MOST_WORDS)
    most = _MOST_WEIGHT_ABROAD if foreign else _MOST_WEIGHT
    weight = _LEAST_WEIGHT + (most - _LEAST_WEIGHT) * share
    if foreign:
        # One document alone has what was asked for: that is no chance.
        weight += (_MOST_WEIGHT - weight) * ahead * (1.0 if named else share)
    excess = max(0.0, weight - _MOST_WEIGHT_OF_COMMON_WORDS)
    return weight - excess * _share(even, _UNEVEN, _EVEN)


def _share(value: float, least: float, most: float) -> float:
    """Return how far a value is on the way from one to the other, in 0..1."""
    return min(1.0, max(0.0, (value - least) / (most - least)))


def dense_floor(dense: Sequence[Candidate]) -> float:
    """Return the share of the best cosine that is worth nothing, by the scale that a list shows."""
    scores = sorted((each.score for each in dense), reverse=True)
    if len(scores) < _TENTH or scores[0] <= 0:
        return _DENSE_FLOOR
    share = scores[:_HUNDREDTH][-1] / scores[0]
    excess = min(share, _HIGHEST_FLOOR) - _DENSE_FLOOR
    return _DENSE_FLOOR + max(0.0, excess) * _share(share, _SPREAD, _NARROW)


def needs_cognates(covered: float, *, foreign: bool) -> bool:
    """Return whether whole words may miss what is meant; arguments as for `lexical_weight`."""
    return foreign or covered < _ENOUGH_WORDS


def fuse(
    lexical: Sequence[Candidate],
    dense: Sequence[Candidate],
    *,
    weight: float,
    cognates: Mapping[Place, float] | None = None,
    without_vectors: Set[Document] = frozenset(),
) -> list[Ranked]:
    """Return the passages of both lists, best first, at most three of a document.

    A document counts by its best passage in each list, which need not be the same one: its best
    passage by the mix stands for it. `cognates`: scores that count among the words.
    `without_vectors`: documents whose meaning cannot be compared yet: their words speak for it, as
    far as words are trusted here, so that what came first into the index is not preferred.
    """
    raw_words, raw_meaning = _scores(lexical), _scores(dense)
    words, meaning = _shares(raw_words, 0.0), _shares(raw_meaning, dense_floor(dense))
    alike = _shares(cognates or {}, 0.0)
    part = 0.0 if not alike else _COGNATE_SHARE if words else 1.0
    candidates = {place_of(candidate): candidate for candidate in (*lexical, *dense)}

    def mixed(*places: Place) -> float:
        by_words = max(words.get(place, 0.0) for place in places)
        by_beginnings = max(alike.get(place, 0.0) for place in places)
        lexically = (1 - part) * by_words + part * by_beginnings
        if places[0][:2] in without_vectors:
            by_meaning = weight * lexically
        else:
            by_meaning = max(meaning.get(place, 0.0) for place in places)
        return weight * lexically + (1 - weight) * by_meaning

    ranked: list[Ranked] = []
    for places in _by_document(candidates).values():
        own = {place: mixed(place) for place in places}
        best = sorted(places, key=lambda place: -own[place])[:_PASSAGES_PER_DOCUMENT]
        ranked += [
            Ranked(
                candidate=candidates[place],
                score=mixed(*places) if place == best[0] else own[place],
                lexical=raw_words.get(place),
                dense=raw_meaning.get(place),
                cognates=alike.get(place, 0.0),
                words_for_meaning=place[:2] in without_vectors,
            )
            for place in best
        ]
    return sorted(ranked, key=lambda each: (-each.score, place_of(each.candidate)[1:]))


def _scores(candidates: Sequence[Candidate]) -> dict[Place, float]:
    return {place_of(candidate): candidate.score for candidate in candidates}


def _shares(scores: Mapping[Place, float], floor: float) -> dict[Place, float]:
    """Return each score as a share of the best one, counted from `floor` of it."""
    best = max(scores.values(), default=0.0)
    if best <= 0:
        return {}
    return {
        place: max(0.0, (score / best - floor) / (1 - floor)) for place, score in scores.items()
    }


def _by_document(
    candidates: dict[Place, Candidate],
) -> dict[Document, list[Place]]:
    documents: dict[Document, list[Place]] = {}
    for place in candidates:
        documents.setdefault(place[:2], []).append(place)
    return documents
