"""What an index holds of a vault, in a form in which two indexes can be compared."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from archivolt.domain.ingestion import Generation
from archivolt.domain.paths import VaultPath
from archivolt.domain.vault import VaultRef
from archivolt.ports.notes import NoteIndex
from archivolt.ports.retrieval import TextIndex


def contents(text: TextIndex, notes: NoteIndex, vault: VaultRef) -> Mapping[VaultPath, Any]:
    """Return, by path, the passages and the note of every document, whatever its generation.

    Equal contents answer every question alike. A document with older passages beside the present
    ones is told with all of them, so that it equals none that was made anew.
    """
    held: dict[VaultPath, list[Generation]] = {}
    for path, generation in text.generations(vault):
        held.setdefault(path, []).append(generation)
    known = notes.notes(vault, list(held))
    return {
        path: (
            [text.passages(vault, path, generation) for generation in sorted(generations)],
            replace(known[path], generation=Generation("")) if path in known else None,
            notes.text(vault, path),
            notes.links_from(vault, [path]),
        )
        for path, generations in held.items()
    }
