"""Documents by which OAuth clients describe themselves, at addresses that strangers choose."""

from typing import Any

import httpx2

from archivolt.adapters.http.addresses import OutboundRules
from archivolt.adapters.http.documents import read_json
from archivolt.adapters.http.outbound import Caps, guarded_client
from archivolt.domain.errors import UnavailableError
from archivolt.domain.limits import CLIENT_DOCUMENT_SECONDS, MAX_CLIENT_DOCUMENT_BYTES


class HttpClientDocuments:
    """A `ClientDocuments`: from public addresses only, a little, soon, and without redirects.

    `client` takes the place of the guarded one.
    """

    def __init__(self, client: httpx2.Client | None = None) -> None:
        caps = Caps(max_bytes=MAX_CLIENT_DOCUMENT_BYTES, seconds=CLIENT_DOCUMENT_SECONDS)
        # Not the rules of the deployment: what it may reach for itself is not for strangers.
        self._client = client or guarded_client(OutboundRules(), caps)

    def read(self, address: str) -> Any:  # noqa: ANN401  whatever is there
        """Return the parsed JSON at an https address."""
        try:
            return read_json(self._client, address)
        except RecursionError as error:
            raise UnavailableError("unavailable") from error
