"""How far a vault is indexed: what its members see, and who may have it indexed anew."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from archivolt.domain.errors import ForbiddenError
from archivolt.domain.identity import Principal, Role
from archivolt.domain.ingestion import CatalogueEntry, IndexState
from archivolt.domain.vault import VaultAccess, VaultRef, VaultRole
from archivolt.ports.catalogue import Catalogue
from archivolt.ports.index_runs import IndexRun, IndexRuns


@dataclass(frozen=True, slots=True, kw_only=True)
class IndexReport:
    """The index of one vault.

    `counts` are documents by state, `attention` some that are not indexed, each with its reason;
    `more` tells that there are others. `run` tells when all was last compared, and of a rebuild.
    """

    vault: str
    counts: Mapping[IndexState, int]
    attention: Sequence[CatalogueEntry]
    more: bool
    run: IndexRun


class IndexReports:
    """Tells the state of the index."""

    def __init__(self, catalogue: Catalogue, runs: IndexRuns) -> None:
        self._catalogue = catalogue
        self._runs = runs

    def report(
        self,
        access: VaultAccess,
        *,
        state: IndexState | None = None,
        offset: int = 0,
        limit: int,
    ) -> IndexReport:
        """Return the state of a vault's index; the rest as in `Catalogue.unindexed`."""
        ref = access.vault.ref
        listed = self._catalogue.unindexed(ref, state=state, offset=offset, limit=limit + 1)
        return IndexReport(
            vault=access.vault.name,
            counts=self._catalogue.counts(ref),
            attention=listed[:limit],
            more=len(listed) > limit,
            run=self._runs.get(ref),
        )


def rebuildable(principal: Principal, access: VaultAccess) -> VaultRef:
    """Return the vault, if the caller may have its index made anew.

    Owners may, and administrators of the tenant who are members: it is work, and reveals nothing.

    Raises:
        ForbiddenError: `owner_required`.

    """
    if access.role is not VaultRole.OWNER and not principal.role.includes(Role.TENANT_ADMIN):
        raise ForbiddenError("owner_required", vault=access.vault.name)
    return access.vault.ref
