"""AES-256-GCM over one secret, bound to its tenant and field.

What is bound is not secret and is not stored: opening under another tenant or field fails.
"""

import json
import os
from typing import Final

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM

from archivolt.domain.errors import UnavailableError
from archivolt.domain.identity import TenantId

KEY_BYTES: Final = 32
# NIST SP 800-38D §8.2: a 96-bit nonce, drawn at random for each message.
_NONCE_BYTES: Final = 12


def encrypt(key: bytes, plaintext: str, *, tenant: TenantId, field: str) -> bytes:
    """Return nonce and ciphertext."""
    nonce = os.urandom(_NONCE_BYTES)
    return nonce + AESGCM(key).encrypt(nonce, plaintext.encode(), _bound_to(tenant, field))


def decrypt(key: bytes, sealed: bytes, *, tenant: TenantId, field: str) -> str:
    """Return the plaintext.

    Raises:
        UnavailableError: `secret_unreadable`.

    """
    nonce, ciphertext = sealed[:_NONCE_BYTES], sealed[_NONCE_BYTES:]
    try:
        return AESGCM(key).decrypt(nonce, ciphertext, _bound_to(tenant, field)).decode()
    except (InvalidTag, ValueError) as error:
        raise UnavailableError("secret_unreadable") from error


def _bound_to(tenant: TenantId, field: str) -> bytes:
    return json.dumps([tenant, field]).encode()
