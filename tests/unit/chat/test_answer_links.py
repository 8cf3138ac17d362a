"""Which links of an answer lead elsewhere once a document moved, and that it reads as before."""

import os
from collections.abc import Iterator, Sequence
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from markdown_it import MarkdownIt
from markdown_it.token import Token

from archivolt.chat.answer_links import led_elsewhere, links_to_documents, place_at
from archivolt.domain.paths import VaultPath

# More by the environment, to look for longer.
EXAMPLES = int(os.environ.get("LINK_EXAMPLES", "40"))  # noqa: TID251  not the product's
LINK = "[x](vault://notes/a.md)"
LED = "[x](vault://notes/b.md)"
Read = tuple[str, str, tuple[tuple[str, Any], ...]]


@pytest.mark.parametrize(
    "code", [f"`{LINK}`", f"``a ` {LINK}``", f"`a\n{LINK}`", "[x\\](vault://notes/a.md)"]
)
def test_what_is_code_or_escaped_stays_and_what_is_beside_it_is_led(code: str) -> None:
    text = f"{LINK} {code} {LINK} `` ` {LINK}"

    led = led_elsewhere(text, lambda _vault, _path: VaultPath("b.md"))

    assert led == f"{LED} {code} {LED} `` ` {LED}"


@pytest.mark.parametrize(
    ("written", "path"),
    [
        ("[x](vault://n/a.md)", "a.md"),
        ("![x](vault://n/a.png)", "a.png"),
        ("[![x](y.png)](vault://n/a.md)", "a.md"),
        ("[x](VAULT://n/a.md 'title')", "a.md"),
        ("[x](<vault://n/a b (c).md>)", "a b (c).md"),
        ("[x](vault://n/a%20b%5Bc%5D.md#part)", "a b[c].md"),
        ("[x](vault://n/a(b).md)", "a(b).md"),
        (r"[x](vault://n/a\(b\[\_.md)", "a(b[_.md"),
        ("[x](vault://n/R&amp;D.md)", "R&D.md"),
        ("[x](vault://n/what%3F%23.md)", "what?#.md"),
        ("[x](vault://n/what?.md)", "what?.md"),
        ("[x](vault://n/e\u0301te\u0301.md)", "été.md"),
        ("[x](vault://n/e%CC%81.md)", "é.md"),
        ("| a | [x](vault://n/a.md) |\n|---|---|", "a.md"),
        ("[1]: vault://n/a.md", "a.md"),
        ("> [1]: vault://n/a.md", "a.md"),
        ("> [0]: b\n> [1]: <vault://n/a b.md> 'title'", "a b.md"),
        ("- [1]: vault://n/a.md", "a.md"),
        ("2. > - [1]: vault://n/a.md", "a.md"),
        ("Sources\n---\n[1]:\n  vault://n/a.md", "a.md"),
        ("<vault://n/a.md>", "a.md"),
        ("> > <vault://n/a%20b.md#part>", "a b.md"),
        ("```\ncode\n```\n<vault://n/a.md>", "a.md"),
    ],
)
def test_a_link_of_every_form_is_found_and_led(written: str, path: str) -> None:
    [link] = links_to_documents(written)
    assert (link.vault, link.path) == ("n", path)

    led = led_elsewhere(written, moved)

    assert [each.path for each in links_to_documents(led)] == [f"moved/{path}"]
    assert read(led) == read(written, lead=True)


@pytest.mark.parametrize(
    "text",
    [
        "vault://n/a.md",
        "It is (vault://n/a.md).",
        "x](vault://n/a.md)",
        "[x](vault://n/a b.md)",
        "[x] (vault://n/a.md)",
        r"\<vault://n/a.md>",
        "<vault://n/a b.md>",
        "[^1]: vault://n/a.md",
        "[x](https://n/a.md) <https://vault://n/a.md>",
        "[x](vault://n/../a.md) <vault://n> <vault://>",
        "`<vault://n/a.md>`",
        "    <vault://n/a.md>",
        "```\n[1]: vault://n/a.md\n```",
        "> ~~~\n> [x](vault://n/a.md)",
        "Text\n[1]: vault://n/a.md",
    ],
)
def test_what_is_no_link_to_a_document_stays(text: str) -> None:
    assert led_elsewhere(text, moved) == text


@pytest.mark.parametrize(
    "text",
    [
        "[1]: <vault://n/a.md>.",
        "[1]: <vault://n/a.md>,\n[2]: <vault://n/b.md>;",
        "- [1]: <vault://n/a.md>**",
        "> [1]:\n> <vault://n/a.md>.",
        "[^1]: <vault://n/a.md>.",
        "Sources:\n[1]: <vault://n/a.md>",
        "[1]: [b](<vault://n/b c.md>)",
        "[1]: **![b](<vault://n/b(.md#c>)**",
    ],
)
def test_a_link_behind_what_looks_like_a_label_stays_to_be_read(text: str) -> None:
    led = led_elsewhere(text, moved)

    assert read(led) == read(text, lead=True)
    assert led != text


ADDRESSES = st.sampled_from(
    ["vault://n/a.md", "vault://n/b%20c.md#part", "vault://n/d(e).md", r"vault://n/f\)\*.md"]
)
FREE = st.sampled_from(["vault://n/*a*_b_~c~.md", "vault://n/a`b`.md#d)", "vault://n/a&amp;b.md"])
INLINE = st.recursive(
    st.one_of(
        st.sampled_from(["word", "**bold**", "`", "``", "\\", "[", "]", "!", "$5", "<b", "[r]"]),
        ADDRESSES.map(lambda address: f"[x]({address})"),
        ADDRESSES.map(lambda address: f"![x](<{address}> 't')"),
        ADDRESSES.map(lambda address: f"`` [x]({address}) ``"),
        ADDRESSES.map(lambda address: f"\\[x]({address})"),
        ADDRESSES | FREE,
        (ADDRESSES | FREE).map(lambda address: f" <{address}>"),
    ),
    lambda inner: st.lists(inner, min_size=1, max_size=3).map(lambda all_: f"[{' '.join(all_)}]"),
    max_leaves=4,
)
LINES = st.lists(INLINE, min_size=1, max_size=4).map(" ".join).map(str.strip)
LEAVES = st.one_of(
    LINES,
    LINES.map(lambda line: f"## {line}"),
    LINES.map(lambda line: f"```\n{line}\n```"),
    st.tuples(LINES, LINES).map("\n".join),
    LINES.map(lambda line: f"{line}\n===\n[s]: vault://n/s.md"),
    ADDRESSES.map(lambda address: f"[r]: {address}\n[q]: <{address}>\n[r] [q]"),
)
LISTS = st.one_of(
    LEAVES,
    LEAVES.map(lambda block: "- " + block.replace("\n", "\n  ")),
    LEAVES.map(lambda block: "1. w\n   - " + block.replace("\n", "\n     ")),
)
BLOCKS = st.recursive(
    LISTS, lambda inner: inner.map(lambda block: "> " + block.replace("\n", "\n> ")), max_leaves=3
)
TEXTS = st.lists(BLOCKS, min_size=1, max_size=4).map("\n\n".join)


@settings(max_examples=EXAMPLES, deadline=None)
@given(TEXTS)
def test_a_reader_of_markdown_reads_the_same_words_and_every_link_leads_elsewhere(
    text: str,
) -> None:
    assert read(led_elsewhere(text, moved)) == read(text, lead=True)


def moved(_vault: str, path: VaultPath) -> VaultPath:
    return VaultPath(f"moved/{path}")


def read(text: str, *, lead: bool = False) -> list[Read]:
    """Return a text as a parser of all of CommonMark reads it; `lead`: with its links led."""
    parser = MarkdownIt("commonmark", {"html": False}).disable(["html_block", "html_inline"])
    # CommonMark shows an address between `<` and `>` as it is written.
    parser.normalizeLinkText = str  # pyright: ignore[reportAttributeAccessIssue]  its own hook
    return list(_read(parser.parse(text), lead=lead))


def _read(tokens: Sequence[Token], *, lead: bool) -> Iterator[Read]:
    words, inside = "", 0
    for token in tokens:
        if token.type == "text":
            words += token.content
            continue
        if words:
            yield "text", words, ()
        words = ""
        # An address between `<` and `>` within the text of a link stays.
        leads = lead and not (inside and token.type == "link_open")
        inside += {"link_open": 1, "link_close": -1}.get(token.type, 0)
        attributes = tuple((name, _led(value, lead=leads)) for name, value in token.attrs.items())
        content = "" if token.type == "inline" else token.content
        yield token.type, content, attributes
        yield from _read(token.children or (), lead=lead)
    if words:
        yield "text", words, ()


def _led(value: object, *, lead: bool) -> object:
    place = place_at(value) if isinstance(value, str) else None
    if place is None:
        return value
    return (place[0], moved(*place)) if lead else place
