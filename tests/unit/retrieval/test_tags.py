"""Tags, as note editors write them."""

import pytest

from archivolt.domain.ingestion import Passage
from archivolt.retrieval.tags import has_tag, tags_of


def tags(*texts: str) -> frozenset[str]:
    return tags_of([Passage(number=n, text=text) for n, text in enumerate(texts)])


@pytest.mark.parametrize(
    "front_matter",
    [
        "title: A\ntags: [Été, project/alpha]\ndate: 2026",
        'tags: ["été", "#project/alpha"]',
        "tags: été, project/alpha",
        "tags: été project/alpha",
        "tags:\n- été\n- project/alpha\ndate: 2026",
        "tags:\n  - 'été'\n  - \"project/alpha\"",
        "Tags: été, project/alpha",
        "tag: e\u0301te\u0301, project/alpha",
    ],
)
def test_tags_of_the_front_matter_are_read_in_each_of_its_forms(front_matter: str) -> None:
    assert tags(front_matter, "body") == {"été", "project/alpha"}


def test_tags_stand_in_text_after_a_hash() -> None:
    text = "#idée at the start, (#todo) and #2026-plan; no tag: a#b, #123, # title, /#x, &#39;"

    assert tags("first", text) == {"idée", "todo", "2026-plan"}


def test_a_line_that_looks_like_front_matter_is_read_at_the_start_only() -> None:
    assert tags("first", "tags: [a]") == frozenset()
    assert tags("tags:\ntitle: A") == frozenset()


@pytest.mark.parametrize(
    ("wanted", "expected"),
    [
        ("project", True),
        ("#Project/Alpha", True),
        ("project/", True),
        ("proj", False),
        ("alpha", False),
    ],
)
def test_a_nested_tag_counts_as_those_it_is_nested_in(wanted: str, expected: bool) -> None:
    assert has_tag(frozenset({"project/alpha"}), wanted) is expected
