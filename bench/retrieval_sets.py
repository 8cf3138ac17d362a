"""Reads sets of documents, questions and judgements in the forms that they are published in.

A set is a folder, or a `.tar.gz` of one, with `docs.jsonl` {id, title, text}, `queries.jsonl`
{id, text} and `qrels.jsonl` {qid, did, rel}; or with BEIR's `corpus.jsonl`, `queries.jsonl` and
`qrels/test.tsv`; or with a TREC table of judgements. Fields go by any of their usual names and ids
may be numbers. What a set does not have is left out of its judgements, and told.
"""

import json
import tarfile
import tempfile
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, cast

_DOCUMENTS: Final = ("docs.jsonl", "corpus.jsonl", "documents.jsonl")
_QUESTIONS: Final = ("queries.jsonl", "questions.jsonl", "topics.jsonl")
_JUDGEMENTS: Final = tuple(
    f"{name}.{form}"
    for name in ("qrels", "qrels/test", "qrels.test", "test", "qrels/dev", "qrels/train")
    for form in ("jsonl", "tsv", "txt")
)
_ARCHIVES: Final = (".tar.gz", ".tgz", ".tar")

_ID: Final = ("id", "_id", "doc_id", "did", "docid", "query_id", "qid")
_TEXT: Final = ("text", "contents", "content", "body", "abstract", "query", "question")
_QUESTION_ID: Final = ("qid", "query_id", "query-id", "queryid", "query", "topic")
_DOCUMENT_ID: Final = ("did", "doc_id", "corpus_id", "corpus-id", "docid", "document_id", "doc")
_RELEVANCE: Final = ("rel", "score", "relevance", "label", "grade")
_COLUMNS: Final = {
    2: (*_QUESTION_ID[:1], *_DOCUMENT_ID[:1]),
    3: (*_QUESTION_ID[:1], *_DOCUMENT_ID[:1], *_RELEVANCE[:1]),
    # TREC's second column is of no use.
    4: (*_QUESTION_ID[:1], "iteration", *_DOCUMENT_ID[:1], *_RELEVANCE[:1]),
}

Row = Mapping[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class RetrievalSet:
    """Documents as Markdown and questions by id, and the documents relevant to each question.

    `left_out`: how many judgements name what is not there, or a question without an answer.
    """

    name: str
    documents: Mapping[str, str]
    questions: Mapping[str, str]
    relevant: Mapping[str, Mapping[str, float]]
    left_out: int


def sets_at(path: Path) -> list[Path]:
    """Return the sets at a path: it is one, or the folders and archives in it are."""
    if _is_set(path):
        return [path]
    return sorted(each for each in path.iterdir() if _is_set(each)) if path.is_dir() else []


def read_set(path: Path) -> RetrievalSet:
    """Return a set.

    Raises:
        ValueError: It lacks one of the three files, or one of them a field; the message says which.

    """
    if path.is_dir():
        return _read(path, path.name)
    with tempfile.TemporaryDirectory() as name, tarfile.open(path) as archive:
        archive.extractall(name, filter="data")
        found = sorted(file.parent for file in Path(name).rglob("*.jsonl") if _named(file))
        if not found:
            raise ValueError(f"{path.name} has none of {', '.join(_DOCUMENTS)}")
        return _read(found[0], path.name.removesuffix(path.suffix).removesuffix(".tar"))


def _is_set(path: Path) -> bool:
    if path.is_dir():
        return any((path / name).is_file() for name in _DOCUMENTS)
    return path.is_file() and path.name.endswith(_ARCHIVES)


def _named(file: Path) -> bool:
    return file.name in _DOCUMENTS


def _read(folder: Path, name: str) -> RetrievalSet:
    documents = {_id(row): _markdown(row) for row in _rows(_file(folder, _DOCUMENTS))}
    asked = {_id(row): _text(row).strip() for row in _rows(_file(folder, _QUESTIONS))}
    relevant: defaultdict[str, dict[str, float]] = defaultdict(dict)
    left_out = 0
    for row in _judgements(_file(folder, _JUDGEMENTS)):
        question, document = str(_field(row, _QUESTION_ID)), str(_field(row, _DOCUMENT_ID))
        if asked.get(question) and document in documents:
            relevant[question][document] = float(_field(row, _RELEVANCE, 1))
        else:
            left_out += 1
    answered = {key for key, judged in relevant.items() if max(judged.values()) > 0}
    return RetrievalSet(
        name=name,
        documents=documents,
        questions={key: text for key, text in asked.items() if key in answered},
        relevant={key: judged for key, judged in relevant.items() if key in answered},
        left_out=left_out + len(relevant) - len(answered),
    )


def _file(folder: Path, names: Sequence[str]) -> Path:
    found = next((folder / name for name in names if (folder / name).is_file()), None)
    if found is None:
        raise ValueError(f"{folder.name} has none of {', '.join(names)}")
    return found


def _rows(file: Path) -> Iterator[Row]:
    with file.open(encoding="utf-8-sig") as lines:
        for line in lines:
            if line.strip():
                yield json.loads(line)


def _judgements(file: Path) -> Iterator[Row]:
    """Yield the rows of a file in jsonl, or of a table with or without a line of names."""
    if file.suffix == ".jsonl":
        yield from _rows(file)
        return
    lines = file.read_text(encoding="utf-8-sig").splitlines()
    table = [line.split("\t") if "\t" in line else line.split() for line in lines if line.strip()]
    if not table:
        return
    names = [cell.strip().casefold() for cell in table[0]]
    has_names = any(name in names for name in _DOCUMENT_ID)
    columns = names if has_names else _COLUMNS.get(len(names), _COLUMNS[3])
    for cells in table[has_names:]:
        yield dict(zip(columns, (cell.strip() for cell in cells), strict=False))


def _id(row: Row) -> str:
    return str(_field(row, _ID))


def _markdown(row: Row) -> str:
    title, text = str(row.get("title") or "").strip(), _text(row)
    return f"# {title}\n\n{text}" if title else text


def _text(row: Row) -> str:
    """Return a text; one that is given as sentences as a whole, one that is missing as empty."""
    text = _field(row, _TEXT, "") or ""
    return " ".join(map(str, cast("list[object]", text))) if isinstance(text, list) else str(text)


def _field(row: Row, names: Sequence[str], otherwise: object = None) -> Any:  # noqa: ANN401  as it is in the file
    found = next((row[name] for name in names if name in row), otherwise)
    if found is None and otherwise is None:
        raise ValueError(f"a row has none of {', '.join(names)}: {str(row)[:200]}")
    return found
