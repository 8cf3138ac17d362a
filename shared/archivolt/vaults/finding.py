"""The ways to find documents without asking a model, together."""

from archivolt.ports.catalogue import Catalogue
from archivolt.ports.clock import Clock
from archivolt.ports.files import FileStore
from archivolt.ports.notes import NoteIndex
from archivolt.ports.patterns import PatternCompiler
from archivolt.ports.retrieval import TextIndex
from archivolt.vaults.advanced_search import AdvancedSearch
from archivolt.vaults.backlinks import BacklinkService
from archivolt.vaults.graph import GraphService
from archivolt.vaults.path_search import PathSearch
from archivolt.vaults.recent import RecentService
from archivolt.vaults.tags import TagService


class Finding:
    """Advanced search, paths, tags, recents, backlinks and the graph, over the same index."""

    def __init__(
        self,
        *,
        notes: NoteIndex,
        text_index: TextIndex,
        catalogue: Catalogue,
        files: FileStore,
        patterns: PatternCompiler,
        clock: Clock,
    ) -> None:
        self.advanced = AdvancedSearch(notes, catalogue, files, patterns, clock)
        self.paths = PathSearch(notes, catalogue)
        self.tags = TagService(notes, text_index, catalogue)
        self.recent = RecentService(notes, catalogue, files, clock)
        self.backlinks = BacklinkService(notes, catalogue, files)
        self.graph = GraphService(notes, catalogue)
