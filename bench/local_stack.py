"""A stack on this machine for the benchmarks that need one, and something to put in it."""

import random
import tarfile
import tempfile
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx2

from tests.e2e.stack import Stack, running

# Real pages, where they are kept beside the repository.
_REAL_PAGES = Path(__file__).parents[2] / "shared" / "data" / "vaults" / "react-docs-fr.tar.gz"
_PAGES = 200
_SECTIONS = 6
_WORDS_PER_SECTION = 120
_VOCABULARY = 4_000


@contextmanager
def started(folder: Path, vault: str) -> Generator[Stack]:
    """Start a stack that mirrors a folder, on data of its own."""
    with (
        tempfile.TemporaryDirectory() as root,
        running(Stack(Path(root), {vault: folder})) as stack,
    ):
        yield stack


def index_states(http: httpx2.Client, vault: str) -> dict[str, int]:
    """Return how many files of a vault are in each state; empty while it does not exist."""
    answer = http.get(f"/api/v1/vault/{vault}/index")
    states: dict[str, Any] = answer.json().get("states", {})
    return states


@contextmanager
def pages() -> Generator[tuple[str, Path]]:
    """A folder of pages and what they are: real ones where there are, else generated ones."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        if _REAL_PAGES.exists():
            with tarfile.open(_REAL_PAGES) as archive:
                archive.extractall(folder, filter="data")
            yield "react-docs-fr", folder / "react-docs-fr"
        else:
            _generate(folder)
            yield "generated pages", folder


def small_notes(folder: Path, count: int) -> list[Path]:
    """Fill a folder with as many small notes, the same each time; return their files."""
    chance = random.Random(2)  # noqa: S311  the same notes each time
    words = [_word(chance) for _ in range(_VOCABULARY)]
    files: list[Path] = []
    for number in range(count):
        note = folder / f"area-{number % 50}" / f"note-{number}.md"
        note.parent.mkdir(parents=True, exist_ok=True)
        lines = [" ".join(chance.choices(words, k=12)) for _ in range(chance.randint(3, 12))]
        link = f"See [[note-{chance.randrange(count)}]]."
        note.write_text("\n\n".join([f"# Note {number}", *lines, link]) + "\n", encoding="utf-8")
        files.append(note)
    return files


def _generate(folder: Path) -> None:
    chance = random.Random(1)  # noqa: S311  the same pages each time
    words = [_word(chance) for _ in range(_VOCABULARY)]
    for number in range(_PAGES):
        page = folder / f"section-{number % 10}" / f"page-{number}.md"
        page.parent.mkdir(exist_ok=True)
        sections = [
            f"## {chance.choice(words)}\n\n{' '.join(chance.choices(words, k=_WORDS_PER_SECTION))}."
            for _ in range(_SECTIONS)
        ]
        page.write_text(f"# Page {number}\n\n" + "\n\n".join(sections), encoding="utf-8")


def _word(chance: random.Random) -> str:
    return "".join(chance.choice("bdfglmnprstv") + chance.choice("aeiou") for _ in range(3))
