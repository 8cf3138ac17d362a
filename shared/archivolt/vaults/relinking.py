"""Which notes have to change when files move, and the bytes they change to."""

from collections.abc import Mapping

from archivolt.domain.limits import MAX_INLINE_CONTENT_BYTES
from archivolt.domain.paths import VaultPath
from archivolt.domain.vault import FileContent, VaultRef
from archivolt.ports.files import FileStore
from archivolt.vaults.content_types import NOTES, content_type_of
from archivolt.vaults.link_rewriting import Relocation
from archivolt.vaults.present_notes import PresentNotes
from archivolt.vaults.text_form import TextForm


def relocation_of(moves: Mapping[VaultPath, VaultPath], notes: PresentNotes) -> Relocation:
    """Return moves among the files that there are."""
    relocation = Relocation(moves, notes.named)
    relocation.prepare(relocation.keys)
    return relocation


def linking_notes(notes: PresentNotes, relocation: Relocation) -> list[VaultPath]:
    """Return the notes that stay where they are and have links that must follow, in order."""
    staying = {*relocation.moves, *relocation.moves.values()}
    found = notes.links_to(relocation.keys)
    return sorted(
        {path for path, link in found if path not in staying and relocation.wanted(link, path)}
    )


def moving_notes(notes: PresentNotes, relocation: Relocation) -> list[VaultPath]:
    """Return the notes that move and have links that must be written anew, in order."""
    found = notes.links_from(list(relocation.moves))
    relocation.prepare({link.key for _, link in found})
    return sorted({path for path, link in found if relocation.wanted(link, path)})


def is_note(path: VaultPath) -> bool:
    """Tell whether the links of a file are followed."""
    return content_type_of(path) == NOTES


def read_note(files: FileStore, vault: VaultRef, path: VaultPath) -> FileContent:
    """Return a note; `truncated` if it is too long for its links to be followed.

    Raises:
        NotFoundError: `file_not_found`.

    """
    return files.read(vault, path, max_bytes=MAX_INLINE_CONTENT_BYTES)


class UnwritableError(Exception):
    """The links of a note cannot be written: too long, no text, or not in its encoding."""


def relinked(content: FileContent, relocation: Relocation, source: VaultPath) -> bytes:
    """Return the bytes of a note, until now at `source`, its links made to follow.

    No byte changes but those of targets; what is damaged stays as it is.

    Raises:
        UnwritableError: The links stay as they are.

    """
    if content.truncated:
        raise UnwritableError
    form = TextForm.of(content.data)
    if form is None:
        raise UnwritableError
    damage = "surrogateescape" if form.encoding == "utf-8" else "strict"
    try:
        text = content.data[len(form.bom) :].decode(form.encoding, damage)
        new = relocation.rewritten(text, source)
        return content.data if new == text else form.bom + new.encode(form.encoding, damage)
    except UnicodeError as error:
        raise UnwritableError from error
