"""Which file a link means: Obsidian's rules."""

import pytest

from archivolt.domain.link_resolution import resolve_link
from archivolt.domain.paths import VaultPath


def resolved(target: str, source: str, *paths: str) -> str | None:
    return resolve_link(target, VaultPath(source), [VaultPath(path) for path in paths])


def test_a_name_is_found_anywhere_and_without_regard_to_case() -> None:
    assert resolved("NOTE", "x.md", "deep/er/Note.md") == "deep/er/Note.md"


def test_both_forms_of_an_accent_are_one_name() -> None:
    assert resolved("e\u0301te\u0301", "x.md", "a/été.md") == "a/été.md"


def test_nothing_means_the_note_itself() -> None:
    assert resolved("", "a/x.md", "a/y.md") == "a/x.md"


def test_the_path_from_the_root_wins_over_the_same_folder() -> None:
    assert resolved("a", "sub/x.md", "sub/a.md", "a.md") == "a.md"
    assert resolved("sub/a", "sub/x.md", "sub/sub/a.md", "sub/a.md") == "sub/a.md"


def test_files_below_the_folder_of_the_note_win_over_shorter_paths() -> None:
    assert resolved("a", "sub/x.md", "b/a.md", "sub/deep/a.md") == "sub/deep/a.md"
    assert resolved("a", "su/x.md", "c/a.md", "sub/a.md") == "c/a.md"


def test_else_the_shortest_path_wins_then_the_alphabet() -> None:
    assert resolved("a", "x/x.md", "b/cc/a.md", "z/a.md", "y/a.md") == "y/a.md"


def test_of_two_cases_the_written_one_wins() -> None:
    assert resolved("A", "x.md", "a.md", "A.md") == "A.md"
    assert resolved("a", "x.md", "a.md", "A.md") == "a.md"
    assert resolved("a", "x.md", "d/a.md", "d/A.md") == "d/a.md"


def test_the_last_names_of_a_path_are_enough() -> None:
    assert resolved("c/a", "x.md", "b/c/a.md", "b/d/a.md") == "b/c/a.md"
    assert resolved("c/a", "x.md", "bc/a.md") is None


def test_a_relative_link_starts_at_the_folder_of_the_note() -> None:
    assert resolved("./a", "s/x.md", "a.md", "s/a.md") == "s/a.md"
    assert resolved("../a.md", "s/t/x.md", "a.md", "s/a.md") == "s/a.md"
    assert resolved("../../../a", "s/x.md", "a.md") == "a.md"
    assert resolved("./.././a", "s/t/x.md", "s/a.md", "a.md") == "s/a.md"


def test_a_link_from_the_root_is_never_sought_elsewhere() -> None:
    assert resolved("/a", "s/x.md", "s/a.md") is None
    assert resolved("/s/a", "x.md", "s/a.md") == "s/a.md"


@pytest.mark.parametrize(
    ("target", "paths", "expected"),
    [
        ("v1.2", ("v1.2.md",), "v1.2.md"),
        ("v1.2", ("v1.2", "v1.2.md"), "v1.2"),
        ("a.png", ("i/a.png",), "i/a.png"),
        ("a", ("a", "a.md"), "a.md"),
        ("LICENSE", ("LICENSE",), "LICENSE"),
        ("a", ("a.png",), None),
        ("a.md", ("a.md",), "a.md"),
        ("folder/", ("folder/a.md",), None),
    ],
)
def test_only_md_may_be_left_out(target: str, paths: tuple[str, ...], expected: str | None) -> None:
    assert resolved(target, "x.md", *paths) == expected
