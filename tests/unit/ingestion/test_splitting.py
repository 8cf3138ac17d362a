import tarfile
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from archivolt.domain.ingestion import Passage
from archivolt.domain.limits import MAX_HEADING_CHARS
from archivolt.ingestion.splitting import split
from archivolt.retrieval.tokens import token_upper_bound


def words(text: str) -> int:
    """A counter a reader can follow: one token a word."""
    return len(text.split())


def pieces(markdown: str, budget: int = 20, count: Callable[[str], int] = words) -> list[Passage]:
    return split(markdown, budget=budget, count=count)


def sentence(number: int, length: int = 8) -> str:
    return " ".join(f"w{number}x{word}" for word in range(length - 1)) + " end."


def test_a_short_note_is_one_passage() -> None:
    assert pieces("Just a thought.\n") == [Passage(number=0, text="Just a thought.", line=1)]


def test_a_passage_carries_the_headings_it_stands_under() -> None:
    text = f"# Guide\n\n{sentence(1)}\n\n## Setup\n\n### On *Linux*\n\n{sentence(2)}\n"
    assert [(p.headings, p.text, p.line) for p in pieces(text)] == [
        (("Guide",), sentence(1), 3),
        (("Guide", "Setup", "On Linux"), sentence(2), 9),
    ]


def test_a_deeper_heading_is_left_with_its_section() -> None:
    text = f"# A\n\n## B\n\n{sentence(1)}\n\n# C\n\n{sentence(2)}"
    assert [p.headings for p in pieces(text)] == [("A", "B"), ("C",)]


def test_small_sections_share_a_passage_under_what_they_share() -> None:
    text = "# Log\n\n## One\n\na\n\n## Two\n\nb\n\n## Three\n\nc\n"
    (passage,) = pieces(text, budget=80)
    assert passage.headings == ("Log",)
    assert passage.text == "## One\n\na\n\n## Two\n\nb\n\n## Three\n\nc"


def test_a_small_section_that_shares_nothing_stays_alone() -> None:
    assert [p.headings for p in pieces("# A\n\na\n\n# B\n\nb\n", budget=80)] == [("A",), ("B",)]


def test_a_heading_goes_with_what_follows_it() -> None:
    text = f"# A\n\n{sentence(1, 15)}\n\n{sentence(2, 3)}\n\n## B\n\n{sentence(3, 12)}\n"
    assert not any(p.text.endswith("## B") for p in pieces(text))


def test_a_heading_that_leaves_no_room_for_what_follows_is_no_passage_of_its_own() -> None:
    found = pieces(f"# A\n\n## B\n\n{sentence(1, 20)}\n")
    assert [(p.headings, p.text) for p in found] == [(("A", "B"), sentence(1, 20))]


@pytest.mark.parametrize("form", ["# {}\n\nText\n", "{}\n===\n\nText\n"])
def test_of_a_long_heading_nothing_is_lost(form: str) -> None:
    heading = " ".join(f"word{number}" for number in range(60))
    (passage,) = pieces(form.format(heading), budget=500)
    assert heading in passage.text
    assert passage.text.endswith("Text")


def test_a_note_of_headings_alone_is_kept() -> None:
    (passage,) = pieces("# Only a title\n")
    assert passage.text == "# Only a title"


@pytest.mark.parametrize(
    "heading", ["Title {/*the-title*/}", "Title {#the-title}", "[Title](x.md)"]
)
def test_anchors_and_links_are_no_part_of_a_title(heading: str) -> None:
    assert pieces(f"# {heading}\n\nText\n")[0].headings == ("Title",)


def test_front_matter_gives_the_title_and_stays_findable() -> None:
    found = pieces('---\ntitle: "useState"\ntags: [hooks]\n---\n\nText\n\n## Usage\n\nMore\n')
    assert found[0].headings == ("useState",)
    assert "tags: [hooks]" in found[0].text
    assert found[0].line == 2


def test_a_rule_at_the_start_is_not_front_matter() -> None:
    (passage,) = pieces("---\n\nText\n\n---\n")
    assert "Text" in passage.text


def test_a_fence_that_fits_is_not_torn() -> None:
    code = "```py\n" + "\n".join(f"line{n} = {n}" for n in range(5)) + "\n```"
    found = pieces(f"{sentence(1, 15)}\n\n{code}\n\n{sentence(2, 15)}\n")
    assert [p.text for p in found if "```" in p.text] == [code]


def test_every_part_of_a_long_fence_is_a_fence() -> None:
    code = "~~~~js title\n" + "\n".join(f"line{n};" for n in range(90)) + "\n~~~~"
    found = pieces(f"Intro\n\n{code}\n")
    assert len(found) > 4
    assert all(p.text.splitlines()[0] == "~~~~js" for p in found if "line" in p.text)
    assert all(p.text.splitlines()[-1] == "~~~~" for p in found if "line" in p.text)
    lines = code.splitlines()
    for passage in found[1:]:
        assert passage.line is not None
        assert lines[passage.line - 3] == passage.text.splitlines()[1]


def test_a_fence_in_a_list_item_is_not_torn() -> None:
    code = "\n".join(f"  line{n};" for n in range(40))
    found = pieces(f"- {sentence(1)}\n\n  ```js\n{code}\n  ```\n\n- {sentence(2)}\n")
    parts = [p.text for p in found if "line" in p.text]
    assert len(parts) > 2
    assert all(text.count("```") == 2 for text in parts)


def test_a_tag_does_not_hide_the_fence_after_it() -> None:
    found = pieces("<Sandpack>\n```js\na\n\n# no heading\n```\n</Sandpack>\n\n# Heading\n\nText\n")
    assert [p.headings for p in found] == [(), ("Heading",)]


def test_every_part_of_a_long_table_has_its_header() -> None:
    rows = "\n".join(f"| name{n} | value{n} |" for n in range(30))
    found = pieces(f"Before\n| Name | Value |\n|---|---|\n{rows}\n", budget=40)
    tables = [p.text for p in found if "name" in p.text]
    assert len(tables) > 3
    assert all(text.startswith("| Name | Value |\n|---|---|\n| name") for text in tables[1:])


def test_a_long_list_is_cut_between_its_items() -> None:
    items = [f"- {sentence(n, 5)}\n  {sentence(n + 100, 5)}" for n in range(12)]
    found = pieces("\n".join(items))
    assert all(p.text.startswith("- ") and p.text.endswith("end.") for p in found)


def test_a_long_paragraph_is_cut_between_its_sentences() -> None:
    found = pieces(" ".join(sentence(n) for n in range(9)))
    assert all(p.text.endswith("end.") for p in found)


def test_page_marks_give_the_page_and_are_not_shown() -> None:
    text = "\n".join(f"<!-- page {n} -->\n{sentence(n)}\n" for n in (1, 2, 3))
    assert [(p.page, p.text) for p in pieces(text)] == [(n, sentence(n)) for n in (1, 2, 3)]


def test_link_definitions_html_and_jsx_are_kept() -> None:
    text = (
        "import {A} from './a'\n\n<Intro>\n\nHello\n\n</Intro>\n\n<A\n  b={1}\n/>\n\n"
        "[ref]: https://example.com/x\n\n<div>raw</div>\n"
    )
    (passage,) = pieces(text, budget=100)
    assert Counter(passage.text.split()) == Counter(text.split())


def test_a_title_has_a_bounded_length_and_its_text_is_kept() -> None:
    title = " ".join(f"t{n}" for n in range(500))
    found = pieces(f"# {title}\n\nbody\n")
    assert len(found[0].headings[0]) <= MAX_HEADING_CHARS
    assert "t499" in " ".join(p.text for p in found)


def test_an_empty_document_has_no_passages() -> None:
    assert pieces("") == []
    assert pieces("\n \n\t\n<!-- page 1 -->\n") == []


_LINES = (  # noqa: SIM905
    "# H1|## H2|- item|  - sub|> quote|```|~~~|- ```|> ```|---|title: x|| |text text text"
    "|<!-- page 2 -->|<div>|    code|===|[a]: b|1. one|\r|\0|é。漢字"
).split("|")
_MARKDOWN = st.lists(
    st.sampled_from([*_LINES, "| a | b |", "|---|---|", "long " * 30, "x" * 90]), max_size=40
).map("\n".join)


@example("```\n# H1\n# H1\n# H1\ntitle: x\n# H1\n# H1\n- item\n# H1\n# H1", 8)
@example("```\n" + "long " * 30 + "\n> ```", 11)
@given(_MARKDOWN, st.integers(min_value=8, max_value=60))
def test_nothing_is_over_the_budget_and_no_word_is_lost(markdown: str, budget: int) -> None:
    def count(text: str) -> int:
        return len(text) // 4 + 1

    found = split(markdown, budget=budget, count=count, overlap=budget // 4)
    assert all(count(p.text) <= budget for p in found)
    assert [p.number for p in found] == list(range(len(found)))
    shown = " ".join(" ".join((*p.headings, p.text)) for p in found)
    for word in ("item", "sub", "quote", "one", "code", "漢字", "H1", "H2"):
        assert (word in shown) or (word not in markdown)


@example("e" + "\u0301" * 12, 10)
@given(st.text(max_size=400), st.integers(min_value=10, max_value=40))
def test_any_text_is_split_within_the_budget(text: str, budget: int) -> None:
    assert all(token_upper_bound(p.text) <= budget for p in pieces(text, budget, token_upper_bound))


@pytest.mark.parametrize(
    "hostile",
    [
        "a" * 1_000_000,
        "[" * 100_000,
        "- " * 100_000,
        ">" * 100_000,
        "\n".join("  " * depth + "- x" for depth in range(1_000)),
        "|a|b|\n|-|-|\n" + "|cell|cell|\n" * 100_000,
        "[a]: b\n" * 50_000,
        "# h\n" * 50_000,
        "<" * 200_000,
        "a\n\n" * 50_000,
        "```\n" + "x\n" * 100_000,
        "\n" * 1_000_000,
    ],
    ids=lambda text: ascii(text[:8]),
)
def test_hostile_text_costs_seconds_at_most(hostile: str) -> None:
    start = time.process_time()
    found = split(hostile, budget=256, count=token_upper_bound)
    assert time.process_time() - start < 20
    assert all(token_upper_bound(p.text) <= 256 for p in found)


_CORPUS = Path(__file__).parents[4] / "shared" / "data" / "vaults"


@pytest.mark.corpus
@pytest.mark.skipif(not _CORPUS.is_dir(), reason="real data is outside the repository")
def test_real_pages_are_split_without_torn_fences() -> None:
    with tarfile.open(_CORPUS / "react-docs-fr.tar.gz") as archive:
        for member in archive.getmembers()[:120]:
            stored = archive.extractfile(member) if member.name.endswith(".md") else None
            if stored is None:
                continue
            for passage in split(stored.read().decode(), budget=256, count=token_upper_bound):
                fences = sum(line.lstrip().startswith("```") for line in passage.text.split("\n"))
                assert fences % 2 == 0, (member.name, passage)
