"""Links follow what moves, in the way they were written; all others stay as they are."""

from collections.abc import Mapping, Sequence
from urllib.parse import quote

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from archivolt.domain.link_resolution import resolve_link
from archivolt.domain.note_links import NoteLink, link_key, links_in
from archivolt.domain.paths import VaultPath
from archivolt.vaults.link_rewriting import Relocation


def relocation(moves: Mapping[str, str], paths: Sequence[str]) -> Relocation:
    """Return moves among the files that were there before."""

    def named(keys: Sequence[str]) -> list[VaultPath]:
        return [VaultPath(path) for path in paths if link_key(path) in keys]

    return Relocation({VaultPath(old): VaultPath(new) for old, new in moves.items()}, named)


def follow(text: str, source: str, moves: Mapping[str, str], *paths: str) -> str:
    """Return the text of a note after moves."""
    return relocation(moves, (*paths, *moves)).rewritten(text, VaultPath(source))


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("[[a]]", "[[b]]"),
        ("[[a|alias]]", "[[b|alias]]"),
        ("[[ a#Part#Sub|alias ]]", "[[ b#Part#Sub|alias ]]"),
        ("[[a#^block]]", "[[b#^block]]"),
        ("| [[a\\|alias]] |", "| [[b\\|alias]] |"),
        ("![[a]]", "![[b]]"),
        ("![[a|100]]", "![[b|100]]"),
        ("[[A.md]]", "[[b.md]]"),
        ("[[d/a]]", "[[d/b]]"),
        ("[[/d/a]]", "[[/d/b]]"),
        ("[[./d/a]]", "[[./d/b]]"),
        ('[x](a.md "title")', '[x](b.md "title")'),
        ("[x](d/a.md#part)", "[x](d/b.md#part)"),
        ("[x](./d/a.md)", "[x](./d/b.md)"),
        ("[x](/d/a)", "[x](/d/b)"),
        ("[x](<d/a.md>)", "[x](<d/b.md>)"),
        ("[x]: d/a.md 'title'", "[x]: d/b.md 'title'"),
        ("---\nup: '[[a|p]]'\n---\n", "---\nup: '[[b|p]]'\n---\n"),
    ],
)
def test_only_the_target_of_a_link_changes(before: str, after: str) -> None:
    assert follow(f"\ufeff{before}\r\nx", "n.md", {"d/a.md": "d/b.md"}) == f"\ufeff{after}\r\nx"


@pytest.mark.parametrize(
    "text", ["[[other]]", "[[nowhere]]", "`[[a]]`", "[[#part]]", "[x](https://a.md)", "raw a.md"]
)
def test_what_does_not_mean_a_moved_file_stays(text: str) -> None:
    assert follow(text, "n.md", {"d/a.md": "d/b.md"}, "other.md") == text


def test_a_name_that_becomes_ambiguous_is_written_as_a_path() -> None:
    assert follow("[[a]]", "n.md", {"d/a.md": "d/b.md"}, "b.md") == "[[d/b]]"


def test_a_link_to_another_file_keeps_its_meaning_when_a_name_is_taken() -> None:
    assert follow("[[b]]", "n.md", {"d/a.md": "b.md"}, "x/b.md") == "[[x/b]]"


def test_a_link_that_meant_nothing_is_not_bound_to_the_new_name() -> None:
    assert follow("[[b]]", "n.md", {"a.md": "b.md"}) == "[[b]]"


def test_a_name_that_still_is_right_after_a_move_stays() -> None:
    assert follow("[[a]] [[d/a]]", "n.md", {"d/a.md": "e/a.md"}) == "[[a]] [[e/a]]"


def test_a_path_from_the_root_stays_one_and_the_end_of_a_path_too() -> None:
    text = "[[b/c/a]] [[c/a]]"

    assert follow(text, "n.md", {"b/c/a.md": "x/b/c/a.md"}) == "[[x/b/c/a]] [[c/a]]"
    assert follow(text, "n.md", {"b/c/a.md": "b/d/a.md"}) == "[[b/d/a]] [[d/a]]"


def test_relative_links_of_a_moved_note_follow() -> None:
    text = "[x](./b.md) ![i](img/i.png) [[../c]]"
    after = follow(text, "d/a.md", {"d/a.md": "a.md"}, "d/b.md", "d/img/i.png", "c.md")

    assert after == "[x](./d/b.md) ![i](d/img/i.png) [[./c]]"


def test_a_markdown_link_stays_right_for_programs_that_read_it_relative_to_its_note() -> None:
    assert follow("[x](b.md)", "a.md", {"a.md": "d/a.md"}, "b.md") == "[x](../b.md)"
    assert follow("[x](b.md)", "d/a.md", {"d/a.md": "a.md"}, "d/b.md") == "[x](d/b.md)"


def test_notes_that_move_together_keep_their_links_to_each_other() -> None:
    moves = {"d/a.md": "e/a.md", "d/b.md": "e/b.md"}

    assert follow("[[b]] [x](b.md) [[d/b]]", "d/a.md", moves) == "[[b]] [x](b.md) [[e/b]]"


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("[x](d/a.md)", "[x](d/à+b%20%281%29%25.md)"),
        ("[x](<d/a.md>)", "[x](<d/à+b (1)%25.md>)"),
        ("[x](%C3%A9/%C3%A9.md)", "[x](%C3%A9/%C3%A0%2Bb.md)".replace("%2B", "+")),
        ("[[a]]", "[[à+b (1)%]]"),
    ],
)
def test_the_encoding_of_a_link_is_kept(before: str, after: str) -> None:
    moves = {"d/a.md": "d/à+b (1)%.md", "é/é.md": "é/à+b.md"}

    assert follow(before, "n.md", moves) == after


def test_a_wikilink_that_cannot_name_a_file_becomes_a_markdown_link() -> None:
    moves = {"a.md": "d/[[.md"}

    assert follow("[[a|x]] ![[a]]", "n.md", moves) == "[x](%5B%5B.md) ![a](%5B%5B.md)"
    assert follow("---\nup: '[[a]]'\n---", "n.md", moves) == "---\nup: '[[a]]'\n---"


def test_quotes_of_front_matter_stay_closed() -> None:
    text = "---\na: '[[a]]'\nb: \"[[a]]\"\n---"
    after = '---\na: \'[[it\'\'s "b"]]\'\nb: "[[it\'s \\"b\\"]]"\n---'

    assert follow(text, "n.md", {"a.md": 'it\'s "b".md'}) == after


def test_a_change_of_case_follows() -> None:
    assert follow("[[a]] [x](a.md)", "n.md", {"a.md": "A.md"}) == "[[A]] [x](A.md)"
    assert follow("[[a]]", "n.md", {"d/a.md": "d/A.md"}, "e/a.md") == "[[A]]"


NAMES = st.sampled_from(
    ["a", "b", "A", "v1.2", "é", "x y", "à+b (1)", "[[", "%", "#1", "a`$|", "😀"]
)
FOLDERS = st.sampled_from(["", "d/", "d/e/", "D/", "e/", "x y/"])
ENDS = st.sampled_from([".md", ".md", ".md", ".png"])
FILES = st.tuples(FOLDERS, NAMES, ENDS).map("".join)


@st.composite
def links(draw: st.DrawFn, files: Sequence[str], source: str) -> str:
    """Return a link to one of the files, or to none, written in one of many ways."""
    path = draw(st.sampled_from([*files, "nowhere.md"]))
    ups = "../" * source.count("/")
    forms = [path, path.rpartition("/")[2], f"/{path}", f"{ups}{path}", f"./{ups}{path}"]
    if "/" in source:
        forms.append(path.removeprefix(source.rpartition("/")[0] + "/"))
    target = draw(st.sampled_from(forms))
    if draw(st.booleans()):
        target = target.removesuffix(".md")
    kind = draw(st.integers(0, 4))
    if kind < 2 and not set(target) & set("[]|#`$"):
        return draw(st.sampled_from([f"[[{target}]]", f"![[{target}|x]]", f"[[{target}#h]]"]))
    encoded = quote(target, safe="/" if kind == 4 else "/é😀+à")
    return draw(st.sampled_from([f"[x]({encoded})", f"![x](<{encoded}> 't')", f"[x]({encoded}#h)"]))


@st.composite
def vaults(draw: st.DrawFn) -> tuple[dict[str, str], dict[str, str]]:
    """Return the notes of a vault by path, and moves of some of its files."""
    files = draw(st.lists(FILES, min_size=2, max_size=7, unique=True))
    texts = {path: " ".join(draw(st.lists(links(files, path), max_size=4))) for path in files}
    if draw(st.booleans()):
        old = draw(st.sampled_from(files))
        new = draw(FILES.filter(lambda path: path not in files))
        return texts, {old: new}
    folder = draw(FOLDERS.filter(bool))
    moves = {path: "new/" + path.removeprefix(folder) for path in files if path.startswith(folder)}
    return texts, moves


def meaning(link: NoteLink, source: str, paths: Sequence[str]) -> str | None:
    return resolve_link(link.target, VaultPath(source), [VaultPath(path) for path in paths])


@settings(max_examples=300, deadline=None)
@given(vaults())
def test_after_any_move_every_link_means_where_its_file_went(
    vault: tuple[dict[str, str], dict[str, str]],
) -> None:
    texts, moves = vault
    moving = relocation(moves, list(texts))
    paths_after = [moves.get(path, path) for path in texts]

    for source, text in texts.items():
        after = moving.rewritten(text, VaultPath(source))
        old, new = links_in(text), links_in(after)
        assert len(old) == len(new)
        for before, now in zip(old, new, strict=True):
            meant = meaning(before, source, list(texts))
            if meant is None:
                assert (before.target, before.kind) == (now.target, now.kind)
            else:
                found = meaning(now, moves.get(source, source), paths_after)
                assert found == moves.get(meant, meant)
            assert (before.heading, before.alias or now.alias) == (now.heading, now.alias)
