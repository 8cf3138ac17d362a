"""`python -m bench.retrieval FOLDER… [--model e5] [--vectors FILE] [--limit N] [--json]`.

How well search finds, per mode, beside bm25s. Each folder has `docs.jsonl` {id, title, text},
`queries.jsonl` {id, text} and `qrels.jsonl` {qid, did, rel}. The documents go through the product's
own splitting, indexing, embedding and search; the stores are in this process. A document counts
where its best passage stands, or the one that says the same. With `--vectors`, vectors are kept in
that file from one run to the next.
"""

import argparse
import json
import math
import sys
import tempfile
import threading
import time
from collections import defaultdict
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import timedelta
from functools import partial
from pathlib import Path
from typing import Any, Final, NamedTuple

from archivolt.adapters.embedding.embedded_use import EmbeddedUse
from archivolt.adapters.embedding.local_e5 import LocalE5
from archivolt.adapters.qdrant.rest import QdrantRest
from archivolt.adapters.qdrant.vectors import QdrantVectors
from archivolt.adapters.sqlite.shard_cache import ShardCache
from archivolt.adapters.sqlite.shard_reader import ShardReader
from archivolt.adapters.sqlite.text_index import SqliteTextIndex
from archivolt.domain.ingestion import ChangeKind, ObjectChange
from archivolt.domain.limits import MAX_LEXICAL_CACHE_BYTES, MAX_TOP_K
from archivolt.domain.messages import Language
from archivolt.domain.paths import VaultPath
from archivolt.domain.search import SearchMode, SearchQuery
from archivolt.ingestion.embed_passages import EmbedPassages
from archivolt.ingestion.index_change import IndexChanges
from archivolt.ports.ingestion import Extraction
from archivolt.ports.retrieval import Embedder
from archivolt.retrieval.breaker import Breaker
from archivolt.retrieval.filters import DocumentFilters
from archivolt.retrieval.hybrid import RetrievalService, SearchModels
from archivolt_local.vectors.collections import Collections
from archivolt_local.vectors.server import VectorServer
from bench import bm25_peer
from bench.index_core import index_changes
from bench.kept_vectors import KeptVectors
from tests.builders import ALICE, a_vault, principal
from tests.fakes.catalogue import InMemoryCatalogue
from tests.fakes.clock import FrozenClock
from tests.fakes.embedding import InMemoryQueue, InMemoryVectorCache
from tests.fakes.files import InMemoryFiles
from tests.fakes.notes import InMemoryNotes
from tests.fakes.shards import InMemoryShards
from tests.fakes.vaults import InMemoryVaults

_CUT: Final = 10
_KEY: Final = "bench"
_AT_ONCE: Final = 500
_MODELS: Final[Mapping[str, Callable[[], Embedder]]] = {"embedded": EmbeddedUse, "e5": LocalE5}


class Figures(NamedTuple):
    """The means over the questions of a set."""

    ndcg: float
    recall: float
    mrr: float
    milliseconds: float


class _AsItIs:
    """The `Extractor` of documents that are Markdown already."""

    def extract(self, data: bytes, *, name: str) -> Extraction:
        return Extraction(markdown=data.decode(), title=name)


class _Vault:
    """One vault with everything that a search in it needs."""

    def __init__(self, vectors: QdrantVectors, embedder: Embedder, folder: Path) -> None:
        self._clock = FrozenClock()
        self._vault = a_vault("bench")
        self._files = InMemoryFiles(self._clock)
        self._catalogue = InMemoryCatalogue(self._clock)
        self._queue = InMemoryQueue()
        self._directory = InMemoryVaults()
        self._directory.create(self._vault, owner=ALICE)
        shards = InMemoryShards()
        cache = ShardCache(shards, folder, max_bytes=MAX_LEXICAL_CACHE_BYTES)
        self._text_index = SqliteTextIndex(shards, ShardReader(shards, cache))
        self._vectors = vectors
        self._embedder = embedder
        self._search = RetrievalService(
            directory=self._directory,
            catalogue=self._catalogue,
            text_index=self._text_index,
            vectors=vectors,
            filters=DocumentFilters(InMemoryNotes(), self._clock),
            models=SearchModels(breaker=Breaker(self._clock), embedder=lambda _: self._embedder),
        )

    def fill(self, documents: Mapping[str, str]) -> None:
        """Index and embed documents, by path."""
        changes: list[ObjectChange] = []
        for path, text in documents.items():
            info = self._files.create(self._vault.ref, VaultPath(path), text.encode())
            changes.append(
                ObjectChange(
                    kind=ChangeKind.CREATED,
                    vault=self._vault.ref,
                    path=info.path,
                    sequencer=None,
                    size=info.size,
                )
            )
        for start in range(0, len(changes), _AT_ONCE):
            failed = self._index_changes().apply(
                changes[start : start + _AT_ONCE], time_left=_plenty
            )
            if failed:
                raise RuntimeError(f"{len(failed)} documents failed")
            self._embed()
            _tell(f"  {min(start + _AT_ONCE, len(changes))} of {len(changes)} documents")

    def ranking(self, question: str, mode: SearchMode) -> list[str]:
        """Return the paths of the first documents found, each before those that say the same."""
        query = SearchQuery(q=question, mode=mode, top_k=MAX_TOP_K, threshold=-1.0)
        found = self._search.search(principal(ALICE), query, language=Language.EN)
        uris = [uri for hit in found.hits for uri in (hit.uri.partition("#")[0], *hit.also_in)]
        return list(dict.fromkeys(uri.rpartition("/")[2] for uri in uris))[:_CUT]

    def _index_changes(self) -> IndexChanges:
        return index_changes(
            _AsItIs(),
            files=self._files,
            catalogue=self._catalogue,
            text_index=self._text_index,
            queue=self._queue,
            clock=self._clock,
        )

    def _embed(self) -> None:
        use_case = EmbedPassages(
            catalogue=self._catalogue,
            text_index=self._text_index,
            vectors=self._vectors,
            cache=InMemoryVectorCache(),
            embedder=self._embedder,
            directory=self._directory,
            queue=self._queue,
        )
        jobs = {str(number): job for number, job in enumerate(self._queue.take())}
        if use_case.run(jobs, time_left=_plenty).failed:
            raise RuntimeError("an embedding job failed")


def _plenty() -> timedelta:
    return timedelta(hours=1)


def measure(folder: Path, embedder: Embedder, *, limit: int | None) -> dict[str, Figures]:
    """Return the figures of each mode for one set, over its first `limit` questions."""
    documents = {f"{row['id']}": _markdown(row) for row in _rows(folder / "docs.jsonl")}
    relevant: defaultdict[str, dict[str, float]] = defaultdict(dict)
    for row in _rows(folder / "qrels.jsonl"):
        relevant[row["qid"]][row["did"]] = float(row.get("rel", 1))
    questions = [row for row in _rows(folder / "queries.jsonl") if row["id"] in relevant][:limit]
    names = {f"{number}.md": did for number, did in enumerate(documents)}
    figures = partial(_figures, questions=questions, relevant=relevant)
    with _new_vault(embedder) as vault:
        vault.fill({path: documents[did] for path, did in names.items()})

        def ranking(question: str, mode: SearchMode) -> list[str]:
            return [names[path] for path in vault.ranking(question, mode)]

        told = {mode.value: figures(partial(ranking, mode=mode)) for mode in SearchMode}
    if bm25_peer.is_installed():
        peer = bm25_peer.Bm25Peer(documents)
        told[bm25_peer.NAME] = figures(partial(peer.ranking, limit=_CUT))
    return told


def _figures(
    ranking_of: Callable[[str], Sequence[str]],
    *,
    questions: Sequence[Mapping[str, Any]],
    relevant: Mapping[str, Mapping[str, float]],
) -> Figures:
    sums = [0.0, 0.0, 0.0]
    started = time.perf_counter()
    for question in questions:
        ranking = ranking_of(question["text"])
        wanted = relevant[question["id"]]
        for number, figure in enumerate((_ndcg, _recall, _reciprocal_rank)):
            sums[number] += figure(ranking, wanted)
    count = len(questions) or 1
    ndcg, recall, mrr = (total / count for total in sums)
    return Figures(ndcg, recall, mrr, (time.perf_counter() - started) * 1_000 / count)


def _ndcg(ranking: Sequence[str], wanted: Mapping[str, float]) -> float:
    ideal = sorted(wanted.values(), reverse=True)[:_CUT]
    return _gain([wanted.get(did, 0.0) for did in ranking]) / (_gain(ideal) or 1.0)


def _gain(relevances: Sequence[float]) -> float:
    return sum(value / math.log2(rank + 2) for rank, value in enumerate(relevances))


def _recall(ranking: Sequence[str], wanted: Mapping[str, float]) -> float:
    positive = {did for did, relevance in wanted.items() if relevance > 0}
    return len(positive & set(ranking)) / (len(positive) or 1)


def _reciprocal_rank(ranking: Sequence[str], wanted: Mapping[str, float]) -> float:
    ranks = [rank for rank, did in enumerate(ranking, start=1) if wanted.get(did, 0.0) > 0]
    return 1 / ranks[0] if ranks else 0.0


@contextmanager
def _new_vault(embedder: Embedder) -> Generator[_Vault]:
    with tempfile.TemporaryDirectory() as name:
        collections = Collections(Path(name) / "vectors")
        server = VectorServer(0, collections, _KEY)
        thread = threading.Thread(target=server.serve_forever, daemon=True)
        thread.start()
        rest = QdrantRest(f"http://127.0.0.1:{server.server_address[1]}", _KEY)
        try:
            vectors = QdrantVectors(rest, model=embedder.model, dimension=embedder.dimension)
            yield _Vault(vectors, embedder, Path(name) / "words")
        finally:
            rest.close()
            server.shutdown()
            server.server_close()
            collections.close()


def _markdown(row: Mapping[str, Any]) -> str:
    title = row.get("title")
    return f"# {title}\n\n{row['text']}" if title else row["text"]


def _rows(file: Path) -> Iterator[dict[str, Any]]:
    with file.open(encoding="utf-8") as lines:
        for line in lines:
            if line.strip():
                yield json.loads(line)


def _tell(message: str) -> None:
    print(message, file=sys.stderr, flush=True)


def main() -> None:
    """Measure the sets named on the command line."""
    parser = argparse.ArgumentParser(prog="bench.retrieval", description=__doc__)
    parser.add_argument("folders", nargs="+", type=Path, metavar="FOLDER")
    parser.add_argument("--model", choices=_MODELS, default="embedded")
    parser.add_argument("--vectors", type=Path, metavar="FILE", help="keep vectors in this file")
    parser.add_argument("--limit", type=int, help="take the first so many questions of each set")
    parser.add_argument("--json", action="store_true", help="print one JSON object instead")
    options = parser.parse_args()
    embedder = _MODELS[options.model]()
    if options.vectors:
        embedder = KeptVectors(embedder, options.vectors)
    results: dict[str, dict[str, dict[str, float]]] = {}
    if not options.json:
        print(f"{'set':24}{'mode':10}{'nDCG@10':>9}{'recall@10':>11}{'MRR@10':>9}{'ms':>8}")
    for folder in options.folders:
        _tell(f"… {folder.name}")
        modes = measure(folder, embedder, limit=options.limit)
        results[folder.name] = {mode: figures._asdict() for mode, figures in modes.items()}
        if not options.json:
            print("\n".join(_line(folder.name, *item) for item in modes.items()), flush=True)
    if options.json:
        print(json.dumps(results))


def _line(name: str, mode: str, figures: Figures) -> str:
    ndcg, recall, mrr, milliseconds = figures
    return f"{name:24}{mode:10}{ndcg:9.3f}{recall:11.3f}{mrr:9.3f}{milliseconds:8.1f}"


if __name__ == "__main__":
    main()
