"""Has an Apache Tika server read documents (its REST interface, `PUT /tika`)."""

import re
from typing import Final
from urllib.parse import quote

import httpx2

from archivolt.adapters.extraction.html_markdown import html_to_markdown
from archivolt.adapters.extraction.markdown_text import joined, page_mark
from archivolt.adapters.http.outbound import AnswerCapError
from archivolt.domain.errors import (
    ArchivoltError,
    TooLargeError,
    UnavailableError,
    UnsupportedContentError,
)
from archivolt.domain.limits import MAX_EXTRACTED_CHARS, MAX_EXTRACTION_SECONDS
from archivolt.ports.ingestion import Extraction

_CONNECT_SECONDS: Final = 5.0
_OK: Final = 200
_NO_CONTENT: Final = 204
# What the server answers about a document, and not about itself.
_REFUSALS: Final = {
    400: "document_broken",
    415: "unsupported_format",
    422: "document_broken",
    500: "document_broken",
}
_ENCRYPTED: Final = "EncryptedDocumentException"
# How it marks pages of a PDF and slides of a presentation.
_PAGE: Final = re.compile(r'<div class="(?:page|slide-content)">')


class TikaExtractor:
    """An `Extractor` of whatever a Tika server reads.

    Args:
        client: Sends the requests; only to addresses that the deployment allows.
        url: Where the server is.

    """

    def __init__(self, client: httpx2.Client, url: str) -> None:
        self._client = client
        self._url = f"{url.rstrip('/')}/tika"

    def extract(self, data: bytes, *, name: str) -> Extraction:
        """Return the text, its pages and slides marked.

        Raises:
            UnsupportedContentError: `unsupported_format`, `document_encrypted`, `document_broken`,
                or `document_too_slow`.
            TooLargeError: `document_too_much_text`.
            UnavailableError: `unavailable`: the server cannot be reached, or is too busy.

        """
        try:
            answer = self._client.put(
                self._url,
                content=data,
                headers=_headers(name),
                timeout=httpx2.Timeout(MAX_EXTRACTION_SECONDS, connect=_CONNECT_SECONDS),
            )
        except AnswerCapError as error:
            raise TooLargeError("document_too_much_text", limit=MAX_EXTRACTED_CHARS) from error
        except httpx2.ReadTimeout as error:
            raise UnsupportedContentError("document_too_slow") from error
        except httpx2.HTTPError as error:
            raise UnavailableError("unavailable") from error
        if answer.status_code == _NO_CONTENT:
            return Extraction(markdown="")
        if answer.status_code != _OK:
            raise _refusal(answer)
        return _extraction(answer.content.decode("utf-8", "replace"))


def _headers(name: str) -> dict[str, str]:
    return {
        "accept": "text/html",
        # The server looks at the bytes, and at the name where they leave a choice.
        "content-type": "application/octet-stream",
        "content-disposition": f"attachment; filename*=UTF-8''{quote(name, safe='')}",
        "x-tika-timeout-millis": str((MAX_EXTRACTION_SECONDS - 10) * 1_000),
    }


def _refusal(answer: httpx2.Response) -> ArchivoltError:
    if _ENCRYPTED in answer.text:
        return UnsupportedContentError("document_encrypted")
    code = _REFUSALS.get(answer.status_code)
    return UnsupportedContentError(code) if code else UnavailableError("unavailable")


def _extraction(page: str) -> Extraction:
    head, *pages = _PAGE.split(page)
    before, title = html_to_markdown(head)
    if not pages:
        return Extraction(markdown=before, title=title)
    marked = [
        joined([page_mark(number), html_to_markdown(text)[0]])
        for number, text in enumerate(pages, start=1)
    ]
    return Extraction(markdown=joined([before, *marked]), title=title, pages=len(pages))
