"""A vault that the product changes, and its index; events are those of the bucket's own history."""

from archivolt.domain.confirmation import Confirmed
from archivolt.domain.errors import ConflictError, NotFoundError
from archivolt.domain.ingestion import ChangeKind, ObjectChange, sequencer
from archivolt.domain.paths import ROOT, VaultPath
from archivolt.domain.vault import ETag, VaultAccess, VaultRef, VaultRole
from archivolt.ports.operations import OperationKind
from archivolt.vaults.deletions import DeletionService
from archivolt.vaults.move_requests import MoveRequest
from archivolt.vaults.move_steps import MoveStores
from archivolt.vaults.moving import MoveService
from archivolt.vaults.mutations import MutationService
from archivolt.vaults.sweep import OperationSweep
from archivolt.vaults.undeletion import UndeletionService
from tests.builders import ALICE, a_vault
from tests.fakes.operations import InMemoryOperations
from tests.index_world import IndexWorld, plenty


class ProductWorld(IndexWorld):
    """Changes go through the product's services, or behind its back straight into the bucket."""

    def __init__(self) -> None:
        super().__init__()
        self.operations = InMemoryOperations()
        self.told = 0
        self._changes = 0

    def events(self) -> list[ObjectChange]:
        """Return what the bucket has to announce since it was last asked."""
        news, self.told = self.files.history[self.told :], len(self.files.history)
        return [
            ObjectChange(
                kind=ChangeKind.CREATED if stored.data is not None else ChangeKind.DELETED,
                vault=vault,
                path=stored.info.path,
                sequencer=sequencer(self._next()),
                etag=stored.info.etag if stored.data is not None else "",
                size=len(stored.data) if stored.data is not None else None,
            )
            for vault, stored in news
        ]

    def settle_all(self) -> None:
        """Deliver what the bucket announces, and work off what follows."""
        self.settle(*self.events())

    # What the product does; the fault line runs through all it uses.

    def access(self, vault: VaultRef | None = None) -> VaultAccess:
        """Return Alice's access as a writer."""
        ref = vault or self.vault
        found = [each for each in (a_vault("notes"), a_vault("other")) if each.ref == ref]
        return VaultAccess(vault=found[0], user=ALICE, role=VaultRole.WRITER)

    @property
    def moves(self) -> MoveService:
        """What moves files and directories."""
        across = self.line.across
        stores = MoveStores(
            files=across(self.files),
            catalogue=across(self.catalogue),
            notes=self.notes,
            operations=across(self.operations),
            clock=self.clock,
            threads=1,
        )
        return MoveService(stores)

    @property
    def deletions(self) -> DeletionService:
        """What deletes files and directories."""
        across = self.line.across
        return DeletionService(
            across(self.files), across(self.operations), across(self.catalogue), self.clock
        )

    def move(self, source: str, target: str, *, directory: bool = False) -> None:
        """Move a file or a directory."""
        request = MoveRequest(
            source=VaultPath(source), target=VaultPath(target), directory=directory
        )
        pins = self.moves.preview(self.access(), request).pins
        self.moves.run(self.access(), request, Confirmed(operation=self._change(), pins=pins))

    def remove(self, path: str) -> None:
        """Delete a file."""
        pins = self.deletions.preview_delete(self.access(), VaultPath(path)).pins
        confirmed = Confirmed(operation=self._change(), pins=pins)
        self.deletions.delete(self.access(), VaultPath(path), confirmed)

    def create(self, path: str, content: str) -> None:
        """Write a new file."""
        mutations = MutationService(self.line.across(self.files))
        pins = mutations.preview_create(self.access(), VaultPath(path), content).pins
        confirmed = Confirmed(operation=self._change(), pins=pins)
        mutations.create(self.access(), VaultPath(path), content, confirmed)

    def edit(self, path: str, content: str) -> None:
        """Replace the text of a file."""
        mutations = MutationService(self.line.across(self.files))
        pins = mutations.preview_edit(self.access(), VaultPath(path), content).pins
        confirmed = Confirmed(operation=self._change(), pins=pins)
        mutations.edit(self.access(), VaultPath(path), content, confirmed)

    def bring_back(self, directory: str) -> None:
        """Undelete what was deleted below a directory."""
        across = self.line.across
        undeletions = UndeletionService(across(self.files), across(self.operations), self.clock)
        confirmed = Confirmed(operation=self._change())
        undeletions.undelete_directory(self.access(), VaultPath(directory), confirmed)

    def sweep(self) -> None:
        """Finish what broke off."""
        across = self.line.across
        undeletions = UndeletionService(across(self.files), across(self.operations), self.clock)
        resumptions = {
            OperationKind.MOVE: self.moves.resume,
            OperationKind.DELETE: self.deletions.resume,
            OperationKind.UNDELETE: undeletions.resume,
        }
        OperationSweep(across(self.operations), resumptions, self.clock).run(time_left=plenty)

    # What happens behind its back.

    def put(self, path: str, content: str, *, vault: VaultRef | None = None) -> None:
        """Create or overwrite a file."""
        ref = vault or self.vault
        try:
            there = self.files.head(ref, VaultPath(path)).etag
        except NotFoundError:
            self.files.create(ref, VaultPath(path), content.encode())
        else:
            self.files.replace(ref, VaultPath(path), content.encode(), expected=there)

    def drop(self, path: str, *, vault: VaultRef | None = None) -> bool:
        """Delete a file; tell whether there was one."""
        ref = vault or self.vault
        try:
            etag: ETag = self.files.head(ref, VaultPath(path)).etag
            self.files.delete(ref, VaultPath(path), expected=etag)
        except (NotFoundError, ConflictError):
            return False
        return True

    def texts(self, vault: VaultRef | None = None) -> dict[str, str]:
        """Return every file that there is."""
        ref = vault or self.vault
        listing = self.files.list(ref, ROOT, recursive=True, limit=10_000)
        return {info.path: self.files.read(ref, info.path).data.decode() for info in listing.files}

    def _change(self) -> str:
        self._changes += 1
        self.clock.advance(seconds=1)
        return f"change-{self._changes}"
