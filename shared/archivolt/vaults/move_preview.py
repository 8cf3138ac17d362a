"""A move as a person sees it before confirming: what goes where, and how links change."""

from collections.abc import Mapping, Sequence
from typing import Final

from archivolt.domain.confirmation import Affected, Change, Preview
from archivolt.domain.errors import NotFoundError
from archivolt.domain.language import Message
from archivolt.domain.limits import MAX_DIFF_LINES, MAX_SHOWN_FILES
from archivolt.domain.paths import VaultPath
from archivolt.domain.vault import FileInfo, VaultRef
from archivolt.ports.files import FileStore
from archivolt.vaults.diffs import redacted_diff
from archivolt.vaults.link_rewriting import Relocation
from archivolt.vaults.move_steps import Move
from archivolt.vaults.present_notes import PresentNotes
from archivolt.vaults.relinking import (
    UnwritableError,
    linking_notes,
    moving_notes,
    read_note,
    relinked,
)
from archivolt.vaults.text_form import TextForm

_SHOWN_DIFFS: Final = 5


class MovePreviews:
    """Makes previews of moves in one vault."""

    def __init__(self, files: FileStore, notes: PresentNotes, vault: VaultRef) -> None:
        self._files = files
        self._notes = notes
        self._vault = vault

    def of(
        self,
        move: Move,
        files: Sequence[FileInfo],
        relocation: Relocation,
        pins: Mapping[str, str],
    ) -> Preview:
        """Return the preview of a move of these files."""
        within = moving_notes(self._notes, relocation)
        linking = linking_notes(self._notes, relocation)
        changes = [Affected(path=path, change=Change.RELINK) for path in linking]
        moved = [
            Affected(path=info.path, change=Change.MOVE, new_path=move.moved(info.path))
            for info in files
        ]
        return Preview(
            summary=_summary(move, len(files), len(linking)),
            diff=self._diffs([*linking, *within], relocation),
            affected=[*_tree(move), *changes, *moved][:MAX_SHOWN_FILES],
            affected_total=len(_tree(move)) + len(changes) + len(moved),
            pins=pins,
        )

    def _diffs(self, paths: Sequence[VaultPath], relocation: Relocation) -> str:
        diffs: list[str] = []
        lines = MAX_DIFF_LINES
        for path in paths[:_SHOWN_DIFFS]:
            diff = self._diff(path, relocation, lines)
            lines -= diff.count("\n")
            diffs.append(diff)
        return "".join(diffs)

    def _diff(self, path: VaultPath, relocation: Relocation, lines: int) -> str:
        try:
            content = read_note(self._files, self._vault, path)
            after = TextForm.of(relinked(content, relocation, path))
        except (NotFoundError, UnwritableError):
            return ""
        before = TextForm.of(content.data)
        if before is None or after is None or lines <= 0:
            return ""
        new_name = relocation.moved(path)
        return redacted_diff(
            before.text, after.text, old_name=path, new_name=new_name, max_lines=lines
        ).text


def _tree(move: Move) -> list[Affected]:
    if not move.directory:
        return []
    return [
        Affected(path=f"{move.source}/", change=Change.MOVE, new_path=f"{move.target}/"),
    ]


def _summary(move: Move, files: int, notes: int) -> Message:
    en = f"Move the file {move.source} to {move.target}"
    fr = f"Déplacer le fichier {move.source} vers {move.target}"
    if move.directory:
        en = f"Move the directory {move.source} to {move.target} (files: {files})"
        fr = f"Déplacer le dossier {move.source} vers {move.target} (fichiers : {files})"
    if not notes:
        return Message(f"{en}.", f"{fr}.")
    return Message(
        f"{en}; links follow in other notes: {notes}.",
        f"{fr} ; les liens suivent dans d'autres notes : {notes}.",
    )
