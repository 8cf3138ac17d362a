"""The links of a note, however they are written, and what is no link."""

import time

import pytest

from archivolt.domain.note_links import LinkKind, NoteLink, link_key, links_in, written_links


def only(text: str) -> NoteLink:
    (link,) = links_in(text)
    return link


def targets(text: str) -> list[str]:
    return [link.target for link in links_in(text)]


@pytest.mark.parametrize(
    ("text", "target", "heading", "alias"),
    [
        ("[[t]]", "t", "", ""),
        ("[[ t ]]", "t", "", ""),
        ("[[t|alias]]", "t", "", "alias"),
        ("[[t#Part#Sub]]", "t", "Part#Sub", ""),
        ("[[t#^block|see]]", "t", "^block", "see"),
        ("[[#Part]]", "", "Part", ""),
        ("| [[t\\|alias]] | x |", "t", "", "alias"),
        ("[[dir/à+b (1).md]]", "dir/à+b (1).md", "", ""),
        ("[[100%20]]", "100%20", "", ""),
    ],
)
def test_a_wikilink_tells_target_heading_and_alias(
    text: str, target: str, heading: str, alias: str
) -> None:
    link = only(text)

    assert (link.kind, link.target, link.heading, link.alias) == (
        LinkKind.WIKI,
        target,
        heading,
        alias,
    )


def test_an_embed_keeps_its_size_as_its_alias() -> None:
    link = only("see ![[img.png|100]].")

    assert (link.kind, link.target, link.alias) == (LinkKind.EMBED, "img.png", "100")
    assert (link.start, link.end) == (4, 20)


@pytest.mark.parametrize(
    ("text", "target", "heading"),
    [
        ("[x](a.md)", "a.md", ""),
        ("[x](a%20b.md#Head%20x)", "a b.md", "Head x"),
        ("[x](<a b.md>)", "a b.md", ""),
        ("![x](img/a.png 'a title')", "img/a.png", ""),
        ('[x](../up.md "a title")', "../up.md", ""),
        ("[x](a(b).md)", "a(b).md", ""),
        ("[x](a\\(b.md)", "a(b.md", ""),
        ("[x](%5B%5B.md)", "[[.md", ""),
        ("[x](100%.md)", "100%.md", ""),
        ("[x](%E9.md)", "%E9.md", ""),
        ("[x](#part)", "", "part"),
        ("[a [b] c](d.md)", "d.md", ""),
        ("[label]: <x y.md> 'title'", "x y.md", ""),
        ("[label]: x.md", "x.md", ""),
        ("> [x](a.md)", "a.md", ""),
        ("> [label]: x.md", "x.md", ""),
        ("- [label]: x.md", "x.md", ""),
        ("[label]:\n  x.md", "x.md", ""),
    ],
)
def test_a_markdown_link_is_decoded(text: str, target: str, heading: str) -> None:
    link = only(text)

    assert (link.kind, link.target, link.heading) == (LinkKind.MARKDOWN, target, heading)


def test_an_image_inside_a_link_is_a_link_too() -> None:
    assert targets("[![alt](img.png)](t.md)") == ["t.md", "img.png"]


def test_a_link_holds_no_other_link() -> None:
    assert targets("[a [b](inner.md) c](outer.md)") == ["inner.md"]


def test_each_definition_of_a_reference_is_a_link() -> None:
    assert targets("[a]: a.md\n[b]: b.md 'B'\n[^1]: [[note]]\n") == ["a.md", "b.md", "note"]
    assert targets("> [a]: a.md\n> [b]: b.md\n\nT\n===\n[c]: c.md\n") == ["a.md", "b.md", "c.md"]


@pytest.mark.parametrize(
    "text",
    [
        "[x](https://example.org/a.md)",
        "[x](mailto:a@example.org)",
        "[x](//example.org/a)",
        "[[https://example.org]]",
        "[[]]",
        "[[ | ]]",
        "[[a\nb]]",
        "[x]()",
        "[x](a b.md)",
        "[x] (a.md)",
        "[x](a.md",
        "[word]: this is prose",
        "[word]: open(.md",
        "> a paragraph\n[goes]: on.md",
        "\\[[no]]",
        "\\[no](no.md)",
        "`[[no]]`",
        "`` ` [[no]] ``",
        "$[[1, 2]]$",
        "$$\n[[no]]\n$$",
        "text $$[[no]]$$",
        "```\n[[no]]\n```",
        "~~~~ md\n[[no]]\n~~~\n[[no]]\n~~~~",
        "```\n[[no]]",
        "- ```\n  [[no]]\n  ```",
        "> ```\n> [[no]]\n> ```",
        "\n    [[no]]",
        "- item\n\n      [[no]]",
        "<!-- [[no]] -->",
        "<!--\n\n[[no]]\n\n-->",
        "text <!-- [[no]] -->",
        "---\nraw: [[no]]\n# '[[no]]'\n---\n",
    ],
)
def test_what_is_no_link_is_none(text: str) -> None:
    assert links_in(text) == []


@pytest.mark.parametrize(
    "text",
    [
        "It costs $5 [[yes]] or $6",
        "a stray ` tick [[yes]]\n\nand ` another",
        "- a ` tick [[yes]]\n- and ` another",
        "    quoted\n[[yes]]\n    continued",
        "- item\n\n    [[yes]]",
        "1. item\n   - deeper\n\n     [[yes]]",
        "```\ncode\n```\n[[yes]]",
        "> ```\n> code\n[[yes]]",
        "<!-- never closed [[yes]]",
        "<!--\nclosed\n--> [[yes]]",
        "$$ never closed [[yes]]",
        "#tag [[yes]]",
        "[[yes]](aside)",
        "\r\n[[yes]]\r\n",
    ],
)
def test_what_looks_like_code_and_is_prose_has_links(text: str) -> None:
    assert targets(text) == ["yes"]


def test_quoted_strings_of_the_front_matter_have_links() -> None:
    text = """---
up: "[[Parent|p]]"
rel: ['[[It''s]]', "[[a \\"b\\"]]"]
---
"""
    assert targets(text) == ["Parent", "It's", 'a "b"']


def test_a_link_knows_where_its_target_is_written() -> None:
    text = "---\nup: '[[It''s]]'\n---\n[[ a#h|x ]] ![i](<b c.png#z> 't')"

    assert [text[link.start : link.end] for link in written_links(text)] == [
        "It''s",
        "a",
        "b c.png",
    ]


def test_files_and_links_of_one_name_have_one_key() -> None:
    assert link_key("dir/Été.md") == link_key("e\u0301te\u0301") == "été"


@pytest.mark.parametrize(
    "hostile",
    ["[[", "![[", "[[a", "[a](", "[a](()", '[a](b "', "[a](b 'c", "[](<", "`` ` ", "<!--\n\n[",
     "$$\n\n[", "$a ", "[a]: b\n", "- ", "> ", "-\n ", "|[a\n", "[\n", "\\", "[[a]] `"],
)  # fmt: skip
def test_hostile_text_takes_time_in_proportion(hostile: str) -> None:
    small, large = (_seconds("[" + hostile * times) for times in (3_000, 12_000))

    assert large < 8 * small + 0.02


def _seconds(text: str) -> float:
    """Return the processor's time for one reading, the best of three."""
    times: list[float] = []
    for _ in range(3):
        start = time.thread_time()
        links_in(text)
        times.append(time.thread_time() - start)
    return min(times)
