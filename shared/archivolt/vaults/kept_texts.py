"""The text of documents as it was read when they were indexed: nothing is extracted here (O12)."""

from collections.abc import Callable
from typing import NamedTuple

from archivolt.domain.errors import UnsupportedContentError
from archivolt.domain.ingestion import CatalogueEntry, IndexState
from archivolt.domain.vault import FileInfo, VaultAccess
from archivolt.ports.catalogue import Catalogue
from archivolt.ports.notes import NoteIndex


class KeptText(NamedTuple):
    """The text of a document, secrets masked; not whole where some of its pages were not read.

    Pages start with `<!-- page N -->` lines where the format has them.
    """

    text: str
    is_whole: bool


class KeptTexts:
    """Finds what the index keeps of documents.

    Args:
        catalogue: Knows the state of each.
        notes: Gives their texts; made when the first is asked for.

    """

    def __init__(self, catalogue: Catalogue, notes: Callable[[], NoteIndex]) -> None:
        self._catalogue = catalogue
        self._notes = notes

    def read(self, access: VaultAccess, info: FileInfo) -> KeptText:
        """Return the text of a file as it is now.

        Raises:
            UnsupportedContentError: There is none, and why: `document_not_read_yet`, the reason
                that the catalogue has, or `file_not_text` where it has none.
            UnavailableError: The catalogue or the index is down.

        """
        entry = self._catalogue.get(access.vault.ref, info.path)
        if entry is None or entry.state is IndexState.DELETED or entry.etag != info.etag:
            raise UnsupportedContentError("document_not_read_yet")
        if entry.state not in {IndexState.PENDING, IndexState.INDEXED}:
            raise UnsupportedContentError(entry.reason or "file_not_text", path=info.path)
        return KeptText(self._text_of(entry), is_whole=entry.reason != "pages_unread")

    def _text_of(self, entry: CatalogueEntry) -> str:
        text = self._notes().text(entry.vault, entry.path)
        if text is None:
            raise UnsupportedContentError("document_not_read_yet")
        return text
