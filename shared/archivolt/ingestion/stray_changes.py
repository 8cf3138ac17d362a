"""Changes that fit no known vault: whose they are is not guessed, everybody is synchronised (R16).

Nothing is indexed for them. What they should have told is found by comparing the vaults of the
tenant's users with their documents, user by user, each under their own lease.
"""

from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from typing import Final

from archivolt.domain.errors import NotFoundError
from archivolt.domain.identity import TenantId
from archivolt.domain.ingestion import ChangeKind, ObjectChange, StrayChange
from archivolt.domain.limits import SYNC_LEASE_SECONDS
from archivolt.domain.vault import VaultRef
from archivolt.observability import failure, logger
from archivolt.ports.clock import Clock
from archivolt.ports.sync import SyncRequests
from archivolt.ports.vaults import VaultDirectory

_REMEMBERED: Final = 10_000
_PAUSE: Final = timedelta(seconds=SYNC_LEASE_SECONDS)
# A vault may be erased: that it was there is not believed for longer.
_KNOWN: Final = timedelta(seconds=60)

Messages = Mapping[str, Sequence[ObjectChange | StrayChange]]


class StrayChanges:
    """Tells strays from changes of documents, and has them seen to."""

    def __init__(self, directory: VaultDirectory, requests: SyncRequests, clock: Clock) -> None:
        self._directory = directory
        self._requests = requests
        self._clock = clock
        self._known: dict[VaultRef, datetime] = {}
        self._asked: dict[TenantId, datetime] = {}

    def settle(self, messages: Messages) -> tuple[dict[str, list[ObjectChange]], list[str]]:
        """Return each message's changes in known vaults, and the messages that must come again."""
        changes: dict[str, list[ObjectChange]] = {}
        failed: list[str] = []
        for message_id, announced in messages.items():
            try:
                changes[message_id] = self._in_known_vaults(announced)
            except Exception as error:  # noqa: BLE001  one message's trouble is not another's
                logger.error("a stray change could not be seen to", extra=failure(error))
                failed.append(message_id)
        return changes, failed

    def _in_known_vaults(
        self, announced: Sequence[ObjectChange | StrayChange]
    ) -> list[ObjectChange]:
        changes: list[ObjectChange] = []
        for each in announced:
            tenant = each.vault.tenant if isinstance(each, ObjectChange) else each.tenant
            if each.vault is None or not self._is_known(each.vault):
                # Of what is erased with its vault nothing is to be indexed.
                if not (isinstance(each, ObjectChange) and each.kind is ChangeKind.DELETED):
                    self._synchronise(tenant)
            elif isinstance(each, ObjectChange):
                changes.append(each)
        return changes

    def _is_known(self, vault: VaultRef) -> bool:
        now, known = self._clock.now(), self._known.get(vault)
        if known is not None and now < known + _KNOWN:
            return True
        try:
            self._directory.get(vault)
        except NotFoundError:
            return False
        if len(self._known) >= _REMEMBERED:
            self._known.clear()
        self._known[vault] = now
        return True

    def _synchronise(self, tenant: TenantId) -> None:
        """Have everybody of a tenant synchronised, once in the time of a lease."""
        now = self._clock.now()
        asked = self._asked.get(tenant)
        if asked is not None and now < asked + _PAUSE:
            return
        users = self._directory.users(tenant)
        for user in users:
            self._requests.request(tenant, user)
        logger.warning("a change fits no vault", extra={"synchronised": len(users)})
        if len(self._asked) >= _REMEMBERED:
            self._asked.clear()
        self._asked[tenant] = now
