"""OAuth clients in the control table.

CLIENT#{digest of the id}    CLIENT    a client; its id may be a long address
"""

from typing import Final

from archivolt.adapters.dynamodb.moments import from_number, to_number
from archivolt.adapters.dynamodb.table import DynamoTable
from archivolt.adapters.dynamodb.writes import Key, Put
from archivolt.domain.oauth import OAuthClient
from archivolt.domain.token_forms import digest_of

_SORT: Final = "CLIENT"


class DynamoOAuthClients:
    """An `OAuthClientStore` in the control table."""

    def __init__(self, table: DynamoTable) -> None:
        self._table = table

    def put(self, client: OAuthClient) -> None:
        """Keep a client until it expires, in place of what was known of it."""
        item = {
            **_key(client.id)._asdict(),
            "id": client.id,
            "name": client.name,
            "redirect_uris": list(client.redirect_uris),
            "expires_at": to_number(client.expires_at),
            "ttl": int(client.expires_at.timestamp()),
        }
        self._table.write(Put(item=item))

    def find(self, client_id: str) -> OAuthClient | None:
        """Return a client, even one that has expired."""
        item = self._table.get(_key(client_id))
        if item is None:
            return None
        return OAuthClient(
            id=item["id"],
            name=item["name"],
            redirect_uris=tuple(item["redirect_uris"]),
            expires_at=from_number(item["expires_at"]),
        )


def _key(client_id: str) -> Key:
    return Key(f"CLIENT#{digest_of(client_id)}", _SORT)
