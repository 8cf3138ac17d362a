"""The ways to change the files of a vault, together; moves are apart."""

from archivolt.ports.catalogue import Catalogue
from archivolt.ports.clock import Clock
from archivolt.ports.files import FileStore
from archivolt.ports.notes import NoteIndex
from archivolt.ports.operations import OperationStore
from archivolt.ports.patterns import PatternCompiler
from archivolt.vaults.backups import BackupService
from archivolt.vaults.deletions import DeletionService
from archivolt.vaults.frontmatter import FrontmatterService
from archivolt.vaults.mutations import MutationService
from archivolt.vaults.replacing import ReplacingService
from archivolt.vaults.undeletion import UndeletionService


class Changing:
    """Edits, front matter, deletions, backups and replacements, over the same files."""

    def __init__(
        self,
        *,
        files: FileStore,
        catalogue: Catalogue,
        operations: OperationStore,
        notes: NoteIndex,
        patterns: PatternCompiler,
        clock: Clock,
    ) -> None:
        self.mutations = MutationService(files)
        self.frontmatter = FrontmatterService(files)
        self.deletions = DeletionService(files, operations, catalogue, clock)
        self.undeletions = UndeletionService(files, operations, clock)
        self.backups = BackupService(files)
        self.replacing = ReplacingService(files, notes, catalogue, patterns, clock)
