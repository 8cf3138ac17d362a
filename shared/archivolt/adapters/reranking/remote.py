"""A reranking model behind an address. It is asked once: a person waits, and there is an order."""

import json
from collections.abc import Sequence
from typing import Any, Final

import httpx2

from archivolt.adapters.http.silence import broken_line, silence
from archivolt.adapters.reranking.protocols import RerankProtocol
from archivolt.domain.errors import ArchivoltError, UnavailableError
from archivolt.domain.redaction import redact
from archivolt.observability import logger

_OK: Final = 200
_TIMEOUT: Final = httpx2.Timeout(5.0, connect=2.0)


class RemoteReranker:
    """A `Reranker` over HTTP.

    Args:
        client: A guarded client that may call the address.
        url: The address.
        protocol: How it is asked.
        key: Sent as a bearer token; may be empty.

    """

    def __init__(
        self, client: httpx2.Client, url: str, protocol: RerankProtocol, *, key: str
    ) -> None:
        self._client = client
        self._url = url
        self._protocol = protocol
        self._headers = {"content-type": "application/json"}
        if key:
            self._headers["authorization"] = f"Bearer {key}"

    def rerank(self, question: str, texts: Sequence[str]) -> list[float | None]:
        """Return how well each text answers, None for what the model leaves out."""
        # Passages come without secrets; a person may have pasted one.
        body = self._protocol.question(redact(question).text, texts)
        scores = self._protocol.scores(self._answer(body))
        if not all(0 <= number < len(texts) for number in scores):
            raise UnavailableError("unavailable")
        return [scores.get(number) for number in range(len(texts))]

    def _answer(self, body: object) -> object:
        content = json.dumps(body, ensure_ascii=False).encode("utf-8", "replace")
        try:
            answer = self._client.post(
                self._url, content=content, headers=self._headers, timeout=_TIMEOUT
            )
            if answer.status_code == _OK:
                parsed: Any = answer.json()
                return parsed
            refused = {"status": answer.status_code}
            logger.warning("a reranking provider refused a call", extra=refused)
        except (httpx2.HTTPError, httpx2.InvalidURL, ArchivoltError) as error:
            kind = {"error": type(error).__name__}
            logger.warning("a reranking provider gave no answer", extra=kind)
            if isinstance(error, httpx2.TimeoutException):
                raise UnavailableError("unavailable", reason=silence(error)) from error
            raise UnavailableError("unavailable", **broken_line(error)) from error
        except (ValueError, RecursionError) as error:
            raise UnavailableError("unavailable") from error
        raise UnavailableError("unavailable")
