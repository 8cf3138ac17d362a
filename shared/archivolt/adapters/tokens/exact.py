"""Counts the tokens of a text with the model's own tokenizer, where its file is at hand.

The file is loaded at the first text. Both libraries are optional and know no types.
"""

import hashlib
from collections.abc import Callable
from functools import cached_property
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Final

_DIGEST_CHARS: Final = 12
# What XLM-RoBERTa and its like put around every text.
_AROUND: Final = 2
_PACKAGES: Final = {".model": "sentencepiece", ".json": "tokenizers"}


def package_for(file: Path) -> str:
    """Return the package that reads a tokenizer's file; "" if none does."""
    return _PACKAGES.get(file.suffix, "")


def is_installed(package: str) -> bool:
    """Tell whether a package is there; it is not imported."""
    return find_spec(package) is not None


class ExactTokenCounter:
    """A `TokenCounter` of a SentencePiece model (`.model`) or of a `tokenizer.json`."""

    def __init__(self, file: Path) -> None:
        self._file = file

    def __call__(self, text: str) -> int:
        """Return how many tokens the model makes of a text, those around it included."""
        # Half a surrogate pair is no text; both libraries refuse it.
        return self._count(text.encode("utf-8", "replace").decode())

    @property
    def id(self) -> str:
        """What the count depends on: another file is another id."""
        return f"exact/{self._digest[:_DIGEST_CHARS]}"

    @cached_property
    def _digest(self) -> str:
        return hashlib.sha256(self._file.read_bytes()).hexdigest()

    @cached_property
    def _count(self) -> Callable[[str], int]:
        package: Any = import_module(package_for(self._file))
        if self._file.suffix == ".json":
            tokenizer = package.Tokenizer.from_file(str(self._file))
            # What the file says of cutting and filling is for who embeds with it.
            tokenizer.no_truncation()
            tokenizer.no_padding()
            return lambda text: len(tokenizer.encode(text).ids)
        processor = package.SentencePieceProcessor(model_file=str(self._file))
        return lambda text: len(processor.encode(text)) + _AROUND
