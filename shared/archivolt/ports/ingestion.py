"""What ingestion needs besides files, catalogue and indexes."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
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
            image: A PNG, JPEG, TIFF, WebP or PGM file.
            dpi: Its points per inch, where they are known and the file does not say.

        Raises:
            UnsupportedContentError: `document_broken` or `document_too_slow`.

        """
        ...


class EmbeddingQueue(Protocol):
    """Where embedding jobs wait; fresh changes and first loads wait apart."""

    def send(self, jobs: Sequence[EmbeddingJob]) -> None:
        """Queue the jobs, at least once each.

        Raises:
            UnavailableError: Some may not have been queued.

        """
        ...


class VectorCache(Protocol):
    """Vectors by content, so that equal text is embedded once per vault (decision 18)."""

    def load(self, vault: VaultRef, sha256: str, fingerprint: str) -> list[Vector]:
        """Return the vectors of a content, in order; empty if there are none."""
        ...

    def store(
        self, vault: VaultRef, sha256: str, fingerprint: str, vectors: Sequence[Vector]
    ) -> None:
        """Remember the vectors of a content under what made them; the first of them suffice."""
        ...

    def forget(self, vault: VaultRef, sha256: str) -> None:
        """Forget a content under every fingerprint."""
        ...

    def contents(self, vault: VaultRef) -> Iterator[str]:
        """Yield the hash of every content that has vectors."""
        ...
