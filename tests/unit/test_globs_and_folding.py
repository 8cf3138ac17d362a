"""Names without case and accents, and patterns of paths."""

import re
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from archivolt.domain.folding import folded
from archivolt.domain.globs import glob_regex, path_globs


def matches(asked: str, path: str) -> bool:
    return any(re.fullmatch(glob_regex(glob), folded(path)) for glob in path_globs([asked]))


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Créer", "creer"),
        ("ŒUVRE", "oeuvre"),
        ("Straße", "strasse"),
        ("Ёлка", "елка"),
        ("l\u2019été", "l'ete"),
        ("\uff21", "a"),
    ],
)
def test_case_accents_and_variants_fold_away(one: str, other: str) -> None:
    assert folded(one) == folded(other)


@given(st.text(max_size=50))
def test_folding_is_the_same_for_every_unicode_form_and_done_once(text: str) -> None:
    assert folded(folded(text)) == folded(text)
    assert folded(unicodedata.normalize("NFD", text)) == folded(unicodedata.normalize("NFC", text))


@pytest.mark.parametrize(
    ("glob", "inside", "outside"),
    [
        ("*.md", ["a.md", "d/e/b.MD"], ["a.txt", "a.md/x.txt"]),
        ("/*.md", ["a.md"], ["d/a.md"]),
        ("drafts", ["drafts/a.md", "x/Drafts/y/z.md", "x/drafts"], ["mydrafts/a.md", "drafts.md"]),
        ("drafts/", ["drafts/a.md", "x/drafts/b.md"], ["drafts"]),
        ("projects/plan.md", ["projects/plan.md"], ["x/projects/plan.md", "projects/plan.mdx"]),
        ("projects/alpha", ["projects/alpha/a/b.md"], ["x/projects/alpha/a.md"]),
        ("a/**/b.md", ["a/b.md", "a/x/y/b.md"], ["b.md", "a/xb.md"]),
        ("**/réunions/*.md", ["x/Reunions/a.md", "réunions/a.md"], ["réunions/x/a.md"]),
        ("note-?.md", ["note-1.md", "x/note-é.md"], ["note-10.md", "note-/.md"]),
        ("[[*", ["[[.md", "d/[[x"], ["a[[.md"]),
        ("à+b (1).md", ["à+b (1).md", "x/A+b (1).md"], ["aab (1).md"]),
        ("./a.md", ["a.md"], ["b.md"]),
    ],
)
def test_a_pattern_finds_what_people_expect(
    glob: str, inside: list[str], outside: list[str]
) -> None:
    assert [path for path in inside + outside if matches(glob, path)] == inside


def test_nothing_is_no_pattern() -> None:
    assert path_globs(["", " ", "/", "./"]) == ()


@given(st.text(st.sampled_from("ab/.[({é+ "), min_size=1, max_size=20))
def test_a_path_without_wildcards_finds_itself(path: str) -> None:
    path = re.sub("/+", "/", path.strip(" /"))
    if path and path not in {".", "./"} and not path.startswith("./"):
        assert matches(path, path)
