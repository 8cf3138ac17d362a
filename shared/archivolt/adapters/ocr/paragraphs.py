"""Lines that were read in an image, as Markdown."""

import re
from collections.abc import Iterable, Sequence
from itertools import pairwise
from typing import Final

# At the start of a line these would be read as structure, or as a page mark.
_STRUCTURE: Final = re.compile(r"#{1,6}(?:\s|$)|`{3}|~{3}|<!--")
_HYPHENS: Final = ("-", "\u00ad", "\u2010")


def as_markdown(paragraphs: Iterable[Sequence[str]]) -> str:
    """Return paragraphs of lines; a word that a line's end broke is whole again."""
    return "\n\n".join(filter(None, map(_paragraph, paragraphs)))


def _paragraph(lines: Sequence[str]) -> str:
    if not lines:
        return ""
    parts = [lines[0]]
    for before, line in pairwise(lines):
        if before.endswith(_HYPHENS) and before[-2:-1].isalpha() and line[:1].islower():
            parts[-1] = parts[-1][:-1] + line
        else:
            parts.append(line)
    return "\n".join(f"\\{part}" if _STRUCTURE.match(part) else part for part in parts)
