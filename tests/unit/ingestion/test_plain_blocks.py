"""The outline of plain Markdown is the one that the parser of all of Markdown gives."""

from collections.abc import Iterable, Sequence

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from archivolt.ingestion.markdown_blocks import heading_title, parsed_outline
from archivolt.ingestion.plain_blocks import Outline, PlainBlocks

PIECES = (
    *("", " ", "  ", "   ", "    ", "\t", "a", "b c", "été", "`c`", "**d**", "<div>", "\u00a0"),
    *("# T", "## U ##", "#", "#tag", "####### v", "===", "--", "---", "- - -", "***", "___"),
    *("> q", ">", ">> r", "```", "```py", "````", "~~~", "```a`b", "|a|b|", "|-|-|", "[r]: x"),
    *("- x", "-  y", "-", "* z", "+ w", "1. o", "2. p", "1) q", "1.", "  - n", "   m", "- - k"),
    *("- > l", "- ```", "- # h", "                    - deep"),
)
LINES = st.lists(st.lists(st.sampled_from(PIECES), min_size=1, max_size=2).map("".join), min_size=1)

PLAIN = """# Title

A paragraph of
two lines.
- one
- two

  more of two
  - nested

> quoted
> twice

```py
# no heading
```
1. first

2. second

---
## Next
* other"""


def told(lines: Sequence[str], outlines: Iterable[Outline]) -> list[Outline]:
    """Return outlines with the blank lines at their ends left out, and titles as they are shown."""
    return [
        outline._replace(
            end=max(n for n in range(outline.first, outline.end) if n == outline.first or lines[n])
            + 1,
            title=heading_title(outline.title),
            items=tuple(outline.items),
        )
        for outline in outlines
    ]


@settings(max_examples=200, deadline=None)
@given(LINES)
def test_what_is_outlined_line_by_line_is_what_the_parser_sees(lines: list[str]) -> None:
    plain = PlainBlocks(lines, 0)
    read = list(plain)
    rest = parsed_outline([*[""] * plain.stopped, *lines[plain.stopped :]])

    bare = [line.strip(" \t") for line in lines]
    assert told(bare, [*read, *rest]) == told(bare, parsed_outline(lines))


def test_an_ordinary_note_needs_no_parser() -> None:
    lines = PLAIN.split("\n")
    plain = PlainBlocks(lines, 0)

    assert told(lines, plain) == told(lines, parsed_outline(lines))
    assert plain.stopped == len(lines)


@pytest.mark.parametrize(
    "odd", ["    code", "Title\n===", "- one\nlazily two", "> quoted\nlazily", "-   wide", "# T #"]
)
def test_what_may_mean_something_else_is_left_to_the_parser(odd: str) -> None:
    plain = PlainBlocks(["plain", "", *odd.split("\n")], 0)

    assert len(list(plain)) == 1
    assert plain.stopped < len(odd.split("\n")) + 2
