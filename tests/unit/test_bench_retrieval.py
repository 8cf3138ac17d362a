"""The benchmark of search: what it reads of sets that others wrote, and how it counts."""

import json
import sys
import tarfile
from collections.abc import Mapping, Sequence
from contextlib import closing
from datetime import timedelta
from pathlib import Path

import pytest

from bench.kept_vectors import KeptVectors
from bench.plain_bm25 import PlainBm25
from bench.retrieval import MODELS, main, modes_of, peers_of
from bench.retrieval_figures import figures_of
from bench.retrieval_sets import RetrievalSet, read_set, sets_at
from tests.fakes.vectors import WordHashEmbedder

_DOCUMENTS = {"1": "# Boats\n\nSails and oars.", "2": "Trains run on rails.", "3": ""}
_QUESTIONS = {"7": "oars and sails", "8": "rails"}
_RELEVANT = {"7": {"1": 2.0}, "8": {"2": 1.0, "1": 0.0}}


def jsonl(*rows: Mapping[str, object]) -> str:
    return "\n\n".join(json.dumps(row) for row in rows) + "\n"


_OURS = {
    "docs.jsonl": jsonl(
        {"id": 1, "title": "Boats", "text": "Sails and oars."},
        {"id": "2", "text": "Trains run on rails."},
        {"id": 3, "title": None, "text": None},
    ),
    "queries.jsonl": jsonl({"id": 7, "text": " oars and sails "}, {"id": "8", "text": "rails"}),
    "qrels.jsonl": jsonl(
        {"qid": 7, "did": 1, "rel": 2}, {"qid": 8, "did": 2}, {"qid": 8, "did": 1, "rel": 0}
    ),
}
_BEIR = {
    "corpus.jsonl": jsonl(
        {"_id": "1", "title": "Boats", "text": "Sails and oars.", "metadata": {}},
        {"_id": "2", "title": "", "text": "Trains run on rails."},
        {"_id": "3", "title": "", "text": ""},
    ),
    "queries.jsonl": jsonl({"_id": "7", "text": "oars and sails"}, {"_id": "8", "text": "rails"}),
    "qrels/test.tsv": "query-id\tcorpus-id\tscore\n7\t1\t2\n8\t2\t1\n8\t1\t0\n",
}
_TABLE = "7 0 1 2\n8 0 2 1\n8 0 1 0\n"
_FORMS: dict[str, dict[str, str]] = {
    "ours": _OURS,
    "with a byte order mark": {name: f"\ufeff{text}" for name, text in _OURS.items()},
    "BEIR's": _BEIR,
    "a TREC table": {**_BEIR, "qrels/test.tsv": "", "qrels.txt": _TABLE},
    "a table without names": {
        **_BEIR,
        "qrels/test.tsv": "",
        "qrels.tsv": "7\t1\t2\n8\t2\t1\n8\t1\t0",
    },
    "other names": {
        "docs.jsonl": jsonl(
            {"doc_id": 1, "title": "Boats", "contents": "Sails and oars."},
            {"doc_id": 2, "abstract": ["Trains run", "on rails."]},
            {"doc_id": 3},
        ),
        "queries.jsonl": jsonl(
            {"query_id": 7, "query": "oars and sails"}, {"query_id": 8, "question": "rails"}
        ),
        "qrels.jsonl": jsonl(
            {"query_id": 7, "doc_id": 1, "score": "2"},
            {"query-id": "8", "corpus-id": "2", "score": 1},
            {"query_id": 8, "docid": 1, "relevance": 0.0},
        ),
    },
}


def written(folder: Path, files: Mapping[str, str]) -> Path:
    for name, text in files.items():
        if text:
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            (folder / name).write_text(text, encoding="utf-8")
    return folder


@pytest.mark.parametrize("form", _FORMS)
def test_a_set_is_read_in_the_forms_that_are_in_use(form: str, tmp_path: Path) -> None:
    found = read_set(written(tmp_path / "boats", _FORMS[form]))

    assert found == RetrievalSet(
        name="boats",
        documents=_DOCUMENTS,
        questions=_QUESTIONS,
        relevant=_RELEVANT,
        left_out=0,
    )


def test_what_a_set_does_not_have_is_left_out_of_its_judgements(tmp_path: Path) -> None:
    absent = jsonl(
        {"qid": 7, "did": 1},
        {"qid": 7, "did": "gone"},
        {"qid": "never asked", "did": 1},
        {"qid": 8, "did": 1, "rel": 0},
    )

    found = read_set(written(tmp_path, {**_OURS, "qrels.jsonl": absent}))

    assert found.relevant == {"7": {"1": 1.0}}
    assert list(found.questions) == ["7"]
    assert found.left_out == 3


def test_sets_are_found_in_a_folder_as_folders_and_as_archives(tmp_path: Path) -> None:
    whole = written(tmp_path / "elsewhere" / "packed", _OURS)
    folder = written(tmp_path / "sets" / "plain", _BEIR).parent
    with tarfile.open(folder / "packed.tar.gz", "w:gz") as archive:
        archive.add(whole, "packed")

    packed, plain = map(read_set, sets_at(folder))

    assert (packed.name, plain.name) == ("packed", "plain")
    assert packed.documents == plain.documents
    assert sets_at(whole) == [whole]


_ODD: dict[str, dict[str, str]] = {
    "an id and its text twice": {"docs.jsonl": _OURS["docs.jsonl"] + _OURS["docs.jsonl"]},
    "ids with a point": {"qrels.jsonl": _OURS["qrels.jsonl"].replace("7", "7.0")},
    "a judgement taken back": {"qrels.jsonl": jsonl({"qid": 7, "did": 1}) + _OURS["qrels.jsonl"]},
    "nothing said of the relevance": {
        "qrels.jsonl": _OURS["qrels.jsonl"] + jsonl({"qid": 8, "did": 2, "rel": None})
    },
    "a table under names that nobody knows": {
        "qrels.jsonl": "",
        "qrels.tsv": "q\td\tgrade\r\n7\t1\t2\r\n8\t2\t1\r\n8\t1\t0\r\n",
    },
}


@pytest.mark.parametrize("kind", _ODD)
def test_a_set_is_read_as_it_is_meant_though_it_is_odd(kind: str, tmp_path: Path) -> None:
    found = read_set(written(tmp_path, {**_OURS, **_ODD[kind]}))

    assert found.documents == _DOCUMENTS
    assert found.relevant == _RELEVANT
    assert found.left_out == 0


def test_half_a_character_is_no_obstacle(tmp_path: Path) -> None:
    half = {"docs.jsonl": '{"id": 1, "text": "a \\ud800"}', "queries.jsonl": _OURS["queries.jsonl"]}

    assert read_set(written(tmp_path, {**_OURS, **half})).documents == {"1": "a ?"}


_WRONG: dict[str, tuple[str, str, str]] = {
    "a line that breaks off": ("docs.jsonl", '{"id": 1}\n{"id":', r"docs\.jsonl, line 2"),
    "a line that is a list": ("queries.jsonl", "[7]", r"queries\.jsonl, line 1"),
    "a row without an id": ("docs.jsonl", '{"text": "lost"}', r"docs\.jsonl: .*_id.*lost"),
    "one id for two texts": (
        "docs.jsonl",
        '{"id": 1, "text": "a"}\n{"id": "1", "text": "b"}',
        "another text has the id 1",
    ),
    "a relevance in words": (
        "qrels.jsonl",
        '{"qid": 7, "did": 1, "rel": "high"}',
        r"qrels\.jsonl: the relevance high is no number",
    ),
    "judgements of another set": ("qrels.jsonl", '{"qid": "x", "did": "y"}', "no judgement"),
    "no judgement at all": ("qrels.jsonl", "\n", "no judgement"),
}


@pytest.mark.parametrize("kind", _WRONG)
def test_a_set_that_cannot_be_read_says_where_it_is_wrong(kind: str, tmp_path: Path) -> None:
    name, text, told = _WRONG[kind]

    with pytest.raises(ValueError, match=told):
        read_set(written(tmp_path, {**_OURS, name: text}))


def test_a_set_in_another_encoding_or_a_broken_archive_says_so(tmp_path: Path) -> None:
    folder = written(tmp_path / "set", _OURS)
    (folder / "docs.jsonl").write_bytes('{"id": 1, "text": "été"}'.encode("latin-1"))
    archive = tmp_path / "set.tar.gz"
    archive.write_bytes(b"\x1f\x8bnothing")

    with pytest.raises(ValueError, match=r"docs\.jsonl is not in UTF-8"):
        read_set(folder)
    with pytest.raises(ValueError, match=r"set\.tar\.gz cannot be unpacked"):
        read_set(archive)


def test_a_set_that_lacks_its_questions_says_so(tmp_path: Path) -> None:
    folder = written(tmp_path, {**_OURS, "queries.jsonl": ""})

    with pytest.raises(ValueError, match=r"queries\.jsonl"):
        read_set(folder)


def figures(ranking: Sequence[str], wanted: Mapping[str, float]) -> list[float]:
    found = figures_of(lambda _: ranking, questions={"q": "?"}, relevant={"q": wanted})
    return [round(figure, 3) for figure in found[:3]]


def test_a_better_judged_document_counts_more_and_more_when_it_is_first() -> None:
    assert figures(["a", "b"], {"a": 2, "b": 1}) == [1.0, 1.0, 1.0]
    assert figures(["b", "a"], {"a": 2, "b": 1}) == [0.86, 1.0, 1.0]
    assert figures(["x", "b"], {"a": 2, "b": 1}) == [0.24, 0.5, 0.5]


def test_a_document_judged_worthless_is_neither_wanted_nor_punished() -> None:
    assert figures(["spam", "a"], {"a": 1, "spam": -1, "dull": 0}) == [0.631, 1.0, 0.5]


def test_a_question_that_is_a_document_is_not_its_own_answer() -> None:
    assert figures(["q", "a"], {"a": 1}) == [1.0, 1.0, 1.0]
    assert figures(["q", "a"], {"q": 1}) == [1.0, 1.0, 1.0]


def test_what_is_eleventh_is_not_found() -> None:
    assert figures([f"{number}" for number in range(11)], {"10": 1}) == [0.0, 0.0, 0.0]


def test_bm25_prefers_the_rarer_word_and_the_shorter_document() -> None:
    peer = PlainBm25({"a": "the the cat", "b": "the dog", "c": "the dog and more dogs of others"})

    assert peer.ranking("The CAT", limit=3) == ["a", "b", "c"]
    assert peer.ranking("dog", limit=3) == ["b", "c"]
    assert peer.ranking("bird", limit=3) == []


def a_set(questions: Mapping[str, str]) -> RetrievalSet:
    return RetrievalSet(
        name="boats",
        documents=_DOCUMENTS,
        questions=questions,
        relevant={key: _RELEVANT[key] for key in questions},
        left_out=0,
    )


def test_each_mode_is_measured_through_the_products_own_search(tmp_path: Path) -> None:
    measured = a_set({"7": "oars and sails " * 500, "8": "rails"})

    with closing(KeptVectors(WordHashEmbedder(), tmp_path / "new" / "vectors")) as embedder:
        modes = modes_of(measured, embedder, limit=None, time_left=lambda: timedelta(hours=1))

    assert modes is not None
    assert {mode: figures.ndcg for mode, figures in modes.items()} == {
        "hybrid": 1.0,
        "dense": 1.0,
        "lexical": 1.0,
    }
    assert peers_of(measured, limit=1)["BM25"].mrr == 1.0


def test_a_set_that_cannot_be_read_stops_no_other(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    sets = tmp_path / "sets"
    written(sets / "broken", {**_OURS, "docs.jsonl": "?"})
    written(sets / "whole", _OURS)
    vectors = str(tmp_path / "vectors")
    monkeypatch.setattr(sys, "argv", ["", str(sets), "--json", "--vectors", vectors])
    monkeypatch.setitem(MODELS, "embedded", WordHashEmbedder)

    with pytest.raises(SystemExit) as ended:
        main()

    told = capsys.readouterr()
    assert ended.value.code == 1
    assert json.loads(told.out)["whole"]["lexical"]["ndcg"] == 1.0
    assert "docs.jsonl, line 1, is no JSON object" in told.err


def test_a_model_that_is_not_through_in_time_is_left_out() -> None:
    modes = modes_of(a_set(_QUESTIONS), WordHashEmbedder(), limit=None, time_left=timedelta)

    assert modes is None


def test_what_a_run_has_embedded_the_next_one_does_not(tmp_path: Path) -> None:
    first, second = WordHashEmbedder(), WordHashEmbedder()
    with closing(KeptVectors(first, tmp_path / "vectors")) as kept:
        before = kept.embed_passages(["oars", "sails"])
    with closing(KeptVectors(second, tmp_path / "vectors")) as kept:
        after = kept.embed_passages(["sails", "oars", "rails"])

    assert second.embedded == ["rails"]
    assert after[:2] == before[::-1]
