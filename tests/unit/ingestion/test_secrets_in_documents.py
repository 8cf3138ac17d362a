"""What is kept of a document has no secrets in it, wherever the document is cut."""

from functools import partial

import pytest

from archivolt.domain.paths import VaultPath
from archivolt.ingestion.documents import DocumentReader, Reading
from archivolt.ingestion.splitting import split
from archivolt.ports.ingestion import Extraction

PASSWORD = "Tr0ub4dor" + "X9kQ2zLm"
TOKEN = "ghp_" + "aB3dE5fG7h" * 4


class Markdown:
    """Reads every document as Markdown under its own title."""

    def extract(self, data: bytes, *, name: str) -> Extraction:
        return Extraction(title=f"About {TOKEN}", markdown=data.decode())


def reading_of(text: str, *, budget: int) -> Reading:
    reader = DocumentReader(
        Markdown(), partial(split, budget=budget, count=lambda text: len(text) // 3), recipe=""
    )
    return reader.read(VaultPath("a.md"), text.encode())


@pytest.mark.parametrize("budget", range(8, 40, 2))
def test_no_passage_begins_with_a_value_whose_name_ends_the_one_before(budget: int) -> None:
    text = f"# Access for {TOKEN}\n\nWords before it.\n\npassword: {PASSWORD}\n\nWords after it.\n"

    reading = reading_of(text, budget=budget)

    kept = "\n".join("\n".join([*each.headings, each.text]) for each in reading.passages)
    assert "before" in kept
    assert PASSWORD[4:] not in kept
    assert TOKEN[4:] not in kept


def test_no_title_or_tag_is_a_secret() -> None:
    reading = reading_of(f"---\ntags: [{TOKEN}, ok]\n---\n#{TOKEN} #fine\n", budget=200)

    assert TOKEN[4:].casefold() not in str([reading.title, reading.tags]).casefold()
    assert {"ok", "fine"} <= set(reading.tags)


def test_a_secret_of_many_lines_leaves_the_lines_after_it_where_they_are() -> None:
    name, body = "PRIVATE KEY-----", "\n".join(["MIIBVwIBADANBgkqhkiG9w0BAQ" * 2] * 12)
    text = f"# One\n\n-----BEGIN {name}\n{body}\n-----END {name}\n\n# Two\n\nThe last line.\n"

    last = reading_of(text, budget=30).passages[-1]

    assert last.line is not None
    assert text.splitlines()[last.line - 1] in {"# Two", "The last line."}
