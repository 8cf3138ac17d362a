"""How far a token reaches is decided in one place."""

import re
from pathlib import Path

SHARED = Path(__file__).parents[2] / "shared" / "archivolt"


def test_only_reach_asks_the_directory_on_behalf_of_a_caller() -> None:
    asks = re.compile(r"directory\w*(?:\(\))?\.(?:access|accessible)\(")

    askers = {
        str(path.relative_to(SHARED))
        for path in SHARED.rglob("*.py")
        # Workers act on jobs, after the door.
        if "ingestion" not in path.parts and asks.search(path.read_text(encoding="utf-8"))
    }

    assert askers == {"retrieval/reach.py"}
