"""What ingestion needs besides files, catalogue and indexes."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Protocol

from archivolt.domain.ingestion import EmbeddingJob
from archivolt.domain.vault import VaultRef
from archivolt.ports.retrieval import Vector


@dataclass(frozen=True, slots=True, kw_only=True)
class Extraction:
    """The text of a document as Markdown.

    Pages, slides and sheets start with `<!-- page N -->` lines where the format has them. `title`
    may be empty. `unread_pages` are those that show text only as an image, and that were not read.
    `text` is the file's own text where the file is text; None where the Markdown is all there is.
    """

    markdown: str
    title: str = ""
    pages: int | None = None
    unread_pages: int = 0
    text: str | None = None


class Extractor(Protocol):
    """Gets the text out of one kind of document."""

    def extract(self, data: bytes, *, name: str) -> Extraction:
        """Return the text.

        Raises:
            UnsupportedContentError: `unsupported_format`, or why it cannot be read:
                `document_encrypted`, `document_broken`, `document_too_slow`.
            TooLargeError: `document_inflates` or `document_too_much_text`.
            UnavailableError: There is no room to read it in just now.

        """
        ...


class OcrEngine(Protocol):
    """Reads printed text in images, in French and English."""

    def read(self, image: bytes, *, dpi: int | None = None) -> list[str]:
        """Return the text of each page of an image, as Markdown; "" for a page that shows none.

        Args:
            image: A PNG, JPEG, TIFF, WebP, GIF, BMP or PGM file, of one page.
            dpi: Its points per inch, where they are known and the file does not say.

        Raises:
            UnsupportedContentError: `document_broken` or `document_too_slow`.

        """
        ...


class TokenCounter(Protocol):
    """Tells how many tokens the embedding model makes of a text: never too few."""

    @property
    def id(self) -> str:
        """What the count depends on; passages cut by another one are cut anew. "" is the bound."""
        ...

    def __call__(self, text: str) -> int:
        """Return the tokens of a text, those around it included."""
        ...


class EmbeddingQueue(Protocol):
    """Where embedding jobs wait; fresh changes and first loads wait apart."""

    def send(self, jobs: Sequence[EmbeddingJob]) -> None:
        """Queue the jobs, at least once each.

        Raises:
            UnavailableError: Some may not have been queued.

        """
        ...

    def send_later(self, jobs: Sequence[EmbeddingJob], *, after: timedelta) -> None:
        """Queue jobs that are worked off when some time, 15 minutes at most, has passed.

        Raises:
            UnavailableError: As `send`.

        """
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class KeptVector:
    """The vector of a text, and the content (its hash) with which it is kept."""

    vector: Vector
    sha256: str


class VectorCache(Protocol):
    """Vectors by the text they were made of: equal text is embedded once per vault (decision 43).

    A text is named by its digest, in hex. Vectors are kept as long as the content they were last
    stored for, and forgotten with it.
    """

    def load(self, vault: VaultRef, digests: Sequence[str], model: str) -> Mapping[str, KeptVector]:
        """Return the vectors of those of these texts that have one by this model."""
        ...

    def store(
        self, vault: VaultRef, sha256: str, model: str, vectors: Mapping[str, Vector]
    ) -> None:
        """Keep the vectors of texts with a content, beside those it has."""
        ...

    def forget(self, vault: VaultRef, sha256: str) -> None:
        """Forget what is kept with a content, by whatever model."""
        ...

    def contents(self, vault: VaultRef) -> Iterator[str]:
        """Yield the hash of every content that vectors are kept with."""
        ...


class VectorPlaces(Protocol):
    """Which pack of a vault's kept vectors has the one of a text. May raise UnavailableError."""

    def find(self, vault: VaultRef, model: str, digests: Sequence[str]) -> Mapping[str, str]:
        """Return the packs of those texts that have one."""
        ...

    def note(self, vault: VaultRef, model: str, digests: Sequence[str], pack: str) -> None:
        """Note the pack of these texts, in place of the one noted before."""
        ...

    def forget(self, vault: VaultRef, model: str, digests: Sequence[str]) -> None:
        """Forget the packs of these texts."""
        ...
