"""Calls of Qdrant's REST API, and what its answers mean to us; it knows no documents."""

from typing import Any, Final

import httpx2

from archivolt.adapters.http.silence import silence
from archivolt.adapters.http.timed import TimedTransport
from archivolt.domain.errors import UnavailableError
from archivolt.observability import logger

_OK: Final = 200
_NOT_FOUND: Final = 404
_CONFLICT: Final = 409

_CONNECT_SECONDS: Final = 2.0
# An upsert of one batch takes no longer; it comes again from the queue.
_READ_SECONDS: Final = 10.0
# A person waits for a search, and can have the half of it that is found by words.
_SEARCH_SECONDS: Final = 3.0


class NoCollectionError(Exception):
    """There is no such collection."""


class QdrantRest:
    """One Qdrant server; the time of a call is for the whole of its answer.

    Args:
        url: Its address.
        api_key: Its key; it is sent in a header and never logged.
        transport: Replaces the network, for tests.

    """

    def __init__(
        self, url: str, api_key: str, *, transport: httpx2.BaseTransport | None = None
    ) -> None:
        self._client = httpx2.Client(
            base_url=url,
            headers={"api-key": api_key} if api_key else {},
            timeout=httpx2.Timeout(_READ_SECONDS, connect=_CONNECT_SECONDS),
            trust_env=False,
            transport=transport or TimedTransport(),
        )

    def close(self) -> None:
        """Let the connections go."""
        self._client.close()

    def search(self, path: str, body: object) -> Any:  # noqa: ANN401  JSON
        """Return the result of a search, for which somebody waits; otherwise as `call`."""
        return self.call("POST", path, body, seconds=_SEARCH_SECONDS)

    def call(
        self, method: str, path: str, body: object = None, *, seconds: float = _READ_SECONDS
    ) -> Any:  # noqa: ANN401  JSON
        """Return the result of a call.

        Raises:
            NoCollectionError: The collection does not exist.
            UnavailableError: The server does not answer, or not as it should, or its time passed
                (see `silence`).

        """
        timeout = httpx2.Timeout(seconds, connect=_CONNECT_SECONDS)
        try:
            response = self._client.request(method, path, json=body, timeout=timeout)
            status = response.status_code
            answer: Any = response.json() if status == _OK else None
        except httpx2.TimeoutException as error:
            reason = silence(error)
            logger.warning("the vector store did not answer in time", extra={"reason": reason})
            raise UnavailableError("unavailable", reason=reason) from error
        except (httpx2.TransportError, ValueError) as error:
            raise UnavailableError("unavailable") from error
        if status == _NOT_FOUND:
            raise NoCollectionError
        if status != _OK:
            logger.error("the vector store refused a call", extra={"status": status})
            raise UnavailableError("unavailable")
        return answer["result"]

    def create(self, collection: str, *, dimension: int, indexes: dict[str, str]) -> None:
        """Create a collection of unit vectors with payload indexes; one that exists is no error.

        Raises:
            UnavailableError: The server does not answer, or not as it should.

        """
        body = {"vectors": {"size": dimension, "distance": "Cosine"}}
        path = f"/collections/{collection}"
        try:
            response = self._client.put(path, json=body)
        except httpx2.TransportError as error:
            raise UnavailableError("unavailable") from error
        if response.status_code not in {_OK, _CONFLICT}:
            logger.error("no collection was made", extra={"status": response.status_code})
            raise UnavailableError("unavailable")
        for field, schema in indexes.items():
            asked = {"field_name": field, "field_schema": schema}
            self.call("PUT", f"{path}/index?wait=true", asked)
