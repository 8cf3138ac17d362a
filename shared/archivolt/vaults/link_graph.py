"""Which files the links of notes mean: the index gives candidates, resolution decides.

Links stay within a vault, and are resolved as Obsidian does.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from archivolt.domain.link_resolution import resolve_link
from archivolt.domain.note_links import NoteLink, link_key
from archivolt.domain.paths import VaultPath
from archivolt.domain.vault import VaultRef
from archivolt.ports.notes import NoteIndex


class ResolvedLink(NamedTuple):
    """A link of the note `source`; `target` is None where no file is meant."""

    source: VaultPath
    target: VaultPath | None
    link: NoteLink


def links_from(
    index: NoteIndex, vault: VaultRef, paths: Sequence[VaultPath] | None
) -> list[ResolvedLink]:
    """Return the links of these notes to other files; of all notes for None.

    Raises:
        UnavailableError: The index cannot be read.

    """
    links = [found for found in index.links_from(vault, paths) if found[1].target]
    return _resolved(index, vault, links)


def links_to(index: NoteIndex, vault: VaultRef, paths: Iterable[VaultPath]) -> list[ResolvedLink]:
    """Return the links that mean one of these files and stand in another one.

    Raises:
        UnavailableError: The index cannot be read.

    """
    wanted = set(paths)
    links = index.links_to(vault, sorted({link_key(path) for path in wanted}))
    return [
        found
        for found in _resolved(index, vault, links)
        if found.target in wanted and found.target != found.source
    ]


def links_around(
    index: NoteIndex, vault: VaultRef, paths: Sequence[VaultPath]
) -> list[ResolvedLink]:
    """Return the links that stand in one of these files or mean one, each once.

    Raises:
        UnavailableError: The index cannot be read.

    """
    links = [found for found in index.links_from(vault, paths) if found[1].target]
    links += index.links_to(vault, sorted({link_key(path) for path in paths}))
    around = frozenset(paths)
    return [
        found
        for found in _resolved(index, vault, list(dict.fromkeys(links)))
        if found.source in around or found.target in around
    ]


def files_by_key(
    index: NoteIndex, vault: VaultRef, keys: Iterable[str]
) -> Mapping[str, list[VaultPath]]:
    """Return the files that a link of each key may mean.

    Raises:
        UnavailableError: The index cannot be read.

    """
    by_key = {key: list[VaultPath]() for key in keys}
    for path in index.named(vault, list(by_key)) if by_key else []:
        by_key[link_key(path)].append(path)
    return by_key


def _resolved(
    index: NoteIndex, vault: VaultRef, links: Sequence[tuple[VaultPath, NoteLink]]
) -> list[ResolvedLink]:
    candidates = files_by_key(index, vault, {link.key for _, link in links})
    known: dict[tuple[str, str], VaultPath | None] = {}
    resolved: list[ResolvedLink] = []
    for source, link in links:
        question = (source if _depends_on_source(link, candidates) else "", link.target)
        if question not in known:
            known[question] = resolve_link(link.target, source, candidates[link.key])
        resolved.append(ResolvedLink(source, known[question], link))
    return resolved


def _depends_on_source(link: NoteLink, candidates: Mapping[str, Sequence[VaultPath]]) -> bool:
    return "/" in link.target or len(candidates[link.key]) > 1
