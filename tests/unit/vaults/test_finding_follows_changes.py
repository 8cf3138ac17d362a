"""Whatever happens to files: once its events are through, what finds them says what they say."""

import tempfile
from collections import Counter
from collections.abc import Callable, Generator
from contextlib import AbstractContextManager, contextmanager
from datetime import datetime
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from archivolt.adapters.re2.patterns import Re2Patterns
from archivolt.adapters.sqlite.note_index import SqliteNoteIndex
from archivolt.adapters.sqlite.shard_cache import ShardCache
from archivolt.adapters.sqlite.shard_reader import ShardReader
from archivolt.adapters.sqlite.text_index import SqliteTextIndex
from archivolt.domain.language import Language
from archivolt.domain.link_resolution import resolve_link
from archivolt.domain.note_links import links_in
from archivolt.domain.paths import VaultPath
from archivolt.domain.vault import VaultAccess
from archivolt.ingestion.tags import tags_of
from archivolt.ports.notes import NoteIndex, RecentBy
from archivolt.vaults.advanced_search import AdvancedQuery
from archivolt.vaults.finding import Finding
from archivolt.vaults.graph import GraphQuery, NodeKind
from tests.builders import ACME, ALICE
from tests.fakes.shards import InMemoryShards
from tests.index_world import IndexWorld

PATHS = ["a.md", "b.md", "dir/a.md", "dir/É.md", "dir/sub/b.md", "photo.png"]
PIECES = [
    *("apple", "[[a]]", "[[dir/a|other]]", "[b](b.md)", "[up](../b.md#x)", "![[photo.png]]"),
    *("[[é]]", "[[missing]]", "#x", "#x/y", "`[[a]]`", "[[b#part]]"),
]
contents = st.lists(st.sampled_from(PIECES), max_size=4).map("\n".join)
changes = st.lists(st.tuples(st.sampled_from(PATHS), st.none() | contents), max_size=12)

Index = tuple[IndexWorld, NoteIndex]


@contextmanager
def in_memory() -> Generator[Index, None, None]:
    world = IndexWorld()
    yield world, world.notes


@contextmanager
def in_sqlite() -> Generator[Index, None, None]:
    world = IndexWorld()
    shards = InMemoryShards()
    with tempfile.TemporaryDirectory() as folder:
        reader = ShardReader(shards, ShardCache(shards, Path(folder), max_bytes=10**8))
        world.text_index = SqliteTextIndex(shards, reader)  # pyright: ignore[reportAttributeAccessIssue]
        yield world, SqliteNoteIndex(reader, Re2Patterns, world.clock)
        reader.forget(world.vault)


def follow(world: IndexWorld, path: str, content: str | None) -> None:
    """Make one change and let its event through."""
    held = world.files.stored(world.vault, VaultPath(path))
    if content is not None:
        world.settle(world.write(path, content))
    elif held and held[-1].data is not None:
        world.settle(world.delete(path))


def texts_of(world: IndexWorld) -> dict[VaultPath, str]:
    """Return the text of every file; of an image none."""
    listed = world.files.list(world.vault, VaultPath(""), recursive=True, limit=100).files
    return {
        file.path: ""
        if file.path.endswith(".png")
        else world.files.read(world.vault, file.path).data.decode()
        for file in listed
    }


def written_at(world: IndexWorld, path: VaultPath) -> datetime:
    """Return when a file was written last, be it with the bytes that it had."""
    return world.files.stored(world.vault, path)[-1].info.modified


def missing(target: str) -> str:
    """Return what is the same for every way to write a name that no file has."""
    return target.casefold().removesuffix(".md")


def expected_edges(texts: dict[VaultPath, str]) -> Counter[tuple[str, str]]:
    """Return how many links lead from which file to which other, or to what is missing."""
    edges: Counter[tuple[str, str]] = Counter()
    for source, text in texts.items():
        for link in links_in(text):
            target = resolve_link(link.target, source, texts) or missing(link.target)
            if target != source:
                edges[source, target] += 1
    return edges


@pytest.mark.parametrize("index", [in_memory, in_sqlite])
@settings(max_examples=12, deadline=None)
@given(changes=changes)
def test_what_is_found_is_what_the_files_say(
    index: Callable[[], AbstractContextManager[Index]],
    changes: list[tuple[str, str | None]],
) -> None:
    with index() as (world, notes):
        for path, content in changes:
            follow(world, path, content)
        finding = Finding(
            notes=notes,
            text_index=world.text_index,
            catalogue=world.catalogue,
            files=world.files,
            patterns=Re2Patterns(),
            clock=world.clock,
        )
        access = world.directory.access(ACME, ALICE, "notes")
        texts = texts_of(world)

        assert_searches(finding, access, texts)
        assert_links(finding, access, texts)
        newest = finding.recent.recent([access], by=RecentBy.MODIFIED, language=Language.EN)
        moments = {path: written_at(world, path) for path in texts}
        assert [file.path for file in newest.files] == sorted(
            texts, key=lambda path: moments[path], reverse=True
        )


def assert_searches(finding: Finding, access: VaultAccess, texts: dict[VaultPath, str]) -> None:
    def found(q: str) -> list[str]:
        return [
            h.path for h in finding.advanced.search([access], AdvancedQuery(q=q, sort="path")).hits
        ]

    assert found("") == sorted(texts)
    assert found("APPLE") == sorted(path for path, text in texts.items() if "apple" in text)
    tags = {tag.name: tag.documents for tag in finding.tags.tags([access]) if tag.documents}
    assert tags == Counter(tag for text in texts.values() for tag in tags_of(text))
    by_path = finding.paths.search([access], "e.md").found
    assert [place.path for place in by_path] == [path for path in texts if path == "dir/É.md"]


def assert_links(finding: Finding, access: VaultAccess, texts: dict[VaultPath, str]) -> None:
    edges = expected_edges(texts)
    graph = finding.graph.graph(access, GraphQuery(limit=100))
    lacking = {node.path for node in graph.nodes if node.kind is NodeKind.MISSING}
    assert edges == {
        (e.source, missing(e.target) if e.target in lacking else e.target): e.links
        for e in graph.edges
    }
    for path in texts:
        back = finding.backlinks.backlinks(access, path)
        links = {note.path: len(note.links) for note in back.notes}
        assert links == {source: n for (source, target), n in edges.items() if target == path}
