"""A vault that follows a history of edits, on fakes: commits in, events and jobs worked off."""

from collections.abc import Iterator, Mapping
from typing import Final

from archivolt.domain.ingestion import ObjectChange, Passage
from archivolt.domain.paths import VaultPath
from archivolt.ingestion.documents import embedded_text
from tests.fakes.vectors import WordHashEmbedder
from tests.index_contents import contents
from tests.index_world import IndexWorld
from tests.product_world import ProductWorld

_BATCH: Final = 10


class HistoryWorld(ProductWorld):
    """What a commit changes is written behind the product's back, as a synchronised folder is."""

    def __init__(self, embedder: WordHashEmbedder) -> None:
        super().__init__()
        self.embedder = embedder
        self.waiting: list[ObjectChange] = []

    def commit(self, files: Mapping[str, str | None]) -> None:
        """Write files (None: delete them), and note what the bucket announces."""
        self.clock.advance(seconds=1)
        for path, text in files.items():
            if text is None:
                self.drop(path)
            else:
                self.put(path, text)
        self.waiting += self.events()

    def work_off(self) -> None:
        """Deliver what waits, and work off what follows."""
        self.deliver_all()
        self.embed()

    def deliver_all(self) -> None:
        """Deliver what waits in batches; who dies leaves the rest."""
        while self.waiting:
            some = self.waiting[:_BATCH]
            outcome = self.deliver(*some)
            assert not outcome.failed
            del self.waiting[: len(some)]

    def passages(self) -> Iterator[Passage]:
        """Yield every passage of the index."""
        for path, generation in list(self.text_index.generations(self.vault)):
            yield from self.text_index.passages(self.vault, path, generation)

    def texts_of_passages(self) -> Iterator[str]:
        """Yield what has to be embedded of the index as it is."""
        return map(embedded_text, self.passages())

    def is_as_made_anew(self) -> bool:
        """Tell whether the index equals one that was made of the files as they are."""
        anew = IndexWorld()
        anew.files, anew.clock, anew.directory = self.files, self.clock, self.directory
        anew.reconciled()
        points, wanted = (
            [(point[1], point[3]) for point in world.vectors.held(self.vault.tenant, user)]
            for world in (self, anew)
            for user in [self.directory.members(self.vault)[0][0]]
        )
        ours = contents(self.text_index, self.notes, self.vault)
        theirs = contents(anew.text_index, anew.notes, anew.vault)
        states, expected = (
            {
                entry.path: (entry.state, entry.sha256)
                for entry in world.catalogue.entries(self.vault)
            }
            for world in (self, anew)
        )
        return (ours, points, states) == (theirs, wanted, expected)

    def has(self, path: str) -> bool:
        """Tell whether the index holds a document."""
        return any(held == VaultPath(path) for held, _ in self.text_index.generations(self.vault))
