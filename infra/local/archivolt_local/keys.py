"""The keys of one local stack: made once, kept in DATA, readable by their owner only."""

import base64
import secrets
from dataclasses import asdict, dataclass

from archivolt_local.places import DataFolder
from archivolt_local.private_files import read_json, write_private_json

_KEY_BYTES = 32


@dataclass(frozen=True, kw_only=True)
class StackKeys:
    """What the stack signs, seals and protects with.

    `signing` signs local tokens (HS256), `encryption` seals tenants' secrets (base64 of 32 bytes),
    `vectors` is the vector store's API key.
    """

    signing: str
    encryption: str
    vectors: str


def load_or_make_keys(data: DataFolder) -> StackKeys:
    """Return the stack's keys, making those that are missing."""
    known = read_json(data.keys)
    keys = StackKeys(
        signing=str(known.get("signing") or secrets.token_urlsafe(_KEY_BYTES)),
        encryption=str(known.get("encryption") or _encryption_key()),
        vectors=str(known.get("vectors") or secrets.token_urlsafe(_KEY_BYTES)),
    )
    if asdict(keys) != known:
        write_private_json(data.keys, asdict(keys))
    return keys


def _encryption_key() -> str:
    return base64.b64encode(secrets.token_bytes(_KEY_BYTES)).decode("ascii")
