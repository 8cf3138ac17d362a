"""Reading one document: which are read at all, what its passages are, and what became of it."""

import hashlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from archivolt.domain.errors import TooLargeError, UnavailableError, UnsupportedContentError
from archivolt.domain.ingestion import IndexState, Passage
from archivolt.domain.limits import MAX_DOCUMENT_TITLE_CHARS, MAX_SCANNED_CHARS
from archivolt.domain.note_links import NoteLink, links_in
from archivolt.domain.paths import VaultPath, name_of
from archivolt.domain.redaction import mask_text, redact, redact_lines
from archivolt.domain.unaccented import composed
from archivolt.domain.vault import FileInfo
from archivolt.ingestion.tags import tags_of
from archivolt.observability import failure, logger
from archivolt.ports.ingestion import Extraction, Extractor
from archivolt.ports.retrieval import IndexedNote, IndexedPassage
from archivolt.retrieval.analysis import terms

Splitter = Callable[[str], Sequence[Passage]]

# In other documents, what looks like a link of a note is none.
_NOTES: Final = (".md", ".markdown", ".mdown", ".mkd", ".mdx")


@dataclass(frozen=True, slots=True, kw_only=True)
class Reading:
    """What a document holds: `state` says how far it can be indexed, `reason` why no further.

    `text` is the whole of it as `IndexedNote` has it, and `links` stand in it.
    """

    state: IndexState
    reason: str = ""
    title: str = ""
    tags: tuple[str, ...] = ()
    passages: Sequence[Passage] = ()
    text: str | None = None
    links: Sequence[NoteLink] = ()


class DocumentReader:
    """Turns the bytes of a document into passages.

    Args:
        extractor: Gets the text out.
        split: Cuts the text into passages within the embedding model's budget.
        recipe: Names the two and the text analysis; another one makes other passages.

    """

    def __init__(self, extractor: Extractor, split: Splitter, *, recipe: str) -> None:
        self._extractor = extractor
        self._split = split
        self.recipe = recipe

    def read(self, path: VaultPath, data: bytes) -> Reading:
        """Return the passages of a document, or the state that says why there are none.

        A document on which reading fails is remembered as failed: the same bytes fail again.

        Raises:
            UnavailableError: The extractor is down; the document is not to blame.

        """
        try:
            return self._read(path, data)
        except UnavailableError:
            raise
        except UnsupportedContentError as error:
            unsupported = error.code == "unsupported_format"
            state = IndexState.UNSUPPORTED if unsupported else IndexState.FAILED
            return Reading(state=state, reason=error.code)
        except TooLargeError as error:
            return Reading(state=IndexState.TOO_BIG, reason=error.code)
        except Exception as error:  # noqa: BLE001  a hostile document finds every hole
            logger.error("a document could not be read", extra=failure(error))
            return Reading(state=IndexState.FAILED, reason="document_broken")

    def _read(self, path: VaultPath, data: bytes) -> Reading:
        extraction = self._extractor.extract(data, name=name_of(path))
        title = redact(extraction.title).text[:MAX_DOCUMENT_TITLE_CHARS]
        # Before it is cut: what tells a secret may be in the passage before it.
        markdown = redact_lines(extraction.markdown)
        passages = self._split(markdown)
        state, reason = _outcome(passages, extraction)
        clean = markdown == extraction.markdown == extraction.text
        text = whole_text(extraction, clean=clean)
        return Reading(
            state=state,
            reason=reason,
            title=title,
            tags=tags_of(markdown),
            passages=passages,
            text=text,
            links=links_of(path, text),
        )


def links_of(path: VaultPath, text: str) -> Sequence[NoteLink]:
    """Return the links that stand in the whole text of a document, if it is a note."""
    return links_in(text) if path.lower().endswith(_NOTES) else ()


def _outcome(passages: Sequence[Passage], extraction: Extraction) -> tuple[IndexState, str]:
    if passages:
        return IndexState.PENDING, "pages_unread" if extraction.unread_pages else ""
    if extraction.unread_pages:
        return IndexState.OCR_NEEDED, "ocr_needed"
    return IndexState.NO_TEXT, "document_without_text"


def whole_text(extraction: Extraction, *, clean: bool = False) -> str:
    """Return the text of a document as searches for lines see it.

    It is the file's own where the file is text, so that lines are the file's. Secrets are masked
    here, or a search could guess them letter by letter; there is none in a `clean` one.
    """
    text = extraction.markdown if extraction.text is None else extraction.text
    text = text[:MAX_SCANNED_CHARS].replace("\r\n", "\n")
    return composed(text if clean else mask_text(text))


def began_to_be(info: FileInfo) -> datetime:
    """Return when a document began to be, as its file says, which is all that a rebuild knows."""
    return info.created or info.modified


def indexed_note(reading: Reading, info: FileInfo) -> IndexedNote:
    """Return what is kept of a document besides its passages."""
    return IndexedNote(
        size=info.size,
        created=began_to_be(info),
        modified=info.modified,
        title=reading.title,
        tags=reading.tags,
        links=reading.links,
        text=reading.text,
    )


def indexed_passages(path: VaultPath, reading: Reading) -> list[IndexedPassage]:
    """Return the passages with their terms: a passage is found by its titles and file name too."""
    name = terms(f"{name_of(path).rpartition('.')[0] or path}\n\n{reading.title}")
    return [
        IndexedPassage(
            passage=passage,
            terms=_with(name, terms("\n\n".join([*passage.headings, passage.text]))),
        )
        for passage in reading.passages
    ]


def _with(name: Mapping[str, int], found: Mapping[str, int]) -> Mapping[str, int]:
    """Return terms with those of the name, each as often as where it occurs more often."""
    return {**name, **found} | {
        term: max(times, found[term]) for term, times in name.items() if term in found
    }


def embedded_text(passage: Passage) -> str:
    """Return what is embedded of a passage: its text under its titles.

    It depends on the document's content alone, so that equal content has equal vectors.
    """
    return "\n".join([*passage.headings, passage.text])


def digest_of(text: str) -> str:
    """Return the name under which the vector of a text is kept (160 bits, hex)."""
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:40]
