"""How many files a second a first load indexes on this machine: by words, then with vectors.

The floors do the same work in one process and keep nothing: splitting alone, and splitting and
embedding alone. Loads and floors stop when they are through or when their time is over. Small notes
are loaded once more, beside a program of others (`bench.first_load`).
"""

import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Final

import httpx2

from archivolt.adapters.embedding.embedded_use import EmbeddedUse
from archivolt.domain.ingestion import Passage
from bench import first_load
from bench.local_stack import index_states, pages, started
from bench.table import Row
from tests.splitting import product_split

_VAULT: Final = "pages"
_LOAD_SECONDS: Final = 180.0
_FLOOR_SECONDS: Final = 20.0
_SECONDS_BETWEEN_LOOKS: Final = 0.25


def measure() -> list[Row]:
    """Return files per second that are found by words, and that have vectors."""
    with pages() as (name, folder):
        files = sorted(file for file in folder.rglob("*") if file.is_file())
        with started(folder, _VAULT) as stack, stack.client() as http:
            by_words, with_vectors = _load(http, len(files))
        model = EmbeddedUse()
        model.embed_query("warm")
        split_alone = _rate(files, _split)
        embed_alone = _rate(files, lambda file: _embed(model, _split(file)))
    return [
        Row(
            measure=f"{name} found by words",
            value=by_words,
            unit="files/s",
            floor="split alone",
            floor_value=split_alone,
        ),
        Row(
            measure=f"{name} with vectors",
            value=with_vectors,
            unit="files/s",
            floor="split and embed alone",
            floor_value=embed_alone,
        ),
        *first_load.measure(),
    ]


def _load(http: httpx2.Client, files: int) -> tuple[float, float]:
    """Follow the load from now on and return both rates."""
    start = time.perf_counter()
    words_at_start, vectors_at_start = _progress(http)
    by_words: float | None = None
    while True:
        words, vectors = _progress(http)
        taken = time.perf_counter() - start
        over = vectors == files or taken > _LOAD_SECONDS
        if by_words is None and (words == files or over):
            by_words = (words - words_at_start) / taken
        if by_words is not None and over:
            return by_words, (vectors - vectors_at_start) / taken
        time.sleep(_SECONDS_BETWEEN_LOOKS)


def _progress(http: httpx2.Client) -> tuple[int, int]:
    """Return how many files are found by words, and how many are through."""
    states = index_states(http, _VAULT)
    words = sum(states.values())
    return words, words - states.get("pending", 0)


def _rate(files: Sequence[Path], work: Callable[[Path], object]) -> float:
    start = time.perf_counter()
    taken, done = 0.0, 0
    for file in files:
        work(file)
        done += 1
        taken = time.perf_counter() - start
        if taken > _FLOOR_SECONDS:
            break
    return done / taken


def _split(file: Path) -> list[Passage]:
    text = file.read_text(encoding="utf-8", errors="replace")
    return product_split(text)


def _embed(model: EmbeddedUse, passages: Sequence[Passage]) -> None:
    model.embed_passages([passage.text for passage in passages])
