"""Types as people name them."""

import pytest

from archivolt.domain.document_types import endings_of, ends_with
from archivolt.domain.errors import InvalidRequestError


@pytest.mark.parametrize(
    ("asked", "endings"),
    [
        ("pdf", {"pdf"}),
        (" .PDF , *.docx", {"pdf", "docx"}),
        ("note", {"md", "mdx", "markdown"}),
        ("Présentation", {"pptx", "ppt", "odp"}),
        ("tableur, csv", {"xlsx", "xls", "ods", "csv", "tsv"}),
        ("py", {"py"}),
    ],
)
def test_a_type_is_an_ending_or_a_name_of_several(asked: str, endings: set[str]) -> None:
    assert set(endings_of(asked)) == endings


@pytest.mark.parametrize("asked", ["", " , ", "a/b", "a.b", "%", "x" * 17])
def test_what_no_name_ends_in_is_refused(asked: str) -> None:
    with pytest.raises(InvalidRequestError, match="invalid_type"):
        endings_of(asked)


@pytest.mark.parametrize(
    ("path", "answer"),
    [("a/b.PDF", True), ("a.pdf/b", False), ("a/pdf", False), ("a.pdf.md", False)],
)
def test_an_ending_is_that_of_the_name(path: str, *, answer: bool) -> None:
    assert ends_with(path, ("docx", "pdf")) is answer
