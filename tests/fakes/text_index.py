"""A lexical index in dictionaries: real BM25, and the order of generations of the port."""

import math
from collections import Counter
from collections.abc import Iterator, Sequence

from archivolt.domain.ingestion import Generation, Passage
from archivolt.domain.paths import VaultPath
from archivolt.domain.vault import VaultRef
from archivolt.ports.retrieval import Candidate, DocumentUpdate, IndexedPassage

_K1 = 1.2
_B = 0.75

_Posting = tuple[VaultRef, DocumentUpdate, IndexedPassage]


class InMemoryTextIndex:
    """A `TextIndex` that lives as long as the test."""

    def __init__(self) -> None:
        self._documents: dict[VaultRef, dict[VaultPath, DocumentUpdate]] = {}

    def apply(self, vault: VaultRef, updates: Sequence[DocumentUpdate]) -> None:
        documents = self._documents.setdefault(vault, {})
        for update in updates:
            held = documents.get(update.path)
            if held is not None and held.generation > update.generation:
                continue
            if update.passages:
                documents[update.path] = update
            else:
                documents.pop(update.path, None)

    def search(
        self,
        vaults: Sequence[VaultRef],
        terms: Sequence[Sequence[str]],
        *,
        limit: int,
        prefix: str = "",
    ) -> list[Candidate]:
        corpus = self._corpus(vaults)
        found = [
            Candidate(
                vault=vault,
                path=document.path,
                generation=document.generation,
                passage=indexed.passage,
                score=score,
            )
            for (vault, document, indexed), score in zip(
                corpus, _bm25([posting[2] for posting in corpus], terms), strict=True
            )
            if score > 0 and _below(document.path, prefix)
        ]
        return sorted(found, key=lambda candidate: -candidate.score)[:limit]

    def passages(self, vault: VaultRef, path: VaultPath, generation: Generation) -> list[Passage]:
        held = self._documents.get(vault, {}).get(path)
        if held is None or held.generation != generation:
            return []
        return [indexed.passage for indexed in held.passages]

    def generations(self, vault: VaultRef) -> Iterator[tuple[VaultPath, Generation]]:
        for path, held in list(self._documents.get(vault, {}).items()):
            yield path, held.generation

    def drop(self, vault: VaultRef) -> None:
        self._documents.pop(vault, None)

    def _corpus(self, vaults: Sequence[VaultRef]) -> list[_Posting]:
        return [
            (vault, document, indexed)
            for vault in vaults
            for document in self._documents.get(vault, {}).values()
            for indexed in document.passages
        ]


def _below(path: str, prefix: str) -> bool:
    return not prefix or path == prefix or path.startswith(f"{prefix}/")


def _bm25(passages: Sequence[IndexedPassage], groups: Sequence[Sequence[str]]) -> list[float]:
    lengths = [sum(passage.terms.values()) for passage in passages]
    average = (sum(lengths) / len(lengths) if lengths else 0) or 1
    scores = [0.0] * len(passages)
    for group in groups:
        counts = [sum(passage.terms.get(term, 0) for term in set(group)) for passage in passages]
        having = Counter(count > 0 for count in counts)[True]
        idf = math.log(1 + (len(passages) - having + 0.5) / (having + 0.5))
        for number, count in enumerate(counts):
            saturation = count + _K1 * (1 - _B + _B * lengths[number] / average)
            scores[number] += idf * count * (_K1 + 1) / saturation
    return scores
