"""A user's personal vault: made when they are first heard of (R24, decision 45)."""

import uuid
from collections.abc import Callable

from archivolt.domain.errors import ConflictError, NotFoundError
from archivolt.domain.identity import Principal, TenantId, UserId
from archivolt.domain.personal_vaults import PERSONAL_NAME, personal_names, personal_vault
from archivolt.domain.sync import SyncJob, SyncKind
from archivolt.domain.vault import Vault, VaultRef
from archivolt.ports.clock import Clock
from archivolt.ports.sync import SyncQueue
from archivolt.ports.vaults import VaultDirectory


class PersonalVaults:
    """Makes personal vaults, each once."""

    def __init__(self, directory: VaultDirectory, clock: Clock) -> None:
        self._directory = directory
        self._clock = clock

    def exists(self, tenant: TenantId, user: UserId) -> bool:
        """Tell whether a user has theirs; it costs one read."""
        try:
            self._directory.get(personal_vault(tenant, user))
        except NotFoundError:
            return False
        return True

    def make(self, tenant: TenantId, user: UserId) -> VaultRef:
        """Return a user's personal vault, made if need be; the user owns it.

        Raises:
            UnavailableError: The directory is down.

        """
        ref = personal_vault(tenant, user)
        names = iter(personal_names(tenant, user))
        while not self.exists(tenant, user):
            # Whoever takes every name that can be foreseen keeps nobody from their vault.
            name = next(names, f"{PERSONAL_NAME}-{uuid.uuid4().hex}")
            vault = Vault(ref=ref, name=name, created_at=self._clock.now())
            try:
                self._directory.create(vault, owner=user)
            except ConflictError:
                # Either somebody else made this vault, or they have a vault of this name.
                continue
        return ref


class Welcome:
    """What happens when a user is first heard of.

    Args:
        personal: Makes their vault.
        queue: Gives the queue of their first synchronisation, which makes the vault if need be.
        at_once: Whether the vault is to be there when the user is answered; whoever may not write
            to the directory leaves it to the synchronisation.

    """

    def __init__(
        self, personal: PersonalVaults, queue: Callable[[], SyncQueue], *, at_once: bool
    ) -> None:
        self._personal = personal
        self._queue = queue
        self._at_once = at_once

    def greet(self, principal: Principal) -> None:
        """Give a user their personal vault unless they have it.

        Raises:
            UnavailableError: A collaborator is down; greeting again does what is left.

        """
        tenant, user = principal.tenant, principal.user
        if self._personal.exists(tenant, user):
            return
        # First, so that the vault is never there without a synchronisation to come.
        self._queue().send(SyncJob(tenant=tenant, user=user, kind=SyncKind.FIRST))
        if self._at_once:
            self._personal.make(tenant, user)
