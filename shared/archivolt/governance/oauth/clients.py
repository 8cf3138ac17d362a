"""Who asks people for access: clients that a document describes, and clients that registered.

A document is at the client's own address, which is its id: nobody else can use the name of that
host. A client that registered (RFC 7591) is who it says it is, and a person is told so.
"""

import re
from collections.abc import Callable
from datetime import timedelta
from typing import Any, Final, cast
from urllib.parse import urlsplit

from archivolt.domain.display import on_one_line
from archivolt.domain.errors import InvalidRequestError, UnavailableError
from archivolt.domain.limits import (
    CLIENT_DOCUMENT_KEPT_SECONDS,
    MAX_CLIENT_ID_CHARS,
    MAX_CLIENT_NAME_CHARS,
    MAX_REDIRECT_URIS,
    UNUSED_CLIENT_SECONDS,
    USED_CLIENT_DAYS,
)
from archivolt.domain.oauth import OAuthClient, OAuthError
from archivolt.domain.token_forms import random_text
from archivolt.governance.oauth.redirects import is_acceptable
from archivolt.ports.clock import Clock
from archivolt.ports.oauth import ClientDocuments, OAuthClientStore

_ID_CHARS: Final = 32
_PREFIX: Final = "avc_"
_DOTS: Final = re.compile(r"/\.\.?(/|$)|%2e", re.IGNORECASE)
_UNNAMED: Final = "MCP client"
_Metadata = dict[str, Any]


class OAuthClients:
    """Finds and registers clients.

    Args:
        store: Where they are kept.
        documents: Reads the document of a client at its address.
        clock: The time.

    """

    def __init__(
        self, store: OAuthClientStore, documents: Callable[[], ClientDocuments], clock: Clock
    ) -> None:
        self._store = store
        self._documents = documents
        self._clock = clock

    def find(self, client_id: str) -> OAuthClient:
        """Return a client by its id, or by its document where the id is an address.

        Raises:
            InvalidRequestError: `oauth_client_unknown`.

        """
        if not 0 < len(client_id) <= MAX_CLIENT_ID_CHARS:
            raise InvalidRequestError("oauth_client_unknown")
        known = self._store.find(client_id)
        if known is not None and known.expires_at > self._clock.now():
            return known
        if not _is_address_of_document(client_id):
            raise InvalidRequestError("oauth_client_unknown")
        return self._described(client_id)

    def has_to_read(self, client_id: str) -> bool:
        """Tell whether to find a client its document would have to be read."""
        if not _is_address_of_document(client_id) or len(client_id) > MAX_CLIENT_ID_CHARS:
            return False
        known = self._store.find(client_id)
        return known is None or known.expires_at <= self._clock.now()

    def is_known(self, client_id: str) -> bool:
        """Tell whether a client may still use what it was given; no document is read for that."""
        if _is_address_of_document(client_id):
            return True
        if not 0 < len(client_id) <= MAX_CLIENT_ID_CHARS:
            return False
        known = self._store.find(client_id)
        return known is not None and known.expires_at > self._clock.now()

    def register(self, metadata: object) -> OAuthClient:
        """Return a new client, by the metadata it sent.

        Raises:
            OAuthError: `oauth_client_metadata`, `oauth_redirect_uri`.

        """
        if not isinstance(metadata, dict):
            raise OAuthError("oauth_client_metadata", name="client_metadata")
        fields = cast("_Metadata", metadata)
        client = OAuthClient(
            id=f"{_PREFIX}{random_text(_ID_CHARS)}",
            name=_name(fields) or _UNNAMED,
            redirect_uris=_redirect_uris(fields),
            expires_at=self._clock.now() + timedelta(seconds=UNUSED_CLIENT_SECONDS),
        )
        _require_code_flow(fields)
        self._store.put(client)
        return client

    def keep(self, client: OAuthClient) -> None:
        """Remember a client that registered, now that somebody lets it in."""
        if not client.has_document:
            until = self._clock.now() + timedelta(days=USED_CLIENT_DAYS)
            kept = OAuthClient(
                id=client.id,
                name=client.name,
                redirect_uris=client.redirect_uris,
                expires_at=until,
            )
            self._store.put(kept)

    def _described(self, address: str) -> OAuthClient:
        try:
            document = self._documents().read(address)
            client = self._client_of(address, document)
        except (InvalidRequestError, UnavailableError) as error:
            raise InvalidRequestError("oauth_client_unknown") from error
        self._store.put(client)
        return client

    def _client_of(self, address: str, document: object) -> OAuthClient:
        if not isinstance(document, dict):
            raise OAuthError("oauth_client_metadata", name="client_metadata")
        fields = cast("_Metadata", document)
        # RFC 7591 has other methods; a client with a document may only have none of them here.
        if fields.get("client_id") != address or "client_secret" in fields:
            raise OAuthError("oauth_client_metadata", name="client_id")
        if fields.get("token_endpoint_auth_method", "none") != "none":
            raise OAuthError("oauth_client_metadata", name="token_endpoint_auth_method")
        _require_code_flow(fields)
        return OAuthClient(
            id=address,
            name=_name(fields) or str(urlsplit(address).hostname),
            redirect_uris=_redirect_uris(fields),
            expires_at=self._clock.now() + timedelta(seconds=CLIENT_DOCUMENT_KEPT_SECONDS),
        )


def _is_address_of_document(client_id: str) -> bool:
    """Tell whether an id is an address as client id metadata documents have it."""
    if not client_id.startswith("https://") or not client_id.isascii():
        return False
    try:
        parts = urlsplit(client_id)
        _ = parts.port
    except ValueError:
        return False
    if not parts.hostname or "@" in parts.netloc or "#" in client_id or "\\" in client_id:
        return False
    return parts.path not in {"", "/"} and not _DOTS.search(parts.path) and client_id.isprintable()


def _name(fields: _Metadata) -> str:
    """Return the client's name in one line: a person reads it beside our own words."""
    name = fields.get("client_name", "")
    if not isinstance(name, str):
        raise OAuthError("oauth_client_metadata", name="client_name")
    return on_one_line(name)[:MAX_CLIENT_NAME_CHARS]


def _redirect_uris(fields: _Metadata) -> tuple[str, ...]:
    given: Any = fields.get("redirect_uris")
    if not isinstance(given, list):
        raise OAuthError("oauth_redirect_uri", limit=MAX_REDIRECT_URIS)
    uris = cast("list[object]", given)
    texts = [uri for uri in uris if isinstance(uri, str) and is_acceptable(uri)]
    if len(texts) != len(uris) or not 0 < len(uris) <= MAX_REDIRECT_URIS:
        raise OAuthError("oauth_redirect_uri", limit=MAX_REDIRECT_URIS)
    return tuple(texts)


def _require_code_flow(fields: _Metadata) -> None:
    for name, needed in (("grant_types", "authorization_code"), ("response_types", "code")):
        given: Any = fields.get(name, [needed])
        if not isinstance(given, list) or needed not in given:
            raise OAuthError("oauth_client_metadata", name=name)
