"""A lexical index in dictionaries: real BM25, and the order of generations of the port."""

import math
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace

from archivolt.domain.ingestion import Generation, Passage
from archivolt.domain.paths import VaultPath
from archivolt.domain.vault import VaultRef
from archivolt.ports.notes import Note
from archivolt.ports.retrieval import (
    Candidate,
    DocumentUpdate,
    IndexedPassage,
    Rewritten,
    Within,
)
from tests.fakes.notes import InMemoryNotes

_K1 = 1.2
_B = 0.75

_Posting = tuple[VaultRef, DocumentUpdate, IndexedPassage]


class InMemoryTextIndex:
    """A `TextIndex` that lives as long as the test; it writes notes into `notes`, if given."""

    def __init__(self, notes: InMemoryNotes | None = None) -> None:
        self._documents: dict[VaultRef, dict[VaultPath, list[DocumentUpdate]]] = {}
        self._notes = notes or InMemoryNotes()

    def apply(self, vault: VaultRef, updates: Sequence[DocumentUpdate]) -> Collection[VaultPath]:
        return {update.path for update in updates if not self._apply(vault, update)}

    def _apply(self, vault: VaultRef, update: DocumentUpdate) -> bool:
        """Keep the generations of a document in order, the newest last; False: it is older."""
        documents = self._documents.setdefault(vault, {})
        held = documents.get(update.path, [])
        if held and held[-1].generation > update.generation:
            return False
        if update.removed:
            documents.pop(update.path, None)
            self._notes.remove(vault, update.path)
            return True
        others = [each for each in held if each.generation != update.generation]
        documents[update.path] = [*(others if update.passages else []), update]
        self._notes.put(_note(vault, update), update.note.text)
        return True

    def touch(self, vault: VaultRef, written: Mapping[VaultPath, Rewritten]) -> None:
        for path, note in self._notes.notes(vault, list(written)).items():
            if note.generation == written[path].generation:
                moments = written[path]
                touched = replace(note, created=moments.created, modified=moments.modified)
                self._notes.put(touched, self._notes.text(vault, path))

    def lose(self, vault: VaultRef) -> None:
        """Lose what was indexed of a vault."""
        self._documents.pop(vault, None)

    def remove_older(self, vault: VaultRef, current: Mapping[VaultPath, Generation]) -> None:
        documents = self._documents.get(vault, {})
        for path, generation in current.items():
            if path in documents:
                documents[path] = [
                    each
                    for each in documents[path]
                    if each.generation >= generation or each is documents[path][-1]
                ]

    def search(
        self,
        vaults: Sequence[VaultRef],
        terms: Sequence[Sequence[str]],
        *,
        limit: int,
        prefix: str = "",
        within: Within | None = None,
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
            if score > 0
            and _below(document.path, prefix)
            and (within is None or document.path in within.get(vault, ()))
        ]
        return sorted(found, key=lambda candidate: -candidate.score)[:limit]

    def passages(self, vault: VaultRef, path: VaultPath, generation: Generation) -> list[Passage]:
        for held in self._documents.get(vault, {}).get(path, []):
            if held.generation == generation:
                return [indexed.passage for indexed in held.passages]
        return []

    def holds(self, vault: VaultRef, path: VaultPath, generation: Generation) -> int | None:
        held = self._documents.get(vault, {}).get(path, [])
        newest = held and held[-1].generation == generation
        return len(held[-1].passages) if newest else None

    def generations(self, vault: VaultRef) -> Iterator[tuple[VaultPath, Generation]]:
        for path, held in list(self._documents.get(vault, {}).items()):
            for each in held:
                yield path, each.generation

    def remove_former(self, vault: VaultRef) -> None:
        pass

    def drop(self, vault: VaultRef) -> None:
        for path in self._documents.pop(vault, {}):
            self._notes.remove(vault, path)

    def _corpus(self, vaults: Sequence[VaultRef]) -> list[_Posting]:
        return [
            (vault, document, indexed)
            for vault in vaults
            for held in self._documents.get(vault, {}).values()
            for document in held
            for indexed in document.passages
        ]


def _note(vault: VaultRef, update: DocumentUpdate) -> Note:
    return Note(
        vault=vault,
        path=update.path,
        generation=update.generation,
        size=update.note.size,
        created=update.note.created,
        modified=update.note.modified,
        title=update.note.title,
        tags=tuple(update.note.tags),
    )


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
