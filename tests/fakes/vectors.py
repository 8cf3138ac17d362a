"""Vectors in dictionaries, one collection per user, and an embedder that needs no model."""

import hashlib
import math
import re
from collections.abc import Mapping, Sequence

from archivolt.domain.identity import TenantId, UserId
from archivolt.domain.ingestion import Generation, Passage
from archivolt.domain.paths import VaultPath
from archivolt.domain.vault import VaultRef
from archivolt.ports.retrieval import Candidate, EmbeddedDocument, Vector, Within

_Point = tuple[VaultRef, VaultPath, Generation, int]


class InMemoryVectors:
    """A `VectorStore` that lives as long as the test; what is removed leaves `former` too."""

    def __init__(self, former: "InMemoryVectors | None" = None) -> None:
        self._former = former
        self._collections: dict[tuple[TenantId, UserId], dict[_Point, tuple[Passage, Vector]]] = {}

    def upsert(self, users: Sequence[UserId], vault: VaultRef, document: EmbeddedDocument) -> None:
        for user in users:
            points = self._collections.setdefault((vault.tenant, user), {})
            for passage, vector in zip(document.passages, document.vectors, strict=True):
                point = (vault, document.path, document.generation, passage.number)
                points[point] = (passage, vector)

    def remove_older(
        self,
        users: Sequence[UserId],
        vault: VaultRef,
        path: VaultPath,
        *,
        than: Generation,
    ) -> None:
        for user in users:
            points = self._collections.get((vault.tenant, user), {})
            for point in list(points):
                if point[:2] == (vault, path) and point[2] < than:
                    del points[point]
        if self._former:
            self._former._remove_up_to(users, vault, path, than)

    def _remove_up_to(
        self, users: Sequence[UserId], vault: VaultRef, path: VaultPath, than: Generation
    ) -> None:
        for user in users:
            points = self._collections.get((vault.tenant, user), {})
            for point in [p for p in points if p[:2] == (vault, path) and p[2] <= than]:
                del points[point]

    def remove_vault(self, user: UserId, vault: VaultRef) -> None:
        points = self._collections.get((vault.tenant, user), {})
        for point in list(points):
            if point[0] == vault:
                del points[point]
        if self._former:
            self._former.remove_vault(user, vault)

    def search(
        self,
        tenant: TenantId,
        user: UserId,
        vaults: Sequence[VaultRef],
        vector: Vector,
        *,
        limit: int,
        prefix: str = "",
        within: Within | None = None,
    ) -> list[Candidate]:
        found = [
            Candidate(
                vault=vault,
                path=path,
                generation=generation,
                passage=passage,
                score=sum(a * b for a, b in zip(vector, stored, strict=True)),
            )
            for (vault, path, generation, _), (passage, stored) in self._points(tenant, user)
            if vault in vaults
            and (not prefix or path == prefix or path.startswith(f"{prefix}/"))
            and (within is None or path in within.get(vault, ()))
        ]
        return sorted(found, key=lambda candidate: -candidate.score)[:limit]

    def lacks(
        self, tenant: TenantId, user: UserId, passages: Sequence[Candidate]
    ) -> list[Candidate]:
        points = self._collections.get((tenant, user), {})
        return [
            each
            for each in passages
            if (each.vault, each.path, each.generation, each.passage.number) not in points
        ]

    def lose(self, tenant: TenantId, user: UserId) -> None:
        """Lose a user's collection."""
        self._collections.pop((tenant, user), None)

    def held(self, tenant: TenantId, user: UserId) -> list[_Point]:
        """Return the points of one user's collection, sorted."""
        return sorted((point for point, _ in self._points(tenant, user)), key=lambda p: p[1:])

    def _points(
        self, tenant: TenantId, user: UserId
    ) -> Sequence[tuple[_Point, tuple[Passage, Vector]]]:
        return list(self._collections.get((tenant, user), {}).items())


class WordHashEmbedder:
    """An `Embedder` that puts each word in one of its dimensions; `meanings` unites words."""

    def __init__(
        self, meanings: Mapping[str, str] | None = None, *, model: str = "word-hash/1"
    ) -> None:
        self._meanings: dict[str, str] = dict(meanings or {})
        self.model = model
        self.dimension = 256
        self.threshold = 0.3
        self.embedded: list[str] = []

    def embed_passages(self, texts: Sequence[str]) -> list[list[float]]:
        self.embedded.extend(texts)
        return [self._vector(text) for text in texts]

    def embed_query(self, text: str) -> list[float]:
        return self._vector(text)

    def _vector(self, text: str) -> list[float]:
        vector = [0.0] * self.dimension
        words: list[str] = re.findall(r"\w+", text.lower())
        for word in words:
            digest = hashlib.sha256(self._meanings.get(word, word).encode()).digest()
            vector[digest[0]] += 1.0
        length = math.sqrt(sum(value * value for value in vector)) or 1.0
        return [value / length for value in vector]
