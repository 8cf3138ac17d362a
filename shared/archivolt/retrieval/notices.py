"""What the reader of an answer should know of what it may lack."""

from collections import Counter
from collections.abc import Sequence

from archivolt.domain.ingestion import IndexState
from archivolt.domain.limits import MAX_ATTENTION_COUNT
from archivolt.domain.messages import Language, message_for
from archivolt.domain.search import SearchMode, SearchNotice
from archivolt.domain.vault import VaultRef
from archivolt.ports.catalogue import Catalogue


def notice(code: str, language: Language, **values: object) -> SearchNotice:
    """Return a notice in the reader's language."""
    return SearchNotice(code=code, message=message_for(code, language, values))


def index_notices(
    catalogue: Catalogue, vaults: Sequence[VaultRef], mode: SearchMode, language: Language
) -> list[SearchNotice]:
    """Return what is not, or not wholly, in the index of these vaults."""
    states = Counter[IndexState]()
    for vault in vaults:
        states.update(catalogue.attention(vault))
    notices: list[SearchNotice] = []
    if states[IndexState.PENDING] and mode is not SearchMode.LEXICAL:
        count = _count(states[IndexState.PENDING])
        notices.append(notice("documents_pending", language, count=count))
    if states[IndexState.NO_TEXT]:
        count = _count(states[IndexState.NO_TEXT])
        notices.append(notice("documents_without_text", language, count=count))
    if states[IndexState.OCR_NEEDED]:
        count = _count(states[IndexState.OCR_NEEDED])
        notices.append(notice("documents_need_ocr", language, count=count))
    if unread := states[IndexState.TOO_BIG] + states[IndexState.FAILED]:
        notices.append(notice("documents_unread", language, count=_count(unread)))
    return notices


def _count(number: int) -> str:
    """Return a number, or that there are more than are counted."""
    return str(number) if number < MAX_ATTENTION_COUNT else f"{MAX_ATTENTION_COUNT}+"
