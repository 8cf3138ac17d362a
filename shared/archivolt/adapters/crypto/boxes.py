"""The two boxes for secrets: one under KMS, one under a key from the environment.

    kms.<data key, sealed by KMS>.<nonce and ciphertext>
    env.<nonce and ciphertext>

Both parts are URL-safe base64. The tenant is in KMS's encryption context, so that the trail of KMS
says whose secret was opened, and a data key opens for its tenant only.
"""

import base64
from typing import TYPE_CHECKING, Final

from archivolt.adapters.aws.errors import translated
from archivolt.adapters.crypto.sealing import KEY_BYTES, decrypt, encrypt
from archivolt.domain.errors import UnavailableError
from archivolt.domain.identity import TenantId

if TYPE_CHECKING:
    from types_boto3_kms import KMSClient

_UNREADABLE_CODES: Final = ("InvalidCiphertextException", "IncorrectKeyException")


class EnvironmentKeyBox:
    """A `SecretBox` under one key, for the stack on one machine.

    Args:
        key: 32 bytes; see `key_from_text`.

    """

    def __init__(self, key: bytes) -> None:
        if len(key) != KEY_BYTES:
            raise ValueError(f"the key has to have {KEY_BYTES} bytes")
        self._key = key

    def seal(self, plaintext: str, *, tenant: TenantId, field: str) -> str:
        """Return ciphertext as text."""
        return f"env.{_encode(encrypt(self._key, plaintext, tenant=tenant, field=field))}"

    def open(self, sealed: str, *, tenant: TenantId, field: str) -> str:
        """Return the plaintext."""
        (ciphertext,) = _parts(sealed, kind="env", count=1)
        return decrypt(self._key, ciphertext, tenant=tenant, field=field)


class KmsEnvelopeBox:
    """A `SecretBox` where each secret has a data key of its own, sealed by a KMS key."""

    def __init__(self, client: "KMSClient", key_id: str) -> None:
        self._client = client
        self._key_id = key_id

    def seal(self, plaintext: str, *, tenant: TenantId, field: str) -> str:
        """Return ciphertext as text."""
        with translated():
            data_key = self._client.generate_data_key(
                KeyId=self._key_id, KeySpec="AES_256", EncryptionContext={"tenant": tenant}
            )
        ciphertext = encrypt(data_key["Plaintext"], plaintext, tenant=tenant, field=field)
        return f"kms.{_encode(data_key['CiphertextBlob'])}.{_encode(ciphertext)}"

    def open(self, sealed: str, *, tenant: TenantId, field: str) -> str:
        """Return the plaintext."""
        sealed_key, ciphertext = _parts(sealed, kind="kms", count=2)
        unreadable = UnavailableError("secret_unreadable")
        with translated(dict.fromkeys(_UNREADABLE_CODES, unreadable)):
            data_key = self._client.decrypt(
                KeyId=self._key_id,
                CiphertextBlob=sealed_key,
                EncryptionContext={"tenant": tenant},
            )
        return decrypt(data_key["Plaintext"], ciphertext, tenant=tenant, field=field)


def key_from_text(text: str) -> bytes:
    """Return the 32 bytes of a key written in hexadecimal, in base64, or as 32 characters.

    Raises:
        ValueError: It is none of these; the text is not repeated.

    """
    for decode in (bytes.fromhex, _from_base64, str.encode):
        try:
            key = decode(text.strip())
        except ValueError:
            continue
        if len(key) == KEY_BYTES:
            return key
    raise ValueError("USER_STORE_ENCRYPTION_KEY has to be 32 bytes, in hexadecimal or base64")


def _from_base64(text: str) -> bytes:
    padded = text + "=" * (-len(text) % 4)
    return base64.b64decode(padded.replace("-", "+").replace("_", "/"), validate=True)


def _encode(data: bytes) -> str:
    return base64.urlsafe_b64encode(data).decode()


def _parts(sealed: str, *, kind: str, count: int) -> list[bytes]:
    """Return the parts of a sealed secret of this kind."""
    found, *parts = sealed.split(".")
    if found != kind or len(parts) != count:
        raise UnavailableError("secret_unreadable")
    try:
        return [base64.urlsafe_b64decode(part) for part in parts]
    except ValueError as error:
        raise UnavailableError("secret_unreadable") from error
