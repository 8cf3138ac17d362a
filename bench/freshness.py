"""How long after a file is dropped into a mirrored folder a search finds it, with idle queues.

The floor is one search: what asking costs when the answer is already there.
"""

import statistics
import tempfile
import time
from pathlib import Path

import httpx2

from bench.local_stack import index_states, started
from bench.table import Row
from tests.e2e.stack import Stack, wait_until

_DROPS = 10
_SECONDS_BETWEEN_LOOKS = 0.02
_VAULT = "drops"


def measure() -> list[Row]:
    """Return the median of ten drops, in milliseconds."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "first.md").write_text("The first note.", encoding="utf-8")
        with started(folder, _VAULT) as stack:
            _wait_until_idle(stack, 1)
            times = [_drop(stack, folder, number) for number in range(_DROPS)]
            floor = statistics.median(_search_time(stack) for _ in range(_DROPS))
    return [
        Row(
            measure="file dropped to found",
            value=statistics.median(times) * 1000,
            unit="ms",
            floor="one search",
            floor_value=floor * 1000,
        )
    ]


def _drop(stack: Stack, folder: Path, number: int) -> float:
    word = f"word{number}x{time.time_ns()}"
    # A token of its own: looking often must not meet its rate limit.
    with stack.client(stack.token()) as http:
        _found(http, word)
        start = time.perf_counter()
        (folder / f"drop-{number}.md").write_text(f"Something about {word}.", encoding="utf-8")
        while not _found(http, word):
            time.sleep(_SECONDS_BETWEEN_LOOKS)
        taken = time.perf_counter() - start
    _wait_until_idle(stack, number + 2)
    return taken


def _found(http: httpx2.Client, word: str) -> bool:
    answer = http.post("/api/v1/tools/search_documents", json={"q": word, "mode": "lexical"})
    return any(word in hit["excerpt"] for hit in answer.json()["result"]["hits"])


def _search_time(stack: Stack) -> float:
    with stack.client() as http:
        _found(http, "something")
        start = time.perf_counter()
        _found(http, "something")
        return time.perf_counter() - start


def _wait_until_idle(stack: Stack, files: int) -> None:
    with stack.client() as http:
        wait_until(lambda: index_states(http, _VAULT).get("indexed") == files)
