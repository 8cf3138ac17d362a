"""Reads sets of documents, questions and judgements in the forms that they are published in.

A set is a folder, or a `.tar.gz` of one, with `docs.jsonl` {id, title, text}, `queries.jsonl`
{id, text} and `qrels.jsonl` {qid, did, rel}; or with BEIR's `corpus.jsonl`, `queries.jsonl` and
`qrels/test.tsv`; or with a TREC table of judgements. Fields go by any of their usual names and ids
may be numbers. What a set does not have is left out of its judgements, and told.
"""

import json
import math
import tarfile
import tempfile
import zlib
from collections import defaultdict
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
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
FORMS: Final = (
    f"a set is a folder, or a .tar.gz of one, with {_DOCUMENTS[0]} or {_DOCUMENTS[1]}, "
    f"{_QUESTIONS[0]}, and {_JUDGEMENTS[0]} or {_JUDGEMENTS[4]}"
)
"""What to say to whoever names something else."""


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
        ValueError: It lacks one of the three files, or no judgement names what it has; it is a
            broken archive; a line is no JSON, lacks a field, or has an id that another text has.
            The message says where.

    """
    if path.is_dir():
        return _read(path, path.name)
    with tempfile.TemporaryDirectory() as name:
        try:
            with tarfile.open(path) as archive:
                archive.extractall(name, filter="data")
        except (tarfile.TarError, EOFError, OSError, zlib.error) as error:
            reason = str(error).partition("\n")[0].rstrip(":")
            raise ValueError(f"{path.name} cannot be unpacked: {reason}") from error
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
    documents = _by_id(_file(folder, _DOCUMENTS), _markdown)
    asked = _by_id(_file(folder, _QUESTIONS), lambda row: _text(row).strip())
    relevant: defaultdict[str, dict[str, float]] = defaultdict(dict)
    left_out = 0
    for question, document, relevance in _judgements(_file(folder, _JUDGEMENTS)):
        if asked.get(question) and document in documents:
            # Whoever judged a pair twice is believed where they thought better of it.
            known = relevant[question].get(document, relevance)
            relevant[question][document] = max(known, relevance)
        else:
            left_out += 1
    answered = {key for key, judged in relevant.items() if max(judged.values()) > 0}
    if not answered:
        raise ValueError(
            f"no judgement of {name} finds a document relevant to a question, both of the set"
        )
    return RetrievalSet(
        name=name,
        documents=documents,
        questions={key: text for key, text in asked.items() if key in answered},
        relevant={key: judged for key, judged in relevant.items() if key in answered},
        left_out=left_out + len(relevant) - len(answered),
    )


def _by_id(file: Path, text_of: Callable[[Row], str]) -> dict[str, str]:
    texts: dict[str, str] = {}
    for row in _rows(file):
        with _told_where(file, row):
            key, text = _id_in(row, _ID), text_of(row)
            if texts.setdefault(key, text) != text:
                raise ValueError(f"another text has the id {key}")
    return texts


def _file(folder: Path, names: Sequence[str]) -> Path:
    found = next((folder / name for name in names if (folder / name).is_file()), None)
    if found is None:
        raise ValueError(f"{folder.name} has none of {', '.join(names)}")
    return found


def _rows(file: Path) -> Iterator[Row]:
    for number, line in _lines(file):
        row: object = None
        with suppress(ValueError):
            row = json.loads(line)
        if not isinstance(row, dict):
            problem = f"{file.name}, line {number}, is no JSON object: {line[:200]}"
            raise ValueError(problem)  # noqa: TRY004  it is the file that is wrong
        yield cast("Row", row)


def _lines(file: Path) -> Iterator[tuple[int, str]]:
    """Yield the lines of a file that are not empty, with their numbers."""
    with file.open(encoding="utf-8-sig") as lines:
        try:
            for number, line in enumerate(lines, start=1):
                if line.strip():
                    yield number, line.strip("\r\n")
        except UnicodeDecodeError as error:
            raise ValueError(f"{file.name} is not in UTF-8: {error}") from error


@contextmanager
def _told_where(file: Path, row: Row) -> Generator[None]:
    """Name the file and the row in what is wrong with it."""
    try:
        yield
    except ValueError as error:
        raise ValueError(f"{file.name}: {error}: {str(row)[:200]}") from error


def _judgements(file: Path) -> Iterator[tuple[str, str, float]]:
    """Yield the question, the document and its relevance of each judgement."""
    for row in _rows(file) if file.suffix == ".jsonl" else _table(file):
        with _told_where(file, row):
            yield _id_in(row, _QUESTION_ID), _id_in(row, _DOCUMENT_ID), _relevance(row)


def _table(file: Path) -> Iterator[Row]:
    """Yield the rows of a table with or without a line of names."""
    table = [line.split("\t") if "\t" in line else line.split() for _, line in _lines(file)]
    if not table:
        return
    names = [cell.strip().casefold() for cell in table[0]]
    known = any(name in names for name in _DOCUMENT_ID)
    columns = names if known else _COLUMNS.get(len(names), _COLUMNS[3])
    # Names that nobody knows stand in the usual order, over numbers.
    has_names = known or (bool(names[2:]) and _number(names[-1]) is None)
    for cells in table[has_names:]:
        yield dict(zip(columns, (cell.strip() for cell in cells), strict=False))


def _id_in(row: Row, names: Sequence[str]) -> str:
    """Return an id; a number is the same with and without a point.

    Raises:
        ValueError: The row has none.

    """
    found = _field(row, names)
    if found is None or found == "":
        raise ValueError(f"a row has none of {', '.join(names)}")
    whole = isinstance(found, float) and found.is_integer()
    return str(int(found)) if whole else str(found)


def _relevance(row: Row) -> float:
    """Return how relevant a document was judged; 1 where nothing is said.

    Raises:
        ValueError: What is said is no number.

    """
    said = _field(row, _RELEVANCE)
    relevance = 1.0 if said is None else _number(said)
    if relevance is None:
        raise ValueError(f"the relevance {said} is no number")
    return relevance


def _number(said: object) -> float | None:
    with suppress(ValueError):
        number = float(str(said))
        return number if math.isfinite(number) else None
    return None


def _markdown(row: Row) -> str:
    title, text = " ".join(str(row.get("title") or "").split()), _text(row)
    return f"# {title}\n\n{text}" if title else text


def _text(row: Row) -> str:
    """Return a text; one that is given as sentences as a whole, one that is missing as empty."""
    text = _field(row, _TEXT) or ""
    whole = " ".join(map(str, cast("list[object]", text))) if isinstance(text, list) else str(text)
    # JSON can hold half a character.
    return whole.encode("utf-8", "replace").decode()


def _field(row: Row, names: Sequence[str]) -> Any:  # noqa: ANN401  as it is in the file
    return next((row[name] for name in names if row.get(name) is not None), None)
