"""What every vector store promises, on the fake and on the embedded Qdrant behind its façade."""

import math
from collections.abc import Iterator
from dataclasses import replace
from functools import partial

import httpx2
import pytest

from archivolt.adapters.qdrant import vectors
from archivolt.adapters.qdrant.rest import QdrantRest
from archivolt.adapters.qdrant.vectors import QdrantVectors
from archivolt.domain.errors import UnavailableError
from archivolt.domain.identity import UserId
from archivolt.domain.ingestion import Generation, Passage
from archivolt.domain.paths import VaultPath
from archivolt.domain.vault import VaultRef
from archivolt.ports.retrieval import Candidate, EmbeddedDocument, VectorStore
from tests.builders import ACME, ALICE, BOB, GLOBEX, vault_ref
from tests.contract.conftest import VECTORS_KEY
from tests.fakes.vectors import InMemoryVectors

DIMENSION = 3
VAULT = vault_ref("v1")
OLD, NEW = Generation("1790000000000001-aa"), Generation("1790000000000002-bb")


@pytest.fixture
def rest(vector_facade: str) -> Iterator[QdrantRest]:
    rest = QdrantRest(vector_facade, VECTORS_KEY)
    yield rest
    rest.close()


@pytest.fixture(params=["fake", "qdrant"])
def store(request: pytest.FixtureRequest) -> VectorStore:
    if request.param == "fake":
        return InMemoryVectors()
    rest: QdrantRest = request.getfixturevalue("rest")
    return QdrantVectors(rest, model="toy/1", dimension=DIMENSION)


@pytest.fixture(params=["fake", "qdrant"])
def succession(request: pytest.FixtureRequest) -> tuple[VectorStore, VectorStore]:
    """Return the store of a model in use and that of the model before it."""
    if request.param == "fake":
        before = InMemoryVectors()
        return InMemoryVectors(former=before), before
    rest: QdrantRest = request.getfixturevalue("rest")
    former = QdrantVectors(rest, model="toy/0", dimension=DIMENSION)
    return QdrantVectors(rest, model="toy/1", dimension=DIMENSION, former=former), former


def vector(angle: float) -> list[float]:
    return [math.cos(math.radians(angle)), math.sin(math.radians(angle)), 0.0]


def document(path: str, *angles: float, generation: Generation = NEW) -> EmbeddedDocument:
    return EmbeddedDocument(
        path=VaultPath(path),
        generation=generation,
        passages=[
            Passage(number=n, text=f"text {n}", headings=("Top", "Été"), page=n or None, line=n)
            for n in range(len(angles))
        ],
        vectors=[vector(angle) for angle in angles],
    )


def search(
    store: VectorStore,
    *vaults: VaultRef,
    user: UserId = ALICE,
    angle: float = 0,
    limit: int = 10,
    prefix: str = "",
) -> list[Candidate]:
    return store.search(
        ACME, user, list(vaults) or [VAULT], vector(angle), limit=limit, prefix=prefix
    )


def paths(candidates: list[Candidate]) -> list[str]:
    return [candidate.path for candidate in candidates]


def test_the_nearest_passages_come_first_with_their_cosine(store: VectorStore) -> None:
    store.upsert([ALICE], VAULT, document("a.md", 80, 20, 50))
    found = search(store)
    assert [candidate.passage.number for candidate in found] == [1, 2, 0]
    assert found[0].score == pytest.approx(math.cos(math.radians(20)), abs=1e-3)


def test_a_passage_comes_back_as_it_was(store: VectorStore) -> None:
    given = document("Été 2026/à+b (1).md", 0, 10)
    store.upsert([ALICE], VAULT, given)
    found = search(store)
    assert [candidate.passage for candidate in found] == list(given.passages)
    assert {(c.vault, c.path, c.generation) for c in found} == {(VAULT, given.path, NEW)}


def test_what_a_collection_does_not_hold_is_told(store: VectorStore) -> None:
    store.upsert([ALICE], VAULT, document("Été/a.md", 0, 10))
    store.upsert([ALICE], vault_ref("v2"), document("a.md", 20))
    store.upsert([ALICE], VAULT, document("b.md", 30, generation=OLD))
    every = search(store, VAULT, vault_ref("v2"))
    assert len(every) == 4
    newer = [replace(each, generation=NEW) for each in every if each.path == "b.md"]

    assert store.lacks(ACME, ALICE, [*every, *newer]) == newer
    assert store.lacks(ACME, BOB, every) == every
    assert store.lacks(GLOBEX, ALICE, every) == every
    assert store.lacks(ACME, ALICE, []) == []


def test_no_vaults_mean_no_candidates(store: VectorStore) -> None:
    store.upsert([ALICE], VAULT, document("a.md", 0))
    assert store.search(ACME, ALICE, [], vector(0), limit=10) == []


def test_only_the_named_vaults_are_searched(store: VectorStore) -> None:
    other = vault_ref("v2")
    store.upsert([ALICE], VAULT, document("a.md", 0))
    store.upsert([ALICE], other, document("b.md", 10))
    assert paths(search(store, VAULT)) == ["a.md"]
    assert paths(search(store, other)) == ["b.md"]
    assert paths(search(store, VAULT, other)) == ["a.md", "b.md"]


def test_every_user_has_a_collection_of_their_own(store: VectorStore) -> None:
    store.upsert([ALICE], VAULT, document("a.md", 0))
    assert search(store, user=BOB) == []
    store.upsert([ALICE, BOB], VAULT, document("b.md", 10))
    assert paths(search(store, user=BOB)) == ["b.md"]


def test_a_namesake_of_another_tenant_has_another_collection(store: VectorStore) -> None:
    store.upsert([ALICE], VAULT, document("a.md", 0))
    foreign = vault_ref("v1", tenant=GLOBEX)
    assert store.search(GLOBEX, ALICE, [foreign], vector(0), limit=10) == []
    assert store.search(GLOBEX, ALICE, [VAULT], vector(0), limit=10) == []


def test_writing_twice_is_writing_once(store: VectorStore) -> None:
    for _ in range(2):
        store.upsert([ALICE], VAULT, document("a.md", 0, 10))
    assert len(search(store)) == 2


def test_a_document_of_many_passages_is_whole(store: VectorStore) -> None:
    store.upsert([ALICE], VAULT, document("a.md", *(n / 10 for n in range(230))))
    assert len(search(store, limit=1000)) == 230
    assert len(search(store, limit=7)) == 7


def test_older_generations_go_and_the_current_one_stays(store: VectorStore) -> None:
    store.upsert([ALICE, BOB], VAULT, document("a.md", 0, 10, generation=OLD))
    store.upsert([ALICE, BOB], VAULT, document("a.md", 20, generation=NEW))
    store.upsert([ALICE], VAULT, document("b.md", 30, generation=OLD))
    store.remove_older([ALICE, BOB], VAULT, VaultPath("a.md"), than=NEW)
    assert [(c.path, c.generation) for c in search(store)] == [("a.md", NEW), ("b.md", OLD)]
    assert [c.generation for c in search(store, user=BOB)] == [NEW]


def test_a_newer_generation_is_spared_by_a_late_removal(store: VectorStore) -> None:
    store.upsert([ALICE], VAULT, document("a.md", 0, generation=NEW))
    store.remove_older([ALICE], VAULT, VaultPath("a.md"), than=OLD)
    assert len(search(store)) == 1


def test_the_same_path_in_another_vault_is_spared(store: VectorStore) -> None:
    other = vault_ref("v2")
    store.upsert([ALICE], other, document("a.md", 0, generation=OLD))
    store.remove_older([ALICE], VAULT, VaultPath("a.md"), than=NEW)
    assert len(search(store, other)) == 1


def test_a_vault_can_be_taken_out_of_one_users_collection(store: VectorStore) -> None:
    other = vault_ref("v2")
    store.upsert([ALICE, BOB], VAULT, document("a.md", 0))
    store.upsert([ALICE], other, document("b.md", 0))
    store.remove_vault(ALICE, VAULT)
    assert search(store, VAULT) == []
    assert paths(search(store, other)) == ["b.md"]
    assert paths(search(store, user=BOB)) == ["a.md"]


def test_removing_where_nothing_was_ever_written_is_no_error(store: VectorStore) -> None:
    store.remove_older([ALICE], VAULT, VaultPath("a.md"), than=NEW)
    store.remove_vault(ALICE, VAULT)
    assert search(store) == []


@pytest.mark.parametrize(
    ("prefix", "expected"),
    [("a", ["a/b.md", "a/c/d.md"]), ("a/c", ["a/c/d.md"]), ("a/b.md", ["a/b.md"]), ("a/b", [])],
)
def test_a_path_narrows_the_search_to_it_and_what_is_below(
    store: VectorStore, prefix: str, expected: list[str]
) -> None:
    for number, path in enumerate(["a/b.md", "a/c/d.md", "ab.md", "b/a/x.md"]):
        store.upsert([ALICE], VAULT, document(path, number))
    assert paths(search(store, prefix=prefix)) == expected


def test_only_the_documents_named_are_found_each_in_its_vault(
    store: VectorStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(vectors, "_PATHS_AT_ONCE", 2)
    other = vault_ref("v2")
    for number in range(9):
        for vault in (VAULT, other):
            store.upsert([ALICE], vault, document(f"{number}.md", number * 5))
    within = {
        VAULT: {VaultPath(f"{number}.md") for number in (8, 2, 5, 7, 3)},
        other: {VaultPath("1.md"), VaultPath("absent.md")},
    }
    ask = partial(store.search, ACME, ALICE, [VAULT, other], vector(0), within=within)
    places = [(hit.vault.id, hit.path) for hit in ask(limit=4)]
    assert places == [("v2", "1.md"), ("v1", "2.md"), ("v1", "3.md"), ("v1", "5.md")]
    assert paths(ask(limit=4, prefix="7.md")) == ["7.md"]
    assert store.search(ACME, ALICE, [VAULT], vector(0), limit=4, within={other: set()}) == []


def test_the_collections_name_tells_nothing_and_depends_on_the_model() -> None:
    rest = QdrantRest("http://127.0.0.1:1", "")
    one, other, wider = (
        QdrantVectors(rest, model=model, dimension=dimension)
        for model, dimension in (("toy/1", 3), ("toy/2", 3), ("toy/1", 4))
    )
    names = {vectors.collection(ACME, ALICE) for vectors in (one, other, wider)}
    names |= {one.collection(ACME, BOB), one.collection(GLOBEX, ALICE)}
    assert len(names) == 5
    assert all(name.startswith("user_") and ALICE not in name for name in names)


def test_vectors_of_two_models_never_meet(rest: QdrantRest) -> None:
    small = QdrantVectors(rest, model="toy/1", dimension=3)
    large = QdrantVectors(rest, model="toy/2", dimension=4)
    small.upsert([ALICE], VAULT, document("a.md", 0))
    assert large.search(ACME, ALICE, [VAULT], [1.0, 0.0, 0.0, 0.0], limit=10) == []


def test_a_document_that_a_new_model_has_leaves_the_former_collection(
    succession: tuple[VectorStore, VectorStore],
) -> None:
    present, former = succession
    for path in ("a.md", "b.md"):
        former.upsert([ALICE, BOB], VAULT, document(path, 0, generation=OLD))
    former.upsert([ALICE], VAULT, document("a.md", 0, generation=NEW))
    present.upsert([ALICE, BOB], VAULT, document("a.md", 0, generation=OLD))
    present.remove_older([ALICE, BOB], VAULT, VaultPath("a.md"), than=OLD)
    assert paths(search(present)) == paths(search(present, user=BOB)) == ["a.md"]
    left = sorted((c.path, c.generation) for c in search(former))
    assert left == [("a.md", NEW), ("b.md", OLD)]
    assert paths(search(former, user=BOB)) == ["b.md"]


def test_who_leaves_a_vault_leaves_the_former_collection_too(
    succession: tuple[VectorStore, VectorStore],
) -> None:
    present, former = succession
    for store in succession:
        store.upsert([ALICE, BOB], VAULT, document("a.md", 0))
    present.remove_vault(BOB, VAULT)
    assert search(present, user=BOB) == search(former, user=BOB) == []
    assert paths(search(former)) == ["a.md"]


def test_a_server_that_is_down_is_unavailable() -> None:
    vectors = QdrantVectors(
        QdrantRest("http://127.0.0.1:1", VECTORS_KEY), model="toy/1", dimension=3
    )
    with pytest.raises(UnavailableError):
        search(vectors)


@pytest.mark.parametrize("answer", [500, 503, 429, 401, 400])
def test_a_server_that_refuses_is_unavailable(answer: int) -> None:
    def refuse(_: httpx2.Request) -> httpx2.Response:
        return httpx2.Response(answer, text="trouble")

    rest = QdrantRest("http://qdrant", VECTORS_KEY, transport=httpx2.MockTransport(refuse))
    vectors = QdrantVectors(rest, model="toy/1", dimension=3)
    with pytest.raises(UnavailableError):
        vectors.upsert([ALICE], VAULT, document("a.md", 0))


def test_a_wrong_key_is_unavailable(vector_facade: str) -> None:
    rest = QdrantRest(vector_facade, "wrong")
    with pytest.raises(UnavailableError):
        search(QdrantVectors(rest, model="toy/1", dimension=3))
    rest.close()
