"""A `ProviderKeyCheck` over the guarded client: a list of models is asked for, which costs nothing.

The key is in a header and nowhere else, and of an answer its status alone is read.
"""

from collections.abc import Callable
from typing import Final
from urllib.parse import urlsplit

import httpx2

from archivolt.adapters.chat_models import provider_format
from archivolt.domain.providers import PRESETS, WireFormat
from archivolt.ports.chat_model import ProviderConnection
from archivolt.ports.provider_keys import KeyTrial, KeyVerdict

_SECONDS: Final = 10.0
_OK: Final = range(200, 300)
_REFUSED: Final = frozenset({401, 402, 403})
# Google answers so to a key that it does not know.
_REFUSED_BY_GEMINI: Final = _REFUSED | {400}
_COMPLETIONS: Final = "/chat/completions"
_MESSAGES: Final = "/messages"


class HttpProviderKeyCheck:
    """Asks providers for their models.

    Args:
        client: Gives a guarded client.

    """

    def __init__(self, client: Callable[[], httpx2.Client]) -> None:
        self._client = client

    def check(self, connection: ProviderConnection) -> KeyTrial:
        """Return what came of asking with a connection's key."""
        headers = provider_format(connection.wire_format).headers(connection.key)
        try:
            with self._client().stream(
                "GET", _address(connection), headers=headers, timeout=_SECONDS
            ) as answer:
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


def _address(connection: ProviderConnection) -> str:
    """Return where a provider says something to who has a key."""
    base = connection.base_url.rstrip("/")
    match connection.wire_format:
        case WireFormat.OPENAI:
            base = base.removesuffix(_COMPLETIONS)
            # Its list of models is public.
            return f"{base}/key" if base == PRESETS["openrouter"].base_url else f"{base}/models"
        case WireFormat.ANTHROPIC:
            base = base.removesuffix(_MESSAGES)
            return f"{base if urlsplit(base).path else f'{base}/v1'}/models?limit=1"
        case WireFormat.GEMINI:
            return f"{base if urlsplit(base).path else f'{base}/v1beta'}/models?pageSize=1"
