"""The links of a Markdown note: wikilinks, embeds, Markdown links (Obsidian's kinds)."""

import unicodedata
from dataclasses import dataclass
from enum import StrEnum


class LinkKind(StrEnum):
    """How a link is written."""

    WIKI = "wiki"
    """`[[target#heading|alias]]`."""
    EMBED = "embed"
    """`![[target]]`."""
    MARKDOWN = "markdown"
    """`[text](target.md#heading)`, also `![alt](image.png)`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class NoteLink:
    """A link as it stands in a text.

    `target` is what it names, decoded, without heading and alias; `heading` what follows `#`;
    `start` and `end` are the characters of the whole link. A link inside the same note has an
    empty target. Links to other places (`https:`) are none.
    """

    kind: LinkKind
    target: str
    heading: str
    alias: str
    start: int
    end: int

    @property
    def key(self) -> str:
        """What the link is looked up by."""
        return link_key(self.target)


def link_key(path: str) -> str:
    """Return what a file and the links that may mean it have in common.

    It is the last name, folded, without `.md`: resolution then decides among the candidates.
    """
    name = unicodedata.normalize("NFC", path).rpartition("/")[2].casefold()
    return name.removesuffix(".md")
