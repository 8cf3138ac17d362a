"""What search is measured beside, in an environment of its own: e5 and bm25s (decision 110)."""

import sys
from pathlib import Path
from typing import Final

_ENVIRONMENT: Final = Path(__file__).parents[1] / ".tools" / "search-peers"


def make_importable() -> None:
    """Let this process import them where `make bench` has installed them.

    They come last on the path: what both environments have is taken from this one. Neither of them
    is built for one version of Python.
    """
    found = [str(folder) for folder in _ENVIRONMENT.glob("lib/python3*/site-packages")]
    sys.path += [folder for folder in found if folder not in sys.path]
