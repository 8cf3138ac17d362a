"""Every vault compared with its index, each by what is bound to its tenant (R4)."""

import hashlib
from collections.abc import Callable
from dataclasses import fields

from archivolt.domain.identity import TenantId
from archivolt.domain.vault import VaultRef
from archivolt.ingestion.reconcile import Reconcile, Reconciliation, TimeLeft
from archivolt.observability import failure, logger
from archivolt.ports.clock import Clock
from archivolt.ports.vaults import VaultDirectory


class EveryVault:
    """Compares them, as many as there is time for.

    Args:
        directory: Tells which vaults there are.
        reconcile_of: Returns what compares the vaults of a tenant.
        clock: Tells the day.

    """

    def __init__(
        self,
        directory: VaultDirectory,
        reconcile_of: Callable[[TenantId], Reconcile],
        clock: Clock,
    ) -> None:
        self._directory = directory
        self._reconcile_of = reconcile_of
        self._clock = clock

    def run(self, *, time_left: TimeLeft) -> Reconciliation:
        """Compare every vault; one that fails leaves the others alone.

        Every day they come in another order: where time runs out, none is always left over. Those
        of one tenant come together, as what is bound to it is not kept at hand for long.
        """
        found = Reconciliation()
        for vault in sorted(self._directory.all_refs(), key=self._turn):
            self._compare(vault, found, time_left)
            if not found.complete:
                break
        logger.info("reconciled", extra={"found": str(found)})
        return found

    def _compare(self, vault: VaultRef, found: Reconciliation, time_left: TimeLeft) -> None:
        try:
            part, _ = self._reconcile_of(vault.tenant).compare([vault], time_left=time_left)
        except Exception as error:  # noqa: BLE001  one tenant's trouble is not another's
            logger.error("a tenant cannot be reconciled", extra=failure(error))
            part = Reconciliation(vaults=1, failed_vaults=1)
        for each in fields(part):
            if each.name != "complete":
                total = getattr(found, each.name) + getattr(part, each.name)
                setattr(found, each.name, total)
        found.complete = part.complete

    def _turn(self, vault: VaultRef) -> tuple[str, str]:
        today = self._clock.now().date().isoformat()
        return _shuffled(f"{today}/{vault.tenant}"), _shuffled(f"{today}/{vault.tenant}/{vault.id}")


def _shuffled(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()
