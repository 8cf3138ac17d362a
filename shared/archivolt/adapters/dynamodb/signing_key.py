"""The key that signs confirmation tokens: made once per deployment, shared by every function.

It is in the control table as `DEPLOYMENT` / `CONFIRMATION_KEY`, sealed as secrets of tenants are.
"""

import base64
import os
from typing import Final

from archivolt.adapters.dynamodb.table import ConditionFailedError, DynamoTable
from archivolt.adapters.dynamodb.writes import ABSENT, Key, Put
from archivolt.domain.identity import TenantId
from archivolt.ports.governance import SecretBox

_PLACE: Final = Key("DEPLOYMENT", "CONFIRMATION_KEY")
# No tenant can have this name.
_DEPLOYMENT: Final = TenantId("_deployment")
_FIELD: Final = "confirmation_key"
# RFC 7518 §3.2: a key of HS256 has at least as many bits as the hash.
_KEY_BYTES: Final = 32


class DynamoSigningKey:
    """Gives the signing key, and makes it where there is none."""

    def __init__(self, table: DynamoTable, box: SecretBox) -> None:
        self._table = table
        self._box = box
        self._known = b""

    def __call__(self) -> bytes:
        """Return the key.

        Raises:
            UnavailableError: It cannot be read; `secret_unreadable`: what sealed it is lost.

        """
        if not self._known:
            sealed = self._kept() or self._made()
            opened = self._box.open(sealed, tenant=_DEPLOYMENT, field=_FIELD)
            self._known = base64.b64decode(opened)
        return self._known

    def _kept(self) -> str:
        item = self._table.get(_PLACE) or {}
        return str(item.get("sealed", ""))

    def _made(self) -> str:
        """Return the sealed key, ours or that of another function that was faster."""
        key = base64.b64encode(os.urandom(_KEY_BYTES)).decode()
        sealed = self._box.seal(key, tenant=_DEPLOYMENT, field=_FIELD)
        try:
            self._table.write(Put(item={**_PLACE._asdict(), "sealed": sealed}, condition=ABSENT))
        except ConditionFailedError:
            return self._kept()
        return sealed
