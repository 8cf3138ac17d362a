"""What is particular to the index of SQLite files: its cache, its conflicts, damage."""

import errno
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, suppress
from pathlib import Path
from threading import Lock

import pytest

from archivolt.adapters.sqlite.shard_cache import ShardCache
from archivolt.adapters.sqlite.shard_family import FAMILIES, NOTES, PASSAGES
from archivolt.adapters.sqlite.shard_reader import ShardReader
from archivolt.adapters.sqlite.text_index import SqliteTextIndex
from archivolt.domain.errors import ConflictError, UnavailableError
from archivolt.domain.ingestion import Generation, Passage
from archivolt.domain.limits import LEXICAL_SHARDS
from archivolt.domain.paths import VaultPath
from archivolt.ports.retrieval import DocumentUpdate, IndexedPassage
from archivolt.retrieval.analysis import query_terms, terms
from tests.builders import vault_ref
from tests.fakes.shards import InMemoryShards

VAULT = vault_ref()


@pytest.fixture
def shards() -> InMemoryShards:
    return InMemoryShards()


def an_index(shards: InMemoryShards, folder: Path, *, max_bytes: int = 10**8) -> SqliteTextIndex:
    cache = ShardCache(shards, folder, max_bytes=max_bytes)
    return SqliteTextIndex(shards, ShardReader(shards, cache))


def notes(count: int, *, text: str = "cat", generation: str = "1-a") -> list[DocumentUpdate]:
    passage = IndexedPassage(passage=Passage(number=0, text=text), terms=terms(text))
    return [
        DocumentUpdate(
            path=VaultPath(f"{number}.md"), generation=Generation(generation), passages=[passage]
        )
        for number in range(count)
    ]


def found(index: SqliteTextIndex, query: str = "cat") -> int:
    return len(index.search([VAULT], query_terms(query), limit=10_000))


def copies(folder: Path) -> list[Path]:
    return list(folder.glob("*/*"))


def test_documents_spread_over_every_shard() -> None:
    names = {PASSAGES.name_of(VaultPath(f"{number}.md")) for number in range(2_000)}
    assert len(names) == LEXICAL_SHARDS


def test_only_shards_that_changed_are_fetched_again(shards: InMemoryShards, tmp_path: Path) -> None:
    writer, reader = an_index(shards, tmp_path / "w"), an_index(shards, tmp_path / "r")
    writer.apply(VAULT, notes(300))
    assert found(reader) == 300
    shards.fetched = 0
    assert found(reader) == 300
    assert shards.fetched == 0
    writer.apply(VAULT, notes(1, text="dog", generation="2-b"))
    writer.remove_older(VAULT, {VaultPath("0.md"): Generation("2-b")})
    shards.fetched = 0
    assert found(reader) == 299
    assert found(reader, "dog") == 1
    assert shards.fetched == 1


@pytest.mark.parametrize("prefix", ["", "docs"])
@pytest.mark.parametrize("limit", [1, 7, 50])
def test_the_first_hits_are_those_of_the_whole_ranking(
    shards: InMemoryShards, tmp_path: Path, limit: int, prefix: str
) -> None:
    """Many documents have the same score, and each shard holds good ones and bad ones."""
    index = an_index(shards, tmp_path)
    updates: list[DocumentUpdate] = []
    for number in range(300):
        folder = "docs" if number % 3 else "docs-old"
        text = "cat " * (number % 7) + "dog " * (number % 5) + "heron " * (number % 4)
        passage = IndexedPassage(passage=Passage(number=0, text=text), terms=terms(text))
        path = VaultPath(f"{folder}/{number}.md")
        updates.append(DocumentUpdate(path=path, generation=Generation("1-a"), passages=[passage]))
    index.apply(VAULT, updates)
    asked = query_terms("cat dog")
    whole = index.search([VAULT], asked, limit=10_000, prefix=prefix)
    assert len(whole) > LEXICAL_SHARDS
    assert index.search([VAULT], asked, limit=limit, prefix=prefix) == whole[:limit]


def test_a_copy_that_was_replaced_is_removed(shards: InMemoryShards, tmp_path: Path) -> None:
    index = an_index(shards, tmp_path)
    for generation in ("1-a", "2-b", "3-c"):
        index.apply(VAULT, notes(1, generation=generation))
        index.remove_older(VAULT, {VaultPath("0.md"): Generation(generation)})
        assert found(index) == 1
    assert len(copies(tmp_path)) == 1


def test_the_copies_are_bounded(shards: InMemoryShards, tmp_path: Path) -> None:
    index = an_index(shards, tmp_path, max_bytes=200_000)
    index.apply(VAULT, notes(500))
    for _ in range(2):
        assert found(index) == 500
        assert sum(copy.stat().st_size for copy in copies(tmp_path)) <= 200_000


def test_copies_that_another_process_left_are_bounded_too(
    shards: InMemoryShards, tmp_path: Path
) -> None:
    wide = an_index(shards, tmp_path)
    wide.apply(VAULT, notes(300))
    assert found(wide) == 300
    bound = sum(file.stat().st_size for file in copies(tmp_path)) // 4
    assert found(an_index(shards, tmp_path, max_bytes=bound)) == 300
    assert 0 < sum(file.stat().st_size for file in copies(tmp_path)) <= bound


def test_copies_that_another_process_removed_are_fetched_again(
    shards: InMemoryShards, tmp_path: Path
) -> None:
    index = an_index(shards, tmp_path)
    index.apply(VAULT, notes(50))
    assert found(index) == 50
    for copy in copies(tmp_path):
        copy.unlink()
    assert found(index) == 50


def test_processes_share_the_copies(shards: InMemoryShards, tmp_path: Path) -> None:
    an_index(shards, tmp_path).apply(VAULT, notes(200))
    readers = [an_index(shards, tmp_path) for _ in range(6)]
    with ThreadPoolExecutor(len(readers)) as pool:
        assert list(pool.map(found, readers)) == [200] * len(readers)


def test_a_folder_that_cannot_be_written_is_said(shards: InMemoryShards, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")
    index = an_index(shards, tmp_path / "file")
    index.apply(VAULT, notes(1))
    with pytest.raises(UnavailableError):
        found(index)


def test_a_folder_that_was_full_serves_what_fits(shards: InMemoryShards, tmp_path: Path) -> None:
    other, names, one_write = vault_ref("v2"), ["a", "b", "c", "d"], Lock()
    for name in names:
        for vault in (VAULT, other):
            shards.put(vault, name, bytes(100), replacing=None)

    def write(file: Path, data: bytes) -> None:
        with one_write:
            room = 600 - sum(copy.stat().st_size for copy in copies(tmp_path))
            file.write_bytes(data[:room])
            if room < len(data):
                raise OSError(errno.ENOSPC, "no room")

    cache = ShardCache(shards, tmp_path, max_bytes=400, write=write)
    reader = ShardReader(shards, cache)
    for _ in range(2):
        for vault in (VAULT, other):
            with reader.session([vault], names) as session:
                assert len(session.shards) == 4
        with suppress(UnavailableError), reader.session([VAULT, other], names):
            pass
        assert not list(tmp_path.glob("*/tmp*"))


def test_many_writers_at_once_lose_nothing(shards: InMemoryShards, tmp_path: Path) -> None:
    def write(start: int) -> None:
        an_index(shards, tmp_path / str(start)).apply(VAULT, notes(300)[start::6])

    with ThreadPoolExecutor(6) as pool:
        list(pool.map(write, range(6)))
    assert found(an_index(shards, tmp_path)) == 300


class AlwaysFaster(InMemoryShards):
    """A store at which another writer is always faster."""

    def put(self, *args: object, **kwargs: object) -> None:
        raise ConflictError("conflict")


def test_a_writer_that_never_comes_through_gives_up(tmp_path: Path) -> None:
    with pytest.raises(UnavailableError):
        an_index(AlwaysFaster(), tmp_path).apply(VAULT, notes(1))


@pytest.mark.parametrize("damage", [b"no database", b"", b"SQLite format 3\0" + bytes(84)])
def test_a_damaged_shard_is_left_out_and_made_anew(
    shards: InMemoryShards, tmp_path: Path, damage: bytes
) -> None:
    index = an_index(shards, tmp_path)
    index.apply(VAULT, notes(100))
    broken = PASSAGES.name_of(VaultPath("0.md"))
    shards.put(VAULT, broken, damage, replacing=shards.get(VAULT, broken))
    assert 0 < found(index) < 100
    assert index.passages(VAULT, VaultPath("0.md"), Generation("1-a")) == []
    index.apply(VAULT, notes(100))
    assert found(index) == 100


def test_a_removed_text_is_not_left_in_the_file(shards: InMemoryShards, tmp_path: Path) -> None:
    index = an_index(shards, tmp_path)
    (secret,) = notes(1, text="xylophone " * 50)
    index.apply(VAULT, [secret, *notes(100, generation="0-a")[1:]])
    index.apply(VAULT, [DocumentUpdate(path=secret.path, generation=Generation("2"), removed=True)])
    for family in FAMILIES:
        held = shards.get(VAULT, family.name_of(secret.path))
        assert held is not None
        assert b"xylophon" not in held.data


def test_files_of_another_format_are_not_read(shards: InMemoryShards, tmp_path: Path) -> None:
    shards.put(VAULT, "v0-00", b"older", replacing=None)
    index = an_index(shards, tmp_path)
    index.apply(VAULT, notes(3))
    assert found(index) == 3
    assert len(list(index.generations(VAULT))) == 3


def test_a_document_whose_halves_differ_is_told_as_nobodys(
    shards: InMemoryShards, tmp_path: Path
) -> None:
    index = an_index(shards, tmp_path)
    index.apply(VAULT, notes(2))
    (half,) = notes(1, generation="2-b")
    with closing(NOTES.opened(shards.get(VAULT, NOTES.name_of(half.path)))) as connection:
        NOTES.write(connection, [half])
        data = connection.serialize()
    name = NOTES.name_of(half.path)
    shards.put(VAULT, name, data, replacing=shards.get(VAULT, name))
    told = dict(index.generations(VAULT))
    assert told[VaultPath("1.md")] == "1-a"
    assert told[half.path] < "1-a"
    assert index.holds(VAULT, half.path, Generation("1-a")) is None
    assert index.holds(VAULT, half.path, Generation("2-b")) is None
    index.apply(VAULT, [half])
    assert index.holds(VAULT, half.path, Generation("2-b")) == 1


def test_a_change_writes_one_shard_of_each_kind(shards: InMemoryShards, tmp_path: Path) -> None:
    index = an_index(shards, tmp_path)
    index.apply(VAULT, notes(2_000))
    before = dict(shards.etags(VAULT))
    index.apply(VAULT, notes(1, text="dog", generation="2-b"))
    changed = {name for name, etag in shards.etags(VAULT).items() if before[name] != etag}
    assert changed == {family.name_of(VaultPath("0.md")) for family in FAMILIES}
    sizes = {name: len(shard.data) for name in before if (shard := shards.get(VAULT, name))}
    assert sum(sizes[name] for name in changed) < sum(sizes.values()) * 0.02
