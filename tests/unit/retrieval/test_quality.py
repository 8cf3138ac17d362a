"""Real questions in another language than the passages: both lists together find no less than one.

The whole sets are `python -m bench.retrieval`'s; this is a cut of one, which a wrong weight or
recipe shows on.
"""

import json
import tarfile
from datetime import timedelta
from pathlib import Path

import pytest

from archivolt.adapters.embedding.embedded_use import EmbeddedUse
from bench.retrieval import modes_of
from bench.retrieval_figures import Figures
from bench.retrieval_sets import read_set

_SET = Path(__file__).parents[4] / "shared" / "data" / "retrieval" / "xquad_es2en.tar.gz"
_EVERY = 60

pytestmark = [
    pytest.mark.corpus,
    pytest.mark.skipif(not _SET.is_file(), reason="real data is outside the repository"),
]


def cut(folder: Path) -> Path:
    """Return a set of every sixtieth question, their passages, and some others."""
    with tarfile.open(_SET) as archive:
        archive.extractall(folder, filter="data")
    [whole] = folder.iterdir()
    queries = _rows(whole / "queries.jsonl")[::_EVERY]
    asked = {row["id"] for row in queries}
    wanted = {row["did"] for row in _rows(whole / "qrels.jsonl") if row["qid"] in asked}
    documents = [
        row
        for number, row in enumerate(_rows(whole / "docs.jsonl"))
        if row["id"] in wanted or number % 6 == 0
    ]
    for name, rows in (("queries", queries), ("docs", documents)):
        text = "\n".join(json.dumps(row) for row in rows)
        (whole / f"{name}.jsonl").write_text(text, encoding="utf-8")
    return whole


def _rows(file: Path) -> list[dict[str, str]]:
    return [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines() if line]


@pytest.fixture(scope="module")
def figures(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Figures]:
    measured = read_set(cut(tmp_path_factory.mktemp("set")))
    modes = modes_of(measured, EmbeddedUse(), limit=None, time_left=lambda: timedelta(hours=1))
    assert modes is not None
    return modes


def test_words_do_not_drown_what_meaning_finds(figures: dict[str, Figures]) -> None:
    parts = figures["dense"].ndcg, figures["lexical"].ndcg
    assert figures["hybrid"].ndcg >= max(parts) - 0.005
    assert figures["hybrid"].ndcg >= 0.89


def test_words_alone_find_something_and_meaning_more(figures: dict[str, Figures]) -> None:
    assert 0.4 < figures["lexical"].ndcg < figures["dense"].ndcg
