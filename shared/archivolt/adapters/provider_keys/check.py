"""A `ProviderKeyCheck` over the guarded client: a list of models is asked for, which costs nothing.

The key is in a header and nowhere else, and of an answer its status alone is read.
"""

from collections.abc import Callable
from typing import Final

import httpx2

from archivolt.adapters.chat_models import provider_format
from archivolt.domain.providers import WireFormat
from archivolt.ports.chat_model import ProviderConnection
from archivolt.ports.provider_keys import KeyTrial, KeyVerdict

_SECONDS: Final = 10.0
_OK: Final = range(200, 300)
_REFUSED: Final = frozenset({401, 402, 403})
# Google answers so to a key that it does not know.
_REFUSED_BY_GEMINI: Final = _REFUSED | {400}


class HttpProviderKeyCheck:
    """Asks providers for their models.

    Args:
        client: Gives a guarded client.

    """

    def __init__(self, client: Callable[[], httpx2.Client]) -> None:
        self._client = client

    def check(self, connection: ProviderConnection) -> KeyTrial:
        """Return what came of asking with a connection's key."""
        wire = provider_format(connection.wire_format)
        address, headers = wire.models_url(connection.base_url), wire.headers(connection.key)
        try:
            with self._client().stream("GET", address, headers=headers, timeout=_SECONDS) as answer:
                status = answer.status_code
        except httpx2.HTTPError:
            return KeyTrial(verdict=KeyVerdict.UNREACHABLE)
        return KeyTrial(verdict=_verdict(connection, status), status=status)


def _verdict(connection: ProviderConnection, status: int) -> KeyVerdict:
    is_gemini = connection.wire_format is WireFormat.GEMINI
    if status in _OK:
        return KeyVerdict.ACCEPTED
    if status in (_REFUSED_BY_GEMINI if is_gemini else _REFUSED):
        return KeyVerdict.REFUSED
    return KeyVerdict.UNCLEAR
