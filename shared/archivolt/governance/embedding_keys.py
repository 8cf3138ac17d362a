"""Whose key pays for a tenant's vectors: their own, else the deployment's where it may (S10).

A key is opened for one call and kept nowhere (S11); one that is replaced is used no more from the
next call on (S13).
"""

from collections.abc import Callable

from archivolt.domain.embedding_key import EmbeddingKey
from archivolt.domain.errors import ForbiddenError, UnavailableError
from archivolt.domain.identity import TenantId
from archivolt.domain.settings import EMBEDDING_API_KEY
from archivolt.ports.governance import SecretBox, TenantSettingsStore


class EmbeddingKeys:
    """Finds the key for the vectors of a tenant, at one address.

    Args:
        settings: The tenants' settings.
        secrets: Returns what opens their keys; it is called when a key has to be opened.
        origin: Where the deployment has its vectors made, as `https://host`; a key that a tenant
            gave for another place stays here (decision 0008).
        environment: The deployment's own key, empty for none.
        environment_tenant: The one tenant it serves (decision 0014); None: every tenant of a local
            stack.
        keyless: Whether the address may be asked without any key.
        require: Checks that a tenant's work is to be done, as `Admission.require_tenant`.

    """

    def __init__(
        self,
        settings: TenantSettingsStore,
        secrets: Callable[[], SecretBox],
        *,
        origin: str,
        environment: EmbeddingKey,
        environment_tenant: str | None,
        keyless: bool,
        require: Callable[[TenantId], None] = lambda tenant: None,  # noqa: ARG005  all is
    ) -> None:
        self._settings = settings
        self._secrets = secrets
        self._origin = origin
        self._environment = environment
        self._environment_tenant = environment_tenant
        self._keyless = keyless
        self._require = require

    def of(self, tenant: TenantId) -> EmbeddingKey:
        """Return the key for one call on behalf of a tenant.

        Raises:
            UnavailableError: `embedding_key_missing`, `secret_unreadable`, `tenant_suspended`,
                `tenant_deleting`, or `unavailable`.

        """
        try:
            self._require(tenant)
        except ForbiddenError as error:
            # The documents of whoever is suspended wait, as without a key.
            raise UnavailableError(error.code) from error
        own = self._own(tenant)
        if own is not None:
            return own
        if self._environment.key and self._environment_tenant in {None, tenant}:
            return self._environment
        if self._keyless and not self._environment.key:
            return EmbeddingKey()
        raise UnavailableError("embedding_key_missing")

    def _own(self, tenant: TenantId) -> EmbeddingKey | None:
        settings = self._settings.load(tenant)
        sealed = settings.sealed_embedding_api_key
        if not sealed or settings.embedding_api_key_origin != self._origin:
            return None
        key = self._secrets().open(sealed, tenant=tenant, field=EMBEDDING_API_KEY)
        return EmbeddingKey(key=key, account=settings.embedding_account)
