"""How the parts of an Office document find each other (Open Packaging Conventions, ECMA-376-2)."""

import posixpath
from collections.abc import Mapping
from dataclasses import dataclass, field

from archivolt.adapters.extraction.xml_events import Attributes
from archivolt.adapters.extraction.zip_guard import Archive


@dataclass(frozen=True, slots=True)
class Relationship:
    """Where a part leads: `kind` is the last word of the relationship's type."""

    kind: str
    target: str


def relationships(archive: Archive, part: str) -> dict[str, Relationship]:
    """Return what a part relates to within the archive, by id."""
    folder, name = posixpath.split(part)
    found = archive.parse(f"{folder}/_rels/{name}.rels".lstrip("/"), _Relationships(folder))
    return found.by_id


def main_part(archive: Archive, usual: str) -> str:
    """Return the part that is the document: programs on the web number it, others do not say."""
    return part_of_kind(archive, relationships(archive, ""), "officeDocument", usual)


def part_of_kind(archive: Archive, parts: Mapping[str, Relationship], kind: str, usual: str) -> str:
    """Return the first part of a kind that is there, the usual one where none is said."""
    said = (part.target for part in parts.values() if part.kind == kind)
    return next((target for target in said if target in archive), usual)


def title_of(archive: Archive) -> str:
    """Return the title that a document's properties give it, if any."""
    return archive.parse_beside("docProps/core.xml", TitleOf()).title


@dataclass
class _Relationships:
    folder: str
    by_id: dict[str, Relationship] = field(default_factory=dict[str, Relationship])

    def start(self, name: str, attributes: Attributes) -> None:
        # Some programs write the paths of their system.
        target = attributes.get("Target", "").replace("\\", "/")
        if name != "Relationship" or attributes.get("TargetMode") == "External" or not target:
            return
        path = target[1:] if target.startswith("/") else posixpath.join(self.folder, target)
        kind = attributes.get("Type", "").rpartition("/")[2]
        self.by_id[attributes.get("Id", "")] = Relationship(kind, posixpath.normpath(path))

    def end(self, name: str) -> None:
        """Take the end of an element."""

    def text(self, text: str) -> None:
        """Take text between tags."""


class TitleOf:
    """An `XmlHandler` that takes the first title in a part (Dublin Core)."""

    def __init__(self) -> None:
        self._written: list[str] = []
        self._in_title = False
        self._done = False

    @property
    def title(self) -> str:
        """The title, on one line."""
        return " ".join("".join(self._written).split())

    def start(self, name: str, attributes: Attributes) -> None:  # noqa: ARG002  as every handler
        """Take the start of an element."""
        self._in_title = name == "title" and not self._done

    def end(self, name: str) -> None:
        """Take the end of an element."""
        self._done = self._done or name == "title"
        self._in_title = False

    def text(self, text: str) -> None:
        """Take text between tags."""
        if self._in_title:
            self._written.append(text)
