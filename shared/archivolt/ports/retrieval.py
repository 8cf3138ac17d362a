"""What finds passages: the lexical index, the vector store, the embedder."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Final, Protocol

from archivolt.domain.identity import TenantId, UserId
from archivolt.domain.ingestion import Generation, Passage
from archivolt.domain.note_links import NoteLink
from archivolt.domain.paths import VaultPath
from archivolt.domain.vault import ETag, VaultRef

Vector = Sequence[float]

Within = Mapping[VaultRef, Collection[VaultPath]]
"""The only documents of each vault that may be found; a vault that is absent has none."""

_EPOCH: Final = datetime.fromtimestamp(0, UTC)


@dataclass(frozen=True, slots=True, kw_only=True)
class IndexedPassage:
    """A passage with the terms it is found by (from `archivolt.retrieval.analysis`)."""

    passage: Passage
    terms: Mapping[str, int]


@dataclass(frozen=True, slots=True, kw_only=True)
class IndexedNote:
    r"""What is kept of a document besides its passages, for `NoteIndex`.

    `text` is all of it, in NFC and with `\n` line breaks, its secrets masked; None if it has none.
    `links` stand in that text.
    """

    size: int = 0
    created: datetime = _EPOCH
    modified: datetime = _EPOCH
    title: str = ""
    tags: Sequence[str] = ()
    links: Sequence[NoteLink] = ()
    text: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class DocumentUpdate:
    """The new content of one document in the index; `removed`: it has none any more."""

    path: VaultPath
    generation: Generation
    passages: Sequence[IndexedPassage] = ()
    note: IndexedNote = IndexedNote()
    removed: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class EmbeddedDocument:
    """One generation of a document with a vector per passage."""

    path: VaultPath
    generation: Generation
    passages: Sequence[Passage]
    vectors: Sequence[Vector]


@dataclass(frozen=True, slots=True, kw_only=True)
class Candidate:
    """A passage some list proposes, before it is checked against the catalogue.

    `score` is the list's own: BM25, or a cosine.
    """

    vault: VaultRef
    path: VaultPath
    generation: Generation
    passage: Passage
    score: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Rewritten:
    """What a note says of time after its generation was written again: see `IndexedNote`."""

    generation: Generation
    created: datetime
    modified: datetime


class TextIndex(Protocol):
    """The lexical index of each vault (R19's half without vectors). May raise UnavailableError.

    It is also where the notes of `NoteIndex` are written.
    """

    def apply(self, vault: VaultRef, updates: Sequence[DocumentUpdate]) -> Collection[VaultPath]:
        """Put in the content of each document; safe to repeat and to run side by side.

        The note replaces the one held. Passages stand beside those of older generations, which
        stay until `remove_older`, so that whichever the catalogue names is found; an update
        without passages takes the older ones out at once.

        An update of an older generation (by string order) than the one held changes nothing, so
        that a writer which was overtaken cannot undo a newer one. Returns the documents of those.
        """
        ...

    def touch(self, vault: VaultRef, written: Mapping[VaultPath, Rewritten]) -> None:
        """Say when documents were written again as they were; of other generations nothing."""
        ...

    def remove_older(self, vault: VaultRef, current: Mapping[VaultPath, Generation]) -> None:
        """Take out the passages of documents that are older than these generations."""
        ...

    def search(
        self,
        vaults: Sequence[VaultRef],
        terms: Sequence[Sequence[str]],
        *,
        limit: int,
        prefix: str = "",
        within: Within | None = None,
    ) -> list[Candidate]:
        """Return the passages best by BM25 over these vaults, best first.

        `terms`: one group per query word, its alternatives counted as one term; `prefix`: only
        documents at or below that path; `within`: only those documents.
        """
        ...

    def passages(self, vault: VaultRef, path: VaultPath, generation: Generation) -> list[Passage]:
        """Return the passages of one generation of a document, in order; empty if not held."""
        ...

    def holds(self, vault: VaultRef, path: VaultPath, generation: Generation) -> int | None:
        """Return how many passages of a generation are held; None if it is not the newest held."""
        ...

    def generations(self, vault: VaultRef) -> Iterator[tuple[VaultPath, Generation]]:
        """Yield every document held with each of its generations, in any order and bounded memory.

        There is more than one where `remove_older` is still to come.
        """
        ...

    def remove_former(self, vault: VaultRef) -> None:
        """Remove what is kept in a form of earlier, which is not read any more."""
        ...

    def drop(self, vault: VaultRef) -> None:
        """Forget a vault."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Shard:
    """One file of a lexical index as it was read: `etag` names its content, `version` its place."""

    data: bytes
    etag: ETag
    version: str = ""


class ShardStore(Protocol):
    """Keeps the files a lexical index is made of; each is replaced whole.

    Every method may raise `UnavailableError`. Every implementation passes `tests/contract`.
    """

    def etags(self, vault: VaultRef) -> Mapping[str, ETag]:
        """Return the ETag of every file of a vault by its name, in one look."""
        ...

    def get(self, vault: VaultRef, name: str) -> Shard | None:
        """Return a file's present content, or None."""
        ...

    def put(self, vault: VaultRef, name: str, data: bytes, *, replacing: Shard | None) -> None:
        """Write a file in place of the one that was read (None: where there was none).

        Raises:
            ConflictError: `conflict`: another one is there by now; nothing was written.

        """
        ...

    def remove(self, vault: VaultRef, name: str) -> None:
        """Remove a file; repeating is no error."""
        ...

    def drop(self, vault: VaultRef) -> None:
        """Remove every file of a vault; repeating is no error."""
        ...


class VectorStore(Protocol):
    """One collection per user, filtered by vault (R9, R10). May raise UnavailableError."""

    def upsert(
        self,
        users: Sequence[UserId],
        vault: VaultRef,
        document: EmbeddedDocument,
    ) -> None:
        """Add the passages of one generation to each user's collection; safe to repeat."""
        ...

    def remove_older(
        self,
        users: Sequence[UserId],
        vault: VaultRef,
        path: VaultPath,
        *,
        than: Generation,
    ) -> None:
        """Delete the points of a document that are older than a generation.

        Newer ones stay, so that a worker which was overtaken cannot delete what is current.
        """
        ...

    def remove_vault(self, user: UserId, vault: VaultRef) -> None:
        """Delete every point of a vault from one user's collection (unsharing)."""
        ...

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
        """Return the nearest passages in these vaults, by cosine, best first.

        `prefix` and `within` as for `TextIndex.search`. An empty `vaults` gives no candidates: a
        missing filter never means a wide search.
        """
        ...

    def lacks(
        self, tenant: TenantId, user: UserId, passages: Sequence[Candidate]
    ) -> list[Candidate]:
        """Return those of these passages that a user's collection does not hold."""
        ...


class Reranker(Protocol):
    """Reads passages with a question. May raise UnavailableError."""

    def rerank(self, question: str, texts: Sequence[str]) -> Sequence[float | None]:
        """Return how well each text answers, higher is better; None: it was left out."""
        ...


class Embedder(Protocol):
    """Turns text into vectors of unit length. May raise UnavailableError."""

    @property
    def model(self) -> str:
        """The model's id with its transform version; vectors of two ids are never compared."""
        ...

    @property
    def dimension(self) -> int:
        """The length of every vector."""
        ...

    @property
    def threshold(self) -> float:
        """The cosine that corresponds to bge-m3's 0.65 (decision 29)."""
        ...

    def embed_passages(self, texts: Sequence[str]) -> Sequence[Vector]:
        """Return one vector per text."""
        ...

    def embed_query(self, text: str) -> Vector:
        """Return the vector of a question."""
        ...
