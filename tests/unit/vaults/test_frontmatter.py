"""Properties change; comments, quotes, order, line ends and the note itself do not."""

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from archivolt.domain.errors import ConflictError, ForbiddenError, InvalidRequestError
from archivolt.domain.paths import VaultPath
from archivolt.vaults.frontmatter import FrontmatterService, PropertyChanges
from archivolt.vaults.frontmatter_text import FrontMatter, PropertyValue
from tests.builders import BOB
from tests.unit.vaults.desk import Desk

A = VaultPath("a.md")
NOTE = """---
# Kept comment
title:   "Été"   # why quotes
tags:
  - one
  - two  # second

date: 2026-01-02
aliases: [a, 'b b']
empty:
long: |
  first
  second

nested:
  key: value
---
# Body

text: not a property
"""


def after_setting(text: str, name: str, value: PropertyValue) -> str:
    front = FrontMatter(text, A)
    front.set(name, value)
    return front.text


def after_tags(text: str, *tags: str) -> str:
    front = FrontMatter(text, A)
    front.add_tags(tags)
    return front.text


def after_removing(text: str, name: str) -> str:
    front = FrontMatter(text, A)
    front.remove(name)
    return front.text


@pytest.mark.parametrize(
    ("name", "value", "old", "new"),
    [
        ("title", "Hiver", '"Été"', "Hiver"),
        ("title", "a: b # c", '"Été"', "'a: b # c'"),
        ("title", None, '"Été"', "null"),
        ("date", "2026-03-04", "2026-01-02", "'2026-03-04'"),
        ("tags", ["x"], "  - one\n  - two  # second\n", "  - x  # second\n"),
        ("aliases", ["c", 1], "[a, 'b b']", "[c, 1]"),
        ("aliases", "d", "[a, 'b b']", "d"),
        ("empty", 7, "empty:\n", "empty: 7\n"),
        ("empty", ["x", "y"], "empty:\n", "empty:\n  - x\n  - y\n"),
        ("long", "short", "|\n  first\n  second\n", "short\n"),
        ("nested", True, "nested:\n  key: value\n", "nested: true\n"),
        ("new", "été", "---\n# Body", "new: été\n---\n# Body"),
        ("new", [], "---\n# Body", "new: []\n---\n# Body"),
        ("a b", "x\ny", "---\n# Body", 'a b: "x\\ny"\n---\n# Body'),
    ],
)
def test_a_property_is_set_and_nothing_else_changes(
    name: str, value: PropertyValue, old: str, new: str
) -> None:
    assert NOTE.count(old) == 1
    assert after_setting(NOTE, name, value) == NOTE.replace(old, new)


@pytest.mark.parametrize(
    ("name", "gone"),
    [
        ("title", 'title:   "Été"   # why quotes\n'),
        ("tags", "tags:\n  - one\n  - two  # second\n"),
        ("empty", "empty:\n"),
        ("long", "long: |\n  first\n  second\n"),
        ("nested", "nested:\n  key: value\n"),
        ("no such", ""),
    ],
)
def test_a_property_is_removed_and_nothing_else(name: str, gone: str) -> None:
    assert after_removing(NOTE, name) == NOTE.replace(gone, "")


@pytest.mark.parametrize(
    ("front", "after"),
    [
        ("tags:\n- one\n", "tags:\n- one\n- été/b\n- c\n"),
        ("tags:\n  - one # x\nother: 1\n", "tags:\n  - one\n  - été/b\n  - c # x\nother: 1\n"),
        ("tags: [one, C]\n", "tags: [one, C, été/b]\n"),
        ("tags: []\n", "tags: [été/b, c]\n"),
        ("tag: one, two\n", "tag: [one, two, été/b, c]\n"),
        ("tags:\n", "tags:\n  - été/b\n  - c\n"),
        ("title: x\n", "title: x\ntags:\n  - été/b\n  - c\n"),
        ("tags: [Été/B, c]\n", "tags: [Été/B, c]\n"),
    ],
)
def test_tags_are_added_in_the_style_of_those_there(front: str, after: str) -> None:
    assert after_tags(f"---\n{front}---\ntext\n", "#été/b", "c", "c") == f"---\n{after}---\ntext\n"


def test_a_note_without_front_matter_gets_one() -> None:
    assert after_setting("# Body\r\n", "a", 1) == "---\r\na: 1\r\n---\r\n# Body\r\n"
    assert after_tags("", "x") == "---\ntags:\n  - x\n---\n"
    assert after_tags("# Body\n") == "# Body\n"
    assert after_setting("---\n---\nx", "a", 1) == "---\na: 1\n---\nx"


def test_line_ends_stay() -> None:
    text = "---\r\na: 1\r\ntags:\r\n  - x\r\n---\r\nBody\r\n"

    assert after_tags(text, "y") == text.replace("- x\r\n", "- x\r\n  - y\r\n")
    assert after_setting(text, "a", 2) == text.replace("1", "2")


@pytest.mark.parametrize(
    "text",
    [
        "---\na: [1\n---\n",
        "---\na: 1\na: 2\n---\n",
        "---\n- a\n---\n",
        "---\njust text\n---\n",
        "---\n{a: 1}\n---\n",
        "---\na: 1\nnever closed\n",
        "---\na: b: c\n---\n",
        "---\n\ta: 1\n---\n",
    ],
)
def test_what_is_not_plainly_properties_is_refused_and_never_repaired(text: str) -> None:
    with pytest.raises(InvalidRequestError, match="frontmatter_invalid"):
        after_setting(text, "b", 1)


def test_a_value_that_others_refer_to_is_not_replaced() -> None:
    text = "---\na: &x [1]\nb: *x\n---\n"

    with pytest.raises(InvalidRequestError, match="frontmatter_invalid") as caught:
        after_setting(text, "a", 2)
    assert caught.value.details["problem"] == "yaml_unlike"


VALUES = st.one_of(
    st.none(), st.booleans(), st.integers(), st.text(max_size=20), st.lists(st.text(max_size=9))
)


@given(st.sampled_from(["title", "tags", "aliases", "empty", "long", "nested", "new"]), VALUES)
def test_any_value_is_read_back_as_it_was_given(name: str, value: PropertyValue) -> None:
    after = after_setting(NOTE, name, value)
    front = yaml.safe_load(after.split("---\n")[1])

    assert front[name] == value
    assert after.endswith("---\n# Body\n\ntext: not a property\n")
    assert after.startswith("---\n# Kept comment\n")


class Office(Desk):
    """A desk with what changes properties."""

    def __init__(self) -> None:
        super().__init__()
        self.frontmatter = FrontmatterService(self.store)


@pytest.fixture
def office() -> Office:
    return Office()


CHANGES = PropertyChanges(set={"title": "Hiver"}, remove=["empty"], add_tags=["new"])


def test_all_changes_of_a_note_are_one_version(office: Office) -> None:
    data = NOTE.replace("\n", "\r\n").encode() + b"damaged \xe9" + b" \xc3\xa9" * 9
    office.put("a.md", data)
    preview = office.frontmatter.preview(office.access(), A, CHANGES)

    office.frontmatter.update(office.access(), A, CHANGES, office.confirmed(pins=preview.pins))

    expected = data.replace('"Été"'.encode(), b"Hiver").replace(b"empty:\r\n", b"")
    expected = expected.replace(b"- two", b"- two\r\n  - new")
    assert "+title:   Hiver" in preview.diff
    assert office.files.read(office.ref, A).data == expected
    assert len(office.files.stored(office.ref, A)) == 2


def test_a_note_that_changed_meanwhile_is_a_conflict(office: Office) -> None:
    office.put("a.md", NOTE)
    confirmed = office.confirmed("a.md")
    office.put("a.md", NOTE + "more\n")

    with pytest.raises(ConflictError) as caught:
        office.frontmatter.update(office.access(), A, CHANGES, confirmed)
    with pytest.raises(ConflictError):
        office.frontmatter.preview(office.access(), A, CHANGES, etag=confirmed.pins["a.md"])
    assert "+more" in str(caught.value.details["diff"])


def test_a_value_never_stands_for_a_secret(office: Office) -> None:
    office.put("a.md", NOTE)

    with pytest.raises(InvalidRequestError, match="placeholder_unknown"):
        office.frontmatter.preview(
            office.access(), A, PropertyChanges(set={"a": "[redacted:secret]"})
        )


def test_a_change_of_properties_that_died_is_finished_once(office: Office) -> None:
    office.put("a.md", NOTE)

    office.survive(
        lambda again: office.frontmatter.update(office.access(), A, CHANGES, again),
        office.confirmed("a.md"),
    )

    assert len(office.contents("a.md")) == 2


def test_a_reader_changes_no_property(office: Office) -> None:
    office.put("a.md", NOTE)

    with pytest.raises(ForbiddenError, match="vault_read_only"):
        office.frontmatter.preview(office.access(BOB), A, CHANGES)
    with pytest.raises(ForbiddenError, match="vault_read_only"):
        office.frontmatter.update(office.access(BOB), A, CHANGES, office.confirmed("a.md"))


def test_aliases_of_aliases_are_refused_in_no_time() -> None:
    lines = ["a0: &a0 [x]"]
    lines += [f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 9)}]" for n in range(1, 12)]
    note = "\n".join(["---", *lines, "---", ""])

    with pytest.raises(InvalidRequestError) as caught:
        after_setting(note, "title", "x")
    assert caught.value.details["problem"] == "yaml_aliases"
    assert after_setting("---\na: &a x\nb: *a\n---\n", "c", "y") == (
        "---\na: &a x\nb: *a\nc: y\n---\n"
    )


@pytest.mark.parametrize(
    ("front_matter", "problem"),
    [
        ("a: &a [*a]\n", "yaml_unlike"),
        ("a: &a {b: *a}\n", "yaml_unlike"),
        ("? a\n", "yaml_unlike"),
        (f"a: {'[' * 3000}{']' * 3000}\n", "yaml_broken"),
        ("a: 2001-99-99\n", "yaml_broken"),
        (f"a: {'x ' * 25_000}\n", "yaml_too_long"),
    ],
)
def test_front_matter_that_leads_nowhere_is_refused(front_matter: str, problem: str) -> None:
    with pytest.raises(InvalidRequestError) as caught:
        after_setting(f"---\n{front_matter}---\n", "title", "x")

    assert caught.value.details["problem"] == problem


def test_keys_that_are_merged_in_stay_where_they_are_written() -> None:
    note = "---\nbase: &base {a: 1}\n<<: *base\n---\n"

    assert after_setting(note, "b", 2) == note.replace("*base\n", "*base\nb: 2\n")
