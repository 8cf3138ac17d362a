"""The tags of a document."""

import pytest

from archivolt.ingestion.tags import tags_of


@pytest.mark.parametrize(
    ("markdown", "tags"),
    [
        ("---\ntags: [Project/Alpha, été]\n---\ntext", ("project/alpha", "été")),
        ("---\ntags:\n  - one\n  - '#two'\n---\n", ("one", "two")),
        ("---\ntags: one, two three\n---\n", ("one", "two", "three")),
        ("---\r\ntag: one\r\n---\r\n", ("one",)),
        ("A line with #one and (#not) #two/deep.", ("one", "two/deep")),
        ("#one at the start, again #ONE", ("one",)),
        ("# A heading\n\n## Another", ()),
        ("issue #12, colour #fff000 and page#anchor", ("fff000",)),
        ("```\n#!/bin/sh\n#one\n```\n`#two` ~~~ #three", ("three",)),
        ("---\ntags: {a: b}\n---\n", ()),
        ("---\ntags: 3\n---\n", ()),
        ("---\n: : [broken\n---\n#one", ("one",)),
        ("---\n- a list\n---\n", ()),
        ("no front matter\n---\ntags: [a]\n---\n", ()),
        (f"#{'x' * 65} #ok", ("ok",)),
        ("", ()),
    ],
)
def test_tags_come_from_the_front_matter_and_the_text(markdown: str, tags: tuple[str, ...]) -> None:
    assert tags_of(markdown) == tags


def test_a_document_has_a_hundred_tags_at_most() -> None:
    assert len(tags_of(" ".join(f"#tag{number}" for number in range(500)))) == 100


@pytest.mark.parametrize(
    "front_matter",
    [
        f"tags: [0x{'f' * 5000}, ok]",
        f"tags: [{':'.join(['1'] * 8000)}, ok]",
        'tags: ["\\ud800", "\\0", ok]',
        "tags: [2001-99-99, ok]",
        "tags: &a [*a, ok]",
        "x: 2001-99-99\ntags: [ok]",
        "? [a, list]\n: 1\ntags: [ok]",
    ],
)
def test_front_matter_that_no_store_could_keep_costs_no_document_its_tags(
    front_matter: str,
) -> None:
    tags = tags_of(f"---\n{front_matter}\n---\n#word")

    assert {"ok", "word"} <= set(tags)
    assert all("\x00" not in tag and tag.encode() for tag in tags)
