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
    fitting, wanted = _of_that_name(unicodedata.normalize("NFC", target), candidates)
    if wanted.startswith(("./", "../")):
        wanted = _from_root(wanted, source)
    rooted = wanted.startswith("/")
    wanted = wanted.removeprefix("/")
    exact = [path for path in fitting if _folded(path) == _folded(wanted)]
    if exact or rooted:
        return min(exact, key=lambda path: (path != wanted, path), default=None)
    ending = f"/{_folded(wanted)}"
    ends = [path for path in fitting if _folded(path).endswith(ending)]
    return min(ends, key=lambda path: _distance(path, source, wanted), default=None)


def _of_that_name(target: str, candidates: Iterable[VaultPath]) -> tuple[list[VaultPath], str]:
    """Return the files of the target's name, and the target with the extension they have."""
    named: dict[str, list[VaultPath]] = {}
    for path in candidates:
        named.setdefault(_folded(name_of(path)), []).append(path)
    dotted = "." in name_of(target)
    for full in (target, target + _NOTE) if dotted else (target + _NOTE, target):
        fitting = named.get(_folded(name_of(full)))
        if fitting:
            return fitting, full
    return [], target


def _folded(path: str) -> str:
    return unicodedata.normalize("NFC", path).casefold()


def _from_root(target: str, source: VaultPath) -> str:
    """Return a relative target as a path from the root; what climbs out of it ends there."""
    names = source.split("/")[:-1]
    rest = target.split("/")
    while rest[0] in {".", ".."}:
        if rest.pop(0) == "..":
            names = names[:-1]
    return "/".join(names + rest)


def _distance(path: VaultPath, source: VaultPath, wanted: str) -> tuple[bool, int, bool, str]:
    folder = _folded(source).rpartition("/")[0]
    outside = bool(folder) and not _folded(path).startswith(f"{folder}/")
    return outside, len(path), not path.endswith(f"/{wanted}"), path
