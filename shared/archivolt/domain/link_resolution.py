"""Which file a link means, as Obsidian decides it.

A link is a path from the root, a path that begins with `./` or `../`, or the last names of a path
that may be anywhere. Where several files fit the last: those under the folder of the note first,
then the shortest path. Case does not count, and `.md` may be left out.
"""

import unicodedata
from collections.abc import Iterable

from archivolt.domain.paths import VaultPath, name_of

_NOTE = ".md"


def resolve_link(
    target: str, source: VaultPath, candidates: Iterable[VaultPath]
) -> VaultPath | None:
    """Return the file that a link of this target in the note `source` means; None if there is none.

    `candidates` are files of the vault, at least all that have the `link_key` of the target. An
    empty target is the note itself.
    """
    if not target:
        return source
    fitting, wanted = _of_that_name(target, candidates)
    climbing = _is_relative(wanted)
    if climbing:
        wanted = _from_root(wanted, source)
    exact = [path for path in fitting if _folded(path) == wanted.removeprefix("/")]
    if exact:
        return min(exact, key=lambda path: (not _written_so(path, target), path))
    if wanted.startswith("/") or not wanted:
        return None
    ends = [path for path in fitting if _folded(path).endswith(f"/{wanted}")]
    return min(ends, key=lambda path: _distance(path, source, target), default=None)


def _of_that_name(target: str, candidates: Iterable[VaultPath]) -> tuple[list[VaultPath], str]:
    """Return the files of the target's name, and the target with the extension they have."""
    paths = list(candidates)
    wanted = _folded(target)
    for full in (wanted, wanted + _NOTE) if "." in name_of(wanted) else (wanted + _NOTE,):
        fitting = [path for path in paths if _folded(name_of(path)) == name_of(full)]
        if fitting:
            return fitting, full
    return [], wanted


def _folded(path: str) -> str:
    return unicodedata.normalize("NFC", path).casefold()


def _is_relative(target: str) -> bool:
    return target.startswith(("./", "../"))


def _from_root(target: str, source: VaultPath) -> str:
    """Return a relative target as a path from the root; what climbs out of it ends there."""
    names = _folded(source).split("/")[:-1]
    rest = target.split("/")
    while rest[0] in {".", ".."}:
        if rest.pop(0) == "..":
            names = names[:-1]
    return "/".join(names + rest)


def _written_so(path: VaultPath, target: str) -> bool:
    """Tell whether the target has the case of the path too."""
    name = name_of(unicodedata.normalize("NFC", target))
    return name_of(path) in {name, name + _NOTE}


def _distance(path: VaultPath, source: VaultPath, target: str) -> tuple[bool, int, bool, str]:
    folder = _folded(source).rpartition("/")[0]
    outside = bool(folder) and not _folded(path).startswith(f"{folder}/")
    return outside, len(path), not _written_so(path, target), path
