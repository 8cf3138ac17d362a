"""The examples in a page of the documentation, so that tests can run them."""

import re
from dataclasses import dataclass
from pathlib import Path

_DOCS = Path(__file__).parents[1] / "docs"
RUNS_GUIDE = _DOCS / "runs-guide.md"
MCP_GUIDE = _DOCS / "mcp-guide.md"
VAULTS_GUIDE = _DOCS / "vaults-guide.md"

_FENCE = re.compile(r"^(?P<indent> *)```(?P<language>\w+)\n(?P<text>.*?)^ *```$", re.M | re.S)


@dataclass(frozen=True)
class Example:
    """A fenced block: its language, and its text without the indentation of the fence."""

    language: str
    text: str


def examples(page: Path, language: str) -> list[Example]:
    """Return a page's examples in one language, in order."""
    found = [
        Example(match["language"], re.sub(f"^{match['indent']}", "", match["text"], flags=re.M))
        for match in _FENCE.finditer(page.read_text(encoding="utf-8"))
    ]
    return [example for example in found if example.language == language]


def example_with(page: Path, language: str, text: str) -> str:
    """Return the one example in a language that holds `text`."""
    [example] = [example for example in examples(page, language) if text in example.text]
    return example.text
