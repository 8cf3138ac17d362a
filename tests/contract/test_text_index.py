"""What every lexical index promises, and every store of its files."""

import unicodedata
from datetime import UTC, datetime
from functools import partial
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from archivolt.adapters.s3.shards import S3Shards
from archivolt.adapters.sqlite.shard_cache import ShardCache
from archivolt.adapters.sqlite.shard_reader import ShardReader
from archivolt.adapters.sqlite.text_index import SqliteTextIndex
from archivolt.domain.errors import ConflictError
from archivolt.domain.ingestion import Generation, Passage
from archivolt.domain.paths import VaultPath
from archivolt.ports.retrieval import (
    DocumentUpdate,
    IndexedPassage,
    Rewritten,
    ShardStore,
    TextIndex,
)
from archivolt.retrieval.analysis import query_terms, terms
from tests.builders import GLOBEX, vault_ref
from tests.fakes.shards import InMemoryShards
from tests.fakes.text_index import InMemoryTextIndex

VAULT = vault_ref()
OTHER_VAULT = vault_ref("v2")
OTHER_TENANT = vault_ref(tenant=GLOBEX)

BUCKET = "documents"


@pytest.fixture(params=["fake", "moto"])
def shards(request: pytest.FixtureRequest) -> ShardStore:
    if request.param == "fake":
        return InMemoryShards()
    client = request.getfixturevalue("moto_s3")
    client.create_bucket(
        Bucket=BUCKET, CreateBucketConfiguration={"LocationConstraint": "eu-west-1"}
    )
    client.put_bucket_versioning(Bucket=BUCKET, VersioningConfiguration={"Status": "Enabled"})
    return S3Shards(client, BUCKET)


@pytest.fixture(params=["fake", "sqlite"])
def index(request: pytest.FixtureRequest, tmp_path: Path) -> TextIndex:
    return InMemoryTextIndex() if request.param == "fake" else sqlite_index(tmp_path)


def sqlite_index(
    folder: Path, shards: ShardStore | None = None, *, max_bytes: int = 10**8
) -> SqliteTextIndex:
    shards = shards or InMemoryShards()
    cache = ShardCache(shards, folder / "shards", max_bytes=max_bytes)
    return SqliteTextIndex(shards, ShardReader(shards, cache))


def document(path: str, *texts: str, generation: str = "1-a") -> DocumentUpdate:
    return DocumentUpdate(
        path=VaultPath(path),
        generation=Generation(generation),
        passages=[
            IndexedPassage(
                passage=Passage(number=number, text=text, headings=("Été", "B"), page=2, line=7),
                terms=terms(text),
            )
            for number, text in enumerate(texts)
        ],
    )


def removal(path: str, *, generation: str = "2-b") -> DocumentUpdate:
    return DocumentUpdate(path=VaultPath(path), generation=Generation(generation), removed=True)


def found(index: TextIndex, query: str, *, prefix: str = "") -> list[str]:
    hits = index.search([VAULT], query_terms(query), limit=10, prefix=prefix)
    return [hit.path for hit in hits]


class TestEveryIndex:
    def test_a_document_is_found_by_its_words(self, index: TextIndex) -> None:
        index.apply(VAULT, [document("a.md", "the cat sleeps"), document("b.md", "a dog barks")])
        (hit,) = index.search([VAULT], query_terms("cats"), limit=10)
        assert (hit.vault, hit.path, hit.generation) == (VAULT, "a.md", "1-a")
        assert hit.passage == Passage(
            number=0, text="the cat sleeps", headings=("Été", "B"), page=2, line=7
        )
        assert hit.score > 0

    def test_nothing_is_found_where_nothing_is(self, index: TextIndex) -> None:
        assert found(index, "cat") == []
        index.apply(VAULT, [document("a.md", "cat")])
        assert index.search([], query_terms("cat"), limit=10) == []
        assert index.search([VAULT], [], limit=10) == []
        assert index.search([VAULT], [[]], limit=10) == []
        assert found(index, "dog") == []

    def test_vaults_and_tenants_are_apart(self, index: TextIndex) -> None:
        index.apply(VAULT, [document("a.md", "cat")])
        for other in (OTHER_VAULT, OTHER_TENANT):
            assert index.search([other], query_terms("cat"), limit=10) == []
            assert index.passages(other, VaultPath("a.md"), Generation("1-a")) == []

    def test_several_vaults_are_searched_as_one(self, index: TextIndex) -> None:
        index.apply(VAULT, [document("a.md", "cat and more words than that")])
        index.apply(OTHER_VAULT, [document("a.md", "cat"), document("b.md", "dog")])
        hits = index.search([VAULT, OTHER_VAULT], query_terms("cat"), limit=10)
        assert [hit.vault for hit in hits] == [OTHER_VAULT, VAULT]

    def test_a_rare_word_counts_more_than_a_frequent_one(self, index: TextIndex) -> None:
        index.apply(VAULT, [document(f"{n}.md", "cat dog") for n in range(9)])
        index.apply(VAULT, [document("z.md", "cat heron")])
        assert found(index, "dog heron")[0] == "z.md"

    def test_alternatives_count_as_one_word(self, index: TextIndex) -> None:
        index.apply(VAULT, [document("one.md", "x y"), document("two.md", "x z")])
        as_one = index.search([VAULT], [["x", "y"]], limit=10)
        assert [hit.path for hit in as_one] == ["one.md", "two.md"]
        apart = index.search([VAULT], [["x"], ["y"]], limit=10)
        assert as_one[0].score < apart[0].score

    def test_older_passages_stand_until_they_are_removed(self, index: TextIndex) -> None:
        path, old, new = VaultPath("a.md"), Generation("1-a"), Generation("2-b")
        index.apply(VAULT, [document("a.md", "cat", generation="1-a")])
        index.apply(VAULT, [document("a.md", "dog cat", generation="2-b")])
        hits = index.search([VAULT], query_terms("cat"), limit=10)
        assert sorted(hit.generation for hit in hits) == [old, new]
        assert sorted(index.generations(VAULT)) == [(path, old), (path, new)]
        assert index.holds(VAULT, path, old) is None
        assert index.holds(VAULT, path, new) == 1
        assert index.passages(VAULT, path, old)[0].text == "cat"
        index.remove_older(VAULT, {path: old, VaultPath("none.md"): new})
        assert len(list(index.generations(VAULT))) == 2
        for _ in range(2):
            index.remove_older(VAULT, {path: new})
            assert list(index.generations(VAULT)) == [(path, new)]
            assert index.passages(VAULT, path, old) == []
            assert found(index, "cat") == ["a.md"]

    def test_a_new_generation_without_passages_takes_the_old_out(self, index: TextIndex) -> None:
        index.apply(VAULT, [document("a.md", "cat", generation="1-a")])
        index.apply(VAULT, [document("a.md", generation="2-b")])
        assert found(index, "cat") == []
        assert list(index.generations(VAULT)) == [("a.md", "2-b")]
        assert index.holds(VAULT, VaultPath("a.md"), Generation("2-b")) == 0

    def test_a_new_generation_replaces_the_old(self, index: TextIndex) -> None:
        index.apply(VAULT, [document("a.md", "cat", "cat too", generation="1-a")])
        index.apply(VAULT, [document("a.md", "dog", generation="2-b")])
        index.remove_older(VAULT, {VaultPath("a.md"): Generation("2-b")})
        assert found(index, "cat") == []
        assert found(index, "dog") == ["a.md"]
        assert index.passages(VAULT, VaultPath("a.md"), Generation("1-a")) == []
        assert list(index.generations(VAULT)) == [("a.md", "2-b")]

    def test_a_writer_that_was_overtaken_changes_nothing(self, index: TextIndex) -> None:
        newer = document("a.md", "dog", generation="2-b")
        assert not index.apply(VAULT, [newer])
        late = [document("a.md", "cat", generation="1-a"), document("b.md", "dog")]
        assert set(index.apply(VAULT, late)) == {"a.md"}
        for each in (document("a.md", generation="1-c"), removal("a.md", generation="1-d")):
            assert set(index.apply(VAULT, [each])) == {"a.md"}
        assert not index.apply(VAULT, [newer, removal("none.md", generation="1-d")])
        assert sorted(found(index, "dog")) == ["a.md", "b.md"]
        assert found(index, "cat") == []

    def test_the_newest_of_a_batch_stays(self, index: TextIndex) -> None:
        newest = document("a.md", "dog", generation="2-b")
        index.apply(VAULT, [newest, document("a.md", "cat", generation="1-a")])
        assert found(index, "dog cat") == ["a.md"]
        assert list(index.generations(VAULT)) == [("a.md", "2-b")]

    def test_a_document_is_removed_with_all_its_generations(self, index: TextIndex) -> None:
        index.apply(VAULT, [document("a.md", "cat"), document("b.md", "cat")])
        index.apply(VAULT, [document("a.md", "cat", generation="2-b")])
        index.apply(VAULT, [removal("a.md", generation="3-c"), removal("none.md")])
        assert found(index, "cat") == ["b.md"]
        assert list(index.generations(VAULT)) == [("b.md", "1-a")]

    def test_applying_again_changes_nothing(self, index: TextIndex) -> None:
        for _ in range(2):
            index.apply(VAULT, [document("a.md", "cat"), document("b.md", "cat dog")])
        assert found(index, "cat") == ["a.md", "b.md"]
        index.apply(VAULT, [])
        assert found(index, "dog") == ["b.md"]

    def test_a_prefix_is_a_directory_or_a_file(self, index: TextIndex) -> None:
        paths = ["a/x.md", "a/b/y.md", "ab/z.md", "a.md", "a/x.md.bak"]
        index.apply(VAULT, [document(path, "cat") for path in paths])
        assert sorted(found(index, "cat", prefix="a")) == ["a/b/y.md", "a/x.md", "a/x.md.bak"]
        assert found(index, "cat", prefix="a/x.md") == ["a/x.md"]
        assert len(found(index, "cat")) == len(paths)

    def test_only_the_documents_named_are_found_each_in_its_vault(self, index: TextIndex) -> None:
        paths = [VaultPath(f"d/{number}.md") for number in range(60)]
        for vault in (VAULT, OTHER_VAULT):
            index.apply(vault, [document(path, "cat") for path in paths])
        within = {VAULT: set(paths[3:5]), OTHER_VAULT: {paths[7], VaultPath("absent.md")}}
        ask = partial(index.search, [VAULT, OTHER_VAULT], query_terms("cat"), limit=10)
        hits = [(hit.vault.id, hit.path) for hit in ask(within=within)]
        assert sorted(hits) == [("v1", paths[3]), ("v1", paths[4]), ("v2", paths[7])]
        assert [hit.path for hit in ask(within=within, prefix=paths[4])] == [paths[4]]
        assert ask(within={}) == ask(within={VAULT: []}) == []

    @pytest.mark.parametrize(
        "name",
        [
            "[[.md",
            "%.md",
            "clang++.md",
            "Été 2026/à+b (1).md",
            "'; DROP TABLE x.md",
            "日本語.md",
            "?",
        ],
    )
    def test_odd_names_are_kept_as_they_are(self, index: TextIndex, name: str) -> None:
        index.apply(VAULT, [document(name, "cat")])
        assert found(index, "cat") == [name]
        assert found(index, "cat", prefix=name) == [name]
        only = {VAULT: [VaultPath(name)]}
        assert len(index.search([VAULT], query_terms("cat"), limit=10, within=only)) == 1
        assert index.passages(VAULT, VaultPath(name), Generation("1-a"))[0].text == "cat"
        index.apply(VAULT, [removal(name)])
        assert found(index, "cat") == []

    @pytest.mark.parametrize("query", ["Привет", "東京", "créer", "creer", "CRÉER"])
    def test_every_script_and_normal_form_is_found(self, index: TextIndex, query: str) -> None:
        index.apply(VAULT, [document("a.md", "привет, мир; 東京都; pour créer une page")])
        for form in ("NFC", "NFD"):
            assert found(index, unicodedata.normalize(form, query)) == ["a.md"]

    def test_the_last_word_of_a_long_note_is_found(self, index: TextIndex) -> None:
        paragraphs = [f"filler words number {n} " * 40 for n in range(1_000)]
        index.apply(VAULT, [document("long.md", *paragraphs, "and then quixotic")])
        (hit,) = index.search([VAULT], query_terms("quixotic"), limit=10)
        assert hit.passage.number == 1_000

    def test_passages_come_in_order(self, index: TextIndex) -> None:
        index.apply(VAULT, [document("a.md", *(f"text {n}" for n in range(12)))])
        held = index.passages(VAULT, VaultPath("a.md"), Generation("1-a"))
        assert [passage.text for passage in held] == [f"text {n}" for n in range(12)]

    def test_a_dropped_vault_is_forgotten_and_the_others_are_not(self, index: TextIndex) -> None:
        index.apply(VAULT, [document("a.md", "cat")])
        index.apply(OTHER_VAULT, [document("b.md", "cat")])
        index.drop(VAULT)
        index.drop(VAULT)
        assert found(index, "cat") == []
        assert [hit.path for hit in index.search([OTHER_VAULT], query_terms("cat"), limit=10)] == [
            "b.md"
        ]

    def test_what_is_written_again_as_it_was_stays_found_and_of_others_nothing_changes(
        self, index: TextIndex
    ) -> None:
        index.apply(VAULT, [document("a.md", "llamas"), document("b.md", "llamas")])
        later = datetime(2026, 1, 2, tzinfo=UTC)
        moments = {
            VaultPath("a.md"): Rewritten(
                generation=Generation("1-a"), created=later, modified=later
            ),
            VaultPath("b.md"): Rewritten(
                generation=Generation("0-other"), created=later, modified=later
            ),
            VaultPath("c.md"): Rewritten(
                generation=Generation("1-a"), created=later, modified=later
            ),
        }
        index.touch(VAULT, moments)
        index.touch(VAULT, moments)
        assert found(index, "llamas") == ["a.md", "b.md"]
        assert newest(index) == {"a.md": "1-a", "b.md": "1-a"}

    def test_the_limit_takes_the_best(self, index: TextIndex) -> None:
        index.apply(VAULT, [document(f"{n}.md", "cat " * n + "dog " * 20) for n in range(1, 20)])
        hits = index.search([VAULT], query_terms("cat"), limit=3)
        assert [hit.path for hit in hits] == ["19.md", "18.md", "17.md"]


_TEXTS = st.lists(
    st.sampled_from(["cat", "dog", "heron", "créer", "привет", "東京", "useState"]), max_size=5
).map(" ".join)


@st.composite
def meetings(draw: st.DrawFn) -> list[list[list[DocumentUpdate]]]:
    """Two batches a meeting; every update has a generation of its own."""
    one_document = st.tuples(st.sampled_from("abcdef"), st.lists(_TEXTS, max_size=3))
    batches = draw(st.lists(st.lists(one_document, max_size=8), max_size=8))
    order = draw(st.permutations(range(sum(map(len, batches)))))
    numbers = iter(order)
    written = [
        [
            document(f"{path}.md", *texts, generation=f"{next(numbers):02d}-a")
            if texts
            else removal(f"{path}.md", generation=f"{next(numbers):02d}-a")
            for path, texts in one
        ]
        for one in batches
    ]
    return [written[at : at + 2] for at in range(0, len(written) - 1, 2)]


@given(meetings())
@settings(max_examples=30, deadline=None)
def test_whatever_two_writers_do_the_index_is_that_of_what_they_left(
    tmp_path_factory: pytest.TempPathFactory, meetings: list[list[list[DocumentUpdate]]]
) -> None:
    """The second writer comes between the first one's read and write."""
    shards = InMemoryShards()
    first, second = (sqlite_index(tmp_path_factory.mktemp("cache"), shards) for _ in range(2))
    left: dict[str, DocumentUpdate] = {}
    for ours, theirs in meetings:
        shards.between = partial(second.apply, VAULT, theirs)
        first.apply(VAULT, ours)
        if shards.between:  # we wrote nothing that they could have met
            shards.between = None
            second.apply(VAULT, theirs)
        held = newest(first)
        first.remove_older(VAULT, held)
        # A removal leaves no trace that an older update would meet: it may come back by half.
        halves = {path for path, generation in held.items() if generation.endswith("unequal")}
        first.apply(VAULT, [removal(path, generation="99-z") for path in halves])
        held = newest(first)
        one_way, other_way = after(left, [*theirs, *ours]), after(left, [*ours, *theirs])
        left = {}
        for path in {*one_way, *other_way, *held}:
            options = {o[path].generation: o[path] for o in (one_way, other_way) if path in o}
            # Where the order decides what is left, passages and note may have met in either.
            differs = one_way.get(path) != other_way.get(path)
            assert differs or path not in halves
            assert held[VaultPath(path)] in options if path in held else differs
            if path in held:
                left[path] = options[held[VaultPath(path)]]
    rebuilt = InMemoryTextIndex()
    rebuilt.apply(VAULT, list(left.values()))
    for query in ("cat dog", "heron", "creer", "東京", "useState привет"):
        assert ranked(first, query) == ranked(rebuilt, query) == ranked(second, query)


def after(
    left: dict[str, DocumentUpdate], updates: list[DocumentUpdate]
) -> dict[str, DocumentUpdate]:
    kept = dict(left)
    for update in updates:
        if update.path not in kept or kept[update.path].generation <= update.generation:
            kept[update.path] = update
            if not update.passages:
                del kept[update.path]
    return kept


def newest(index: TextIndex) -> dict[VaultPath, Generation]:
    return dict(sorted(index.generations(VAULT)))


def ranked(index: TextIndex, query: str) -> list[tuple[float, str, str, int]]:
    hits = index.search([VAULT], query_terms(query), limit=1_000)
    return sorted((round(h.score, 9), h.path, h.generation, h.passage.number) for h in hits)


class TestEveryShardStore:
    def test_a_file_is_created_read_replaced_and_dropped(self, shards: ShardStore) -> None:
        assert shards.get(VAULT, "v1-07") is None
        assert shards.etags(VAULT) == {}
        shards.put(VAULT, "v1-07", b"one", replacing=None)
        held = shards.get(VAULT, "v1-07")
        assert held is not None
        shards.put(VAULT, "v1-07", b"two", replacing=held)
        shards.put(VAULT, "v1-08", b"one", replacing=None)
        present = {name: shards.get(VAULT, name) for name in ("v1-07", "v1-08")}
        assert {name: shard and shard.data for name, shard in present.items()} == {
            "v1-07": b"two",
            "v1-08": b"one",
        }
        assert shards.etags(VAULT) == {
            name: shard and shard.etag for name, shard in present.items()
        }
        assert shards.etags(OTHER_VAULT) == {}
        shards.drop(VAULT)
        shards.drop(VAULT)
        assert shards.etags(VAULT) == {}
        assert shards.get(VAULT, "v1-07") is None

    def test_shards_of_earlier_formats_go_and_no_others(
        self, shards: ShardStore, tmp_path: Path
    ) -> None:
        names = ["v1-00", "v2-63", "v3-00", "n0-07", "n1-00", "v4-01", "v10-01", "v2", "x-v2-00"]
        for name in names:
            shards.put(VAULT, name, b"x", replacing=None)
        shards.put(OTHER_VAULT, "v2-00", b"x", replacing=None)
        cache = ShardCache(shards, tmp_path, max_bytes=1_000_000)
        index = SqliteTextIndex(shards, ShardReader(shards, cache))
        index.remove_former(VAULT)
        index.remove_former(VAULT)
        gone = {"v1-00", "v2-63", "n0-07"}
        assert set(shards.etags(VAULT)) == set(names) - gone
        assert set(shards.etags(OTHER_VAULT)) == {"v2-00"}

    def test_a_write_over_what_was_not_read_is_refused(self, shards: ShardStore) -> None:
        shards.put(VAULT, "v1-07", b"one", replacing=None)
        held = shards.get(VAULT, "v1-07")
        with pytest.raises(ConflictError):
            shards.put(VAULT, "v1-07", b"two", replacing=None)
        shards.put(VAULT, "v1-07", b"two", replacing=held)
        with pytest.raises(ConflictError):
            shards.put(VAULT, "v1-07", b"three", replacing=held)
        present = shards.get(VAULT, "v1-07")
        shards.drop(VAULT)
        with pytest.raises(ConflictError):
            shards.put(VAULT, "v1-07", b"four", replacing=present)

    def test_an_index_lives_in_it(self, shards: ShardStore, tmp_path: Path) -> None:
        index = sqlite_index(tmp_path, shards)
        index.apply(VAULT, [document("a.md", "cat")])
        index.apply(VAULT, [document("a.md", "dog", generation="2-b")])
        index.remove_older(VAULT, {VaultPath("a.md"): Generation("2-b")})
        assert found(index, "dog cat") == ["a.md"]
        index.drop(VAULT)
        assert found(index, "dog") == []
