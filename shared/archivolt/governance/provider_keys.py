"""Keys of providers: how they are shown, and those of further providers that a tenant gives."""

import hashlib
import re
from collections.abc import Mapping
from dataclasses import replace
from typing import Final

from pydantic import SecretStr

from archivolt.domain.errors import InvalidRequestError
from archivolt.domain.identity import TenantId
from archivolt.domain.providers import PRESETS
from archivolt.domain.settings import TenantSettings, provider_key_field
from archivolt.ports.governance import SecretBox

_FINGERPRINT_CHARS: Final = 12
_FINGERPRINT: Final = re.compile(rf"sha256:[0-9a-f]{{{_FINGERPRINT_CHARS}}}")
# A key goes to its provider's own address, so only those with one may have one.
_KEYED: Final = [name for name, preset in PRESETS.items() if not preset.keyless]


def fingerprint(secret: str) -> str:
    """Return what tells one key from another without helping to guess it; "" for no key."""
    if not secret:
        return ""
    return f"sha256:{hashlib.sha256(secret.encode()).hexdigest()[:_FINGERPRINT_CHARS]}"


def is_fingerprint(key: str) -> bool:
    """Tell whether a key that was sent is only what was shown of one."""
    return _FINGERPRINT.fullmatch(key) is not None


def with_provider_keys(
    settings: TenantSettings,
    given: Mapping[str, SecretStr | None] | None,
    *,
    tenant: TenantId,
    secrets: SecretBox,
) -> TenantSettings:
    """Return the settings with these keys; None or "" takes one back, None for all takes back all.

    Raises:
        InvalidRequestError: `provider_unknown`: a key for a provider without an address of its own.

    """
    sealed = dict(settings.sealed_provider_keys) if given is not None else {}
    shown = dict(settings.provider_key_fingerprints) if given is not None else {}
    for provider, secret in (given or {}).items():
        key = secret.get_secret_value() if secret else ""
        if is_fingerprint(key):
            continue
        if key and provider not in _KEYED:
            known = ", ".join(_KEYED)
            raise InvalidRequestError("provider_unknown", provider=provider, known=known)
        sealed.pop(provider, None)
        shown.pop(provider, None)
        if key:
            field = provider_key_field(provider)
            sealed[provider] = secrets.seal(key, tenant=tenant, field=field)
            shown[provider] = fingerprint(key)
    return replace(settings, sealed_provider_keys=sealed, provider_key_fingerprints=shown)
