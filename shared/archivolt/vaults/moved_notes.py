"""Notes that the index knows in the place alone that a move brought them from (decision 44).

What finds notes by what is in them shows such a one where it is now, as the searches by words and
by meaning do.
"""

from collections.abc import Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from itertools import repeat

from archivolt.domain.errors import NotFoundError
from archivolt.domain.folding import folded
from archivolt.domain.globs import glob_regex
from archivolt.domain.limits import MAX_PARALLEL_FILES
from archivolt.domain.moves import found_at, led_to
from archivolt.domain.paths import VaultPath
from archivolt.domain.vault import FileInfo, VaultRef
from archivolt.ports.catalogue import Catalogue
from archivolt.ports.files import FileStore
from archivolt.ports.notes import Note
from archivolt.ports.patterns import PatternCompiler
from archivolt.retrieval.current import entries_along_moves
from archivolt.vaults.current_notes import NoteKey


def moved_notes(
    catalogue: Catalogue, files: FileStore, notes: Iterable[Note]
) -> Mapping[NoteKey, FileInfo]:
    """Return the files of those notes that stand for one elsewhere, by the note's vault and path.

    Raises:
        UnavailableError: The catalogue or the store cannot be read.

    """
    by_key = {(note.vault, note.path): note for note in notes}
    entries = entries_along_moves(catalogue, by_key)
    led = {
        key: place
        for key, note in by_key.items()
        if (place := found_at(entries, *key, note.generation)) and place != note.path
    }
    if not led:
        return {}
    with ThreadPoolExecutor(min(len(led), MAX_PARALLEL_FILES)) as pool:
        infos = pool.map(_info, repeat(files), [vault for vault, _ in led], led.values())
        return {key: info for key, info in zip(led, infos, strict=True) if info}


def led_along(catalogue: Catalogue, vault: VaultRef, paths: Sequence[VaultPath]) -> list[VaultPath]:
    """Return these paths, each once; instead of one that was moved, where moves led it.

    Raises:
        UnavailableError: The catalogue cannot be read.

    """
    entries = entries_along_moves(catalogue, [(vault, path) for path in paths])
    return list(dict.fromkeys(led_to(entries, vault, path) for path in paths))


class PathFilter:
    """Tells which paths globs let through; of whole paths, see `domain.globs.path_globs`."""

    def __init__(
        self, patterns: PatternCompiler, include: Sequence[str], exclude: Sequence[str]
    ) -> None:
        self._include, self._exclude = (
            [
                patterns.compile(
                    f"^/(?:{glob_regex(glob)})$", regex=True, case_sensitive=True, whole_word=False
                )
                for glob in globs
            ]
            for globs in (include, exclude)
        )

    def passes(self, path: VaultPath) -> bool:
        """Tell whether one of those to include fits, if there are any, and none to exclude."""
        text = f"/{folded(path)}"
        included = not self._include or any(any(each.spans(text)) for each in self._include)
        return included and not any(any(each.spans(text)) for each in self._exclude)


def _info(files: FileStore, vault: VaultRef, path: VaultPath) -> FileInfo | None:
    try:
        return files.head(vault, path)
    except NotFoundError:
        return None
