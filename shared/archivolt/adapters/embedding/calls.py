"""One JSON question to an embedding provider and its answer, asked again where that makes sense.

The key is in a header and nowhere else; of an answer that is no success its status alone is told,
for providers repeat what they were sent.
"""

import json
import math
import time
from collections.abc import Callable, Iterable, Mapping
from email.utils import parsedate_to_datetime
from functools import partial
from typing import Any, Final

import httpx2

from archivolt.adapters.http.silence import broken_line, silence
from archivolt.domain.errors import ArchivoltError, UnavailableError
from archivolt.domain.tool import JsonObject
from archivolt.observability import logger

_OK: Final = 200
# Not valid, not paid for, or without the right to this model.
_KEY_REFUSED: Final = frozenset({401, 402, 403})
_TRANSIENT: Final = frozenset({408, 409, 425, 429, 500, 502, 503, 504, 520, 522, 524, 529})
_CONNECT_SECONDS: Final = 5.0


class Patience:
    """How often one task may wait for its provider, and how long altogether.

    With `connects_once`, a connection that is not made in time is not tried again.
    """

    def __init__(
        self,
        pauses: Iterable[float],
        *,
        seconds: float,
        answer_seconds: float,
        connects_once: bool = False,
    ) -> None:
        self._pauses = iter(pauses)
        self._left = seconds
        self.answer_seconds = answer_seconds
        self.connects_once = connects_once

    def next_pause(self, asked: float) -> float | None:
        """Return how long to wait, at least as long as was asked; None to give up."""
        wait = max(next(self._pauses, math.inf), asked)
        if wait > self._left:
            return None
        self._left -= wait
        return wait


class _PassingError(UnavailableError):
    """An attempt that failed for the moment; `asked` is how many seconds it asks to wait."""

    def __init__(self, asked: float, details: Mapping[str, str]) -> None:
        self.asked = asked
        super().__init__("unavailable", **details)


def _paid_already(attempt: Callable[[], object]) -> object:
    return attempt()


class EmbeddingCalls:
    """Calls to one address with one key (which may be empty).

    Args:
        client: A guarded client that may call the address.
        url: The address.
        key: Sent as a bearer token.
        pause: Waits for some seconds.

    """

    def __init__(
        self,
        client: httpx2.Client,
        url: str,
        key: str,
        *,
        pause: Callable[[float], None] = time.sleep,
    ) -> None:
        self._client = client
        self._url = url
        self._headers = {"content-type": "application/json"}
        if key:
            self._headers["authorization"] = f"Bearer {key}"
        self._pause = pause

    def ask(
        self,
        body: JsonObject,
        patience: Patience,
        pay: Callable[[Callable[[], object]], object] = _paid_already,
    ) -> object:
        """Return the answer's JSON; `pay` makes each attempt, once it is paid for.

        Raises:
            UnavailableError: `unavailable`: there is no such answer, after some attempts, or its
                time passed (see `silence`); `embedding_key_refused`; or as `pay`.

        """
        while True:
            try:
                return pay(partial(self._attempt, body, patience))
            except _PassingError as error:
                wait = patience.next_pause(error.asked)
                if wait is None:
                    raise UnavailableError("unavailable") from error
                self._pause(wait)
            except UnavailableError as error:
                lost = error.details.get("reason") == "provider_unreachable"
                again = patience.next_pause(0.0) if lost and not patience.connects_once else None
                if again is None:
                    raise
                self._pause(again)

    def _attempt(self, body: JsonObject, patience: Patience) -> object:
        answer = self._answer(body, patience)
        if answer.status_code == _OK:
            return _parsed(answer)
        logger.warning("an embedding provider refused a call", extra={"status": answer.status_code})
        if answer.status_code in _KEY_REFUSED:
            raise UnavailableError("embedding_key_refused")
        if answer.status_code in _TRANSIENT:
            raise _PassingError(asked_pause(answer), {})
        raise UnavailableError("unavailable")

    def _answer(self, body: JsonObject, patience: Patience) -> httpx2.Response:
        """Return the provider's answer, whatever it is."""
        # Half a surrogate pair has no encoding; JSON's own escapes carry it, and some refuse them.
        content = json.dumps(body, ensure_ascii=False).encode("utf-8", "replace")
        seconds = patience.answer_seconds
        timeout = httpx2.Timeout(seconds, connect=min(_CONNECT_SECONDS, seconds / 2))
        try:
            return self._client.post(
                self._url, content=content, headers=self._headers, timeout=timeout
            )
        except httpx2.TimeoutException as error:
            # What took all its time once would take more than there is.
            logger.error("an embedding provider cannot be used", extra=_kind(error))
            raise UnavailableError("unavailable", reason=silence(error)) from error
        except (httpx2.InvalidURL, ArchivoltError) as error:
            logger.error("an embedding provider cannot be used", extra=_kind(error))
            raise UnavailableError("unavailable") from error
        except httpx2.HTTPError as error:
            logger.warning("an embedding provider gave no answer", extra=_kind(error))
            raise _PassingError(0.0, broken_line(error)) from error


def _kind(error: Exception) -> dict[str, str]:
    return {"error": type(error).__name__}


def _parsed(answer: httpx2.Response) -> object:
    try:
        parsed: Any = answer.json()
    except (ValueError, RecursionError) as error:
        raise UnavailableError("unavailable") from error
    return parsed


def asked_pause(answer: httpx2.Response) -> float:
    """Return the seconds of `Retry-After`; a moment is counted from the answer's own date."""
    asked = answer.headers.get("retry-after", "").strip()
    if not asked:
        return 0.0
    if asked.isascii() and asked.isdecimal():
        return float(asked)
    try:
        until = parsedate_to_datetime(asked)
        since = parsedate_to_datetime(answer.headers.get("date", ""))
        return max(0.0, (until - since).total_seconds())
    except (ValueError, TypeError):
        return 0.0
