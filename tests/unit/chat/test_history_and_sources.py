"""What the model sees of a conversation, titles, and which passages an answer stands on."""

from typing import Any

import pytest

from archivolt.chat.citations import SourceCollector
from archivolt.chat.history import model_history, title_of
from archivolt.domain.conversation import Author
from archivolt.domain.limits import MAX_CITATIONS, MAX_HISTORY_CHARS
from tests.builders import a_message


def said(*messages: tuple[Author, str]) -> list[tuple[str, str]]:
    kept = [a_message(n, text, author=author) for n, (author, text) in enumerate(messages, 1)]
    return [(message.role, message.text) for message in model_history(kept)]


USER, ASSISTANT = Author.USER, Author.ASSISTANT


def test_history_alternates() -> None:
    history = said((USER, "a"), (ASSISTANT, "b"), (USER, "c"))

    assert history == [("user", "a"), ("assistant", "b"), ("user", "c")]


def test_a_question_without_an_answer_is_joined_to_the_next() -> None:
    assert said((USER, "a"), (USER, "b")) == [("user", "a\n\nb")]
    assert said((USER, "a"), (USER, "a")) == [("user", "a")]


def test_of_a_long_history_the_latest_messages_are_shown_from_a_question_on() -> None:
    half = "x" * (MAX_HISTORY_CHARS // 2)
    history = said((USER, half), (ASSISTANT, half), (USER, half), (ASSISTANT, "y"), (USER, "z"))

    assert [role for role, _ in history] == ["user", "assistant", "user"]
    assert history[-1] == ("user", "z")


def test_the_latest_question_is_shown_however_long() -> None:
    assert len(said((USER, "x" * (MAX_HISTORY_CHARS + 1)))) == 1


@pytest.mark.parametrize(
    ("text", "title"),
    [
        ("Hello", "Hello"),
        ("  Two\n lines ", "Two lines"),
        ("x" * 80, "x" * 60 + "…"),
        (
            "How do I configure the retention of conversations, and where is it?",
            "How do I configure the retention of conversations, and…",
        ),
    ],
)
def test_a_title_is_the_first_words(text: str, title: str) -> None:
    assert title_of(text) == title


def hit(path: str, heading: str = "", page: int | None = None) -> dict[str, Any]:
    uri = f"vault://docs/{path}" + (f"#{heading}" if heading else "")
    found = {"vault": "docs", "path": path, "uri": uri, "heading": heading, "page": page}
    return found | {"excerpt": f"about {path}"}


def used(
    text: str, *hits: dict[str, Any], sources: tuple[str, ...] | None = None
) -> list[tuple[str, str]]:
    collector = SourceCollector()
    collector.add({"hits": list(hits), "notices": []})
    return [(c.path, c.heading) for c in collector.used_in(text, sources)]


A, B, C = hit("a.md", "One"), hit("a.mdx"), hit("sub/b.md", page=4)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("See [it](vault://docs/a.md#One).", [("a.md", "One")]),
        ("See vault://docs/a.md.", [("a.md", "One")]),
        ("As sub/b.md says", [("sub/b.md", "")]),
        ("In `a.mdx`", [("a.mdx", "")]),
        ("Names none", [("a.md", "One"), ("a.mdx", ""), ("sub/b.md", "")]),
    ],
)
def test_the_passages_that_an_answer_names_are_its_sources(
    text: str, expected: list[tuple[str, str]]
) -> None:
    assert used(text, A, B, C) == expected


@pytest.mark.parametrize(
    "text",
    [
        "See [it](<vault://docs/Été (1)/b c.md>).",
        "See [it](vault://docs/E\u0301te\u0301%20(1)/b%20c.md#part 'title').",
        r"> See <vault://docs/%C3%89t%C3%A9%20%281%29/b%20c.md>",
        "See [it][1].\n\n> [1]: vault://docs/%c3%89t%c3%a9%20\\(1\\)/b%20c.md",
    ],
)
def test_a_passage_is_named_by_a_link_of_any_form(text: str) -> None:
    named = hit("Été (1)/b c.md") | {"uri": "vault://docs/%C3%89t%C3%A9%20%281%29/b%20c.md"}

    assert used(text, A, named, B) == [("Été (1)/b c.md", "")]


def test_a_model_that_says_its_sources_is_believed() -> None:
    assert used("a.md", A, B, C, sources=(C["uri"],)) == [("sub/b.md", "")]
    assert used("a.md", A, B, C, sources=()) == []


def test_a_source_that_was_never_found_cannot_be_cited() -> None:
    assert used("vault://secret/x.md", A, sources=("vault://secret/x.md",)) == []


def test_a_passage_found_twice_is_cited_once() -> None:
    assert used("a.md", A, A) == [("a.md", "One")]


def test_there_is_a_limit_to_citations() -> None:
    assert len(used("none", *(hit(f"{n}.md") for n in range(50)))) == MAX_CITATIONS


def test_a_file_that_was_read_is_a_source() -> None:
    collector = SourceCollector()
    collector.add({"vault": "docs", "path": "é.md", "content": "x" * 9_000})

    [citation] = collector.used_in("", None)

    assert citation.uri == "vault://docs/%C3%A9.md"
    assert len(citation.excerpt) == 1_200


def test_a_list_of_files_is_no_source() -> None:
    collector = SourceCollector()
    collector.add({"vault": "docs", "path": "sub", "entries": []})
    collector.add({"vaults": []})

    assert collector.used_in("sub", None) == ()
