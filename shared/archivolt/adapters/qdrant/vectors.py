"""The vectors of passages in Qdrant: one collection per user, filtered by vault (R9, R10).

A collection is named after the verified user and after the model: another model, or dimension, is
another collection, so vectors of two models never meet. The reconciliation has every document
embedded for the new one. A document that is there leaves the collection of the former model, if
that model is named; else the old collection stays until somebody removes it. What isolates
(`space_id`) and what places a point (`path`, `generation`) is written into its payload last, over
whatever it carries.
"""

import hashlib
import uuid
from collections.abc import Iterator, Sequence
from typing import Any, Final

from archivolt.adapters.qdrant.rest import NoCollectionError, QdrantRest
from archivolt.domain.identity import TenantId, UserId
from archivolt.domain.ingestion import Generation, Passage, generation_instant
from archivolt.domain.paths import VaultPath
from archivolt.domain.vault import VaultId, VaultRef
from archivolt.ports.retrieval import Candidate, EmbeddedDocument, Vector, Within

_BATCH: Final = 100
# The embedded engine takes 40 ms for so many and 350 ms for four times as many.
_PATHS_AT_ONCE: Final = 5_000
_DECIMALS: Final = 6
_POINTS: Final = uuid.UUID("8f0e3f5c-0b5e-5d0c-9a3e-6d6f3a0f6a41")
_INDEXES: Final = {
    "space_id": "keyword",
    "path": "keyword",
    "below": "keyword",
    "instant": "integer",
}

Json = dict[str, Any]


class QdrantVectors:
    """A `VectorStore` on a Qdrant server, for the vectors of one model.

    What is removed is removed from the collections of the `former` one too, and what is there of
    a document with it: whoever removes older generations has written the present one.
    """

    def __init__(
        self,
        server: QdrantRest,
        *,
        model: str,
        dimension: int,
        former: "QdrantVectors | None" = None,
    ) -> None:
        self._server = server
        self._dimension = dimension
        self._suffix = _digest(f"{model}/{dimension}")[:8]
        self._former = former

    def upsert(self, users: Sequence[UserId], vault: VaultRef, document: EmbeddedDocument) -> None:
        """Add the passages of one generation to each user's collection."""
        pairs = list(zip(document.passages, document.vectors, strict=True))
        for start in range(0, len(pairs), _BATCH):
            points = [
                _point(vault, document, passage, vector)
                for passage, vector in pairs[start : start + _BATCH]
            ]
            for user in users:
                self._put(self.collection(vault.tenant, user), points)

    def remove_older(
        self, users: Sequence[UserId], vault: VaultRef, path: VaultPath, *, than: Generation
    ) -> None:
        """Delete the points of a document that are older than a generation."""
        instant = generation_instant(than)
        for user in users:
            self._delete(
                self.collection(vault.tenant, user), _of_document(vault, path, {"lt": instant})
            )
            if self._former:
                self._delete(
                    self._former.collection(vault.tenant, user),
                    _of_document(vault, path, {"lte": instant}),
                )

    def remove_vault(self, user: UserId, vault: VaultRef) -> None:
        """Delete every point of a vault from one user's collection."""
        self._delete(self.collection(vault.tenant, user), _in_vaults([vault]))
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
        """Return the nearest passages in these vaults, best first."""
        allowed = [vault for vault in vaults if vault.tenant == tenant]
        below = [{"key": "below", "match": {"value": prefix}}] if prefix else []
        found = [
            each
            for conditions in _places(allowed, within)
            for each in self._nearest(tenant, user, vector, [*conditions, *below], limit)
        ]
        by_id = {vault.id: vault for vault in allowed}
        found.sort(key=lambda point: -point["score"])
        return [
            _candidate(by_id[VaultId(point["payload"]["space_id"])], point)
            for point in found[:limit]
        ]

    def _nearest(
        self, tenant: TenantId, user: UserId, vector: Vector, conditions: list[Json], limit: int
    ) -> list[Json]:
        body = {
            "query": list(vector),
            "filter": {"must": conditions},
            "limit": limit,
            "with_payload": True,
        }
        path = f"/collections/{self.collection(tenant, user)}/points/query"
        try:
            return self._server.search(path, body)["points"]
        except NoCollectionError:
            return []

    def lacks(
        self, tenant: TenantId, user: UserId, passages: Sequence[Candidate]
    ) -> list[Candidate]:
        """Return those of these passages that a user's collection does not hold."""
        ids = [
            _point_id(each.vault, each.path, each.generation, each.passage.number)
            for each in passages
        ]
        asked = {"ids": ids, "with_payload": False, "with_vector": False}
        path = f"/collections/{self.collection(tenant, user)}/points"
        try:
            held = {point["id"] for point in self._server.search(path, asked)}
        except NoCollectionError:
            return list(passages)
        return [each for each, point in zip(passages, ids, strict=True) if point not in held]

    def collection(self, tenant: TenantId, user: UserId) -> str:
        """Return the name of a user's collection; it tells neither tenant nor user."""
        return f"{prefix_of(tenant, user)}{self._suffix}"

    def _put(self, collection: str, points: list[Json]) -> None:
        def put() -> object:
            path = f"/collections/{collection}/points?wait=true"
            return self._server.call("PUT", path, {"points": points})

        try:
            put()
        except NoCollectionError:
            self._server.create(collection, dimension=self._dimension, indexes=_INDEXES)
            put()

    def _delete(self, collection: str, conditions: list[Json]) -> None:
        path = f"/collections/{collection}/points/delete?wait=true"
        try:
            self._server.call("POST", path, {"filter": {"must": conditions}})
        except NoCollectionError:
            return


def prefix_of(tenant: TenantId, user: UserId) -> str:
    """Return what the names of a user's collections begin with, whatever their model."""
    return f"user_{_digest(f'{tenant}/{user}')[:32]}_"


def _in_vaults(vaults: Sequence[VaultRef]) -> list[Json]:
    return [{"key": "space_id", "match": {"any": [vault.id for vault in vaults]}}]


def _places(vaults: Sequence[VaultRef], within: Within | None) -> Iterator[list[Json]]:
    """Yield what to ask for, one question each: all of these vaults, or some paths of one."""
    if within is None:
        if vaults:
            yield _in_vaults(vaults)
        return
    for vault in vaults:
        paths = sorted(within.get(vault, ()))
        for start in range(0, len(paths), _PATHS_AT_ONCE):
            part = paths[start : start + _PATHS_AT_ONCE]
            yield [*_in_vaults([vault]), {"key": "path", "match": {"any": part}}]


def _of_document(vault: VaultRef, path: VaultPath, instants: Json) -> list[Json]:
    return [
        *_in_vaults([vault]),
        {"key": "path", "match": {"value": path}},
        {"key": "instant", "range": instants},
    ]


def _point(vault: VaultRef, document: EmbeddedDocument, passage: Passage, vector: Vector) -> Json:
    payload: Json = {
        "number": passage.number,
        "text": passage.text,
        "headings": list(passage.headings),
        "page": passage.page,
        "line": passage.line,
    }
    payload |= {
        "space_id": vault.id,
        "path": document.path,
        "below": _below(document.path),
        "generation": document.generation,
        "instant": generation_instant(document.generation),
    }
    return {
        "id": _point_id(vault, document.path, document.generation, passage.number),
        "vector": [round(value, _DECIMALS) for value in vector],
        "payload": payload,
    }


def _point_id(vault: VaultRef, path: VaultPath, generation: Generation, number: int) -> str:
    place = f"{vault.tenant}/{vault.id}/{path}\n{generation}/{number}"
    return str(uuid.uuid5(_POINTS, place))


def _below(path: VaultPath) -> list[str]:
    """Return a path and every directory above it: what a search may be narrowed to."""
    names = path.split("/")
    return ["/".join(names[: count + 1]) for count in range(len(names))]


def _candidate(vault: VaultRef, point: Json) -> Candidate:
    payload = point["payload"]
    return Candidate(
        vault=vault,
        path=VaultPath(payload["path"]),
        generation=Generation(payload["generation"]),
        passage=Passage(
            number=payload["number"],
            text=payload["text"],
            headings=tuple(payload["headings"]),
            page=payload["page"],
            line=payload["line"],
        ),
        score=point["score"],
    )


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()
