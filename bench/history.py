"""`python -m bench.history REPOSITORY…`: replays the history of notes, as it happened.

Every commit of a git repository becomes changes of files, their events and the jobs that follow, in
the product's own use cases over in-process stores. It prints what was embedded beside what was new,
and whether the index in the end equals one that was made anew.
"""

import argparse
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from bench.table import Row, render
from tests.fakes.vectors import WordHashEmbedder
from tests.history_world import HistoryWorld

_NOTES: Final = (".md", ".mdx", ".markdown", ".txt", ".rst", ".org")
_MAX_BYTES: Final = 1_000_000


def main() -> None:
    """Replay the repositories that were named."""
    parser = argparse.ArgumentParser(prog="bench.history", description=__doc__)
    parser.add_argument("repositories", nargs="+", type=Path)
    rows: list[Row] = []
    for repository in parser.parse_args().repositories:
        print(f"… {repository.name}", file=sys.stderr, flush=True)
        rows += replayed(repository)
    print(render(rows))


def replayed(repository: Path) -> list[Row]:
    """Return what replaying a repository's history came to."""
    world = HistoryWorld(WordHashEmbedder())
    commits, changes, largest = 0, 0, 0
    for files in commits_of(repository):
        commits, changes, largest = commits + 1, changes + len(files), max(largest, len(files))
        world.commit(files)
        world.work_off()
    embedded = world.embedder.embedded
    converged = world.is_as_made_anew()
    name = repository.resolve().name
    return [
        Row(measure=f"{name}: commits", value=commits, unit=""),
        Row(measure=f"{name}: changes of files", value=changes, unit=""),
        Row(measure=f"{name}: changes of one commit, at most", value=largest, unit=""),
        Row(
            measure=f"{name}: texts embedded",
            value=len(embedded),
            unit="",
            floor="distinct",
            floor_value=len(set(embedded)),
        ),
        Row(measure=f"{name}: equals an index made anew (1: yes)", value=converged, unit=""),
    ]


def commits_of(repository: Path) -> Iterator[dict[str, str | None]]:
    """Yield what each commit made of the notes, the first one first; None: it deleted them."""
    for commit in _git(repository, "rev-list", "--reverse", "--first-parent", "HEAD").split():
        listed = _git(repository, "diff-tree", "-r", "-m", "--first-parent", "--root", "-z", commit)
        # After the commit's own name: `:modes blobs status`, then the path.
        fields = [field for field in listed.split("\0") if field][1:]
        files: dict[str, str | None] = {}
        for about, path in zip(fields[::2], fields[1::2], strict=True):
            if path.endswith(_NOTES):
                *_, blob, status = about.split()
                text = None if status == "D" else _git(repository, "cat-file", "blob", blob)
                files[path] = text[:_MAX_BYTES] if text else text
        if files:
            yield files


def _git(repository: Path, *arguments: str) -> str:
    command = ["git", "-C", str(repository), *arguments]
    done = subprocess.run(command, check=True, capture_output=True)
    return done.stdout.decode("utf-8", "replace")


if __name__ == "__main__":
    main()
