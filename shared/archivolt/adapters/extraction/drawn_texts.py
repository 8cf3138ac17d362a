"""What the charts and diagrams of an Office document say: titles, names of what is compared.

The numbers are left out: without their picture they say nothing.
"""

from collections.abc import Iterator
from typing import Final

from archivolt.adapters.extraction.markdown_text import escaped
from archivolt.adapters.extraction.office_parts import relationships
from archivolt.adapters.extraction.xml_events import Attributes
from archivolt.adapters.extraction.zip_guard import Archive

# Names as they are shown; those of numbers stand elsewhere (ECMA-376 part 1, 21.2.2.201). The last
# two are of the charts that came with Office 2016.
_NAMES: Final = frozenset({"strCache", "multiLvlStrCache", "strDim", "txData"})
_NAME: Final = frozenset({"v", "pt"})


def drawn_texts(archive: Archive, part: str, *kinds: str) -> Iterator[str]:
    """Yield the texts in what a part relates to by these kinds, each drawing once."""
    found = relationships(archive, part).values()
    for target in dict.fromkeys(each.target for each in found if each.kind in kinds):
        yield "\n".join(archive.parse_beside(target, _DrawnTexts()).texts)


class _DrawnTexts:
    """The paragraphs of a drawing, and the names in it, without those that are repeated."""

    def __init__(self) -> None:
        self._texts: dict[str, None] = {}
        self._parts: list[str] = []
        self._in_names = False
        self._in_text = False

    @property
    def texts(self) -> list[str]:
        return list(self._texts)

    def start(self, name: str, attributes: Attributes) -> None:  # noqa: ARG002  as every handler
        self._in_names = self._in_names or name in _NAMES
        self._in_text = name == "t" or (name in _NAME and self._in_names)
        if name == "br":
            self._parts.append(" ")

    def end(self, name: str) -> None:
        self._in_text = False
        if name in _NAMES:
            self._in_names = False
        if name == "p" or (name in _NAME and self._in_names):
            text = " ".join("".join(self._parts).split())
            self._parts = []
            if text:
                self._texts[escaped(text)] = None

    def text(self, text: str) -> None:
        if self._in_text:
            self._parts.append(text)
