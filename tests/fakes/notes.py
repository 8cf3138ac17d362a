"""The notes of vaults in dictionaries: every question of the port, answered by looking at all."""

import re
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass

from archivolt.domain.document_types import ends_with
from archivolt.domain.errors import InvalidRequestError
from archivolt.domain.folding import folded
from archivolt.domain.globs import glob_regex
from archivolt.domain.note_links import NoteLink, link_key, links_in
from archivolt.domain.paths import VaultPath, name_of
from archivolt.domain.redaction import mask_text
from archivolt.domain.unaccented import composed, origins, unaccented
from archivolt.domain.vault import VaultRef
from archivolt.ports.notes import (
    Between,
    LineMatch,
    LinkedKeys,
    Note,
    NoteFilter,
    RecentBy,
    ScanHit,
    ScanPage,
    ScanSort,
    TagCount,
    TextScan,
)

_MAX_MATCHES = 20
_NOT_LINEAR = re.compile(r"\(\?<?[=!]|\\[1-9]")

_Matcher = Callable[[str], list[tuple[int, int]]]


@dataclass(frozen=True)
class _Held:
    note: Note
    text: str | None
    links: Sequence[NoteLink]


class InMemoryNotes:
    """A `NoteIndex` that lives as long as the test; `put` and `remove` are its write side.

    Without `complete`, a scan says that its time ran out.
    """

    def __init__(self) -> None:
        self.complete = True
        self._kept: dict[VaultRef, dict[VaultPath, _Held]] = {}

    def put(self, note: Note, text: str | None) -> None:
        """Keep a note; its secrets are masked and its links found here."""
        masked = None if text is None else mask_text(composed(text).replace("\r\n", "\n"))
        links = links_in(masked or "")
        held = _Held(note=note, text=masked, links=links)
        self._kept.setdefault(note.vault, {})[note.path] = held

    def remove(self, vault: VaultRef, path: VaultPath) -> None:
        """Forget a note."""
        self._kept.get(vault, {}).pop(path, None)

    def notes(self, vault: VaultRef, paths: Sequence[VaultPath]) -> Mapping[VaultPath, Note]:
        kept = self._kept.get(vault, {})
        return {path: kept[path].note for path in paths if path in kept}

    def passing(
        self, vaults: Sequence[VaultRef], wanted: NoteFilter
    ) -> Mapping[VaultRef, Collection[VaultPath]]:
        return {
            vault: {held.note.path for held in self._all([vault]) if _is_wanted(held.note, wanted)}
            for vault in vaults
        }

    def text(self, vault: VaultRef, path: VaultPath) -> str | None:
        held = self._kept.get(vault, {}).get(path)
        return held.text if held else None

    def texts(self, vault: VaultRef, paths: Sequence[VaultPath]) -> Mapping[VaultPath, str]:
        return {path: text for path in paths if (text := self.text(vault, path)) is not None}

    def tags(self, vaults: Sequence[VaultRef]) -> Mapping[str, TagCount]:
        notes = [held.note for held in self._all(vaults)]
        own = Counter(tag for note in notes for tag in set(note.tags))
        nested = Counter(tag for note in notes for tag in _with_ancestors(note.tags))
        return {tag: TagCount(own=own[tag], nested=nested[tag]) for tag in nested}

    def recent(self, vaults: Sequence[VaultRef], *, by: RecentBy, limit: int) -> list[Note]:
        notes = sorted((held.note for held in self._all(vaults)), key=_place)
        return sorted(notes, key=lambda note: getattr(note, by.value), reverse=True)[:limit]

    def find_paths(
        self, vaults: Sequence[VaultRef], words: Sequence[str], *, limit: int
    ) -> list[Note]:
        wanted = [folded(word) for word in words]
        notes = [held.note for held in self._all(vaults)]
        found = [note for note in notes if all(word in folded(note.path) for word in wanted)]
        best = sorted(found, key=lambda note: (_name_rank(note.path, wanted), *_place(note)))
        return best[:limit]

    def named(self, vault: VaultRef, keys: Sequence[str]) -> list[VaultPath]:
        return sorted(path for path in self._kept.get(vault, {}) if link_key(path) in keys)

    def links_to(self, vault: VaultRef, keys: Sequence[str]) -> list[tuple[VaultPath, NoteLink]]:
        return [(path, link) for path, link in self.links_from(vault, None) if link.key in keys]

    def links_from(
        self, vault: VaultRef, paths: Sequence[VaultPath] | None
    ) -> list[tuple[VaultPath, NoteLink]]:
        kept = self._kept.get(vault, {})
        return [
            (path, link)
            for path in sorted(kept)
            if paths is None or path in paths
            for link in kept[path].links
        ]

    def most_linked(self, vault: VaultRef, *, limit: int) -> LinkedKeys:
        links = [(path, link) for path, link in self.links_from(vault, None) if link.key]
        counts = Counter(key for path, link in links for key in (link_key(path), link.key))
        order = sorted(counts, key=lambda key: (-counts[key], key))
        return LinkedKeys(keys=order[:limit], total=len(order))

    def scan(
        self, vaults: Sequence[VaultRef], scan: TextScan, *, limit: int, offset: int = 0
    ) -> ScanPage:
        matcher = _matcher(scan)
        passing = [held for held in self._all(vaults) if _passes(held.note, scan)]
        hits = [hit for held in passing if (hit := _hit(held, matcher)) is not None]
        ordered = _ordered(hits, scan)
        end = offset + limit
        more = len(ordered) > end
        return ScanPage(hits=ordered[offset:end], more=more, complete=self.complete)

    def _all(self, vaults: Sequence[VaultRef]) -> Iterator[_Held]:
        for vault in vaults:
            yield from self._kept.get(vault, {}).values()


def _place(note: Note) -> tuple[str, str]:
    return note.vault.id, note.path


def _name_rank(path: VaultPath, words: Sequence[str]) -> tuple[int, int]:
    """Return the order of `find_paths`: the whole name, names that start with a word, the rest."""
    name = folded(name_of(path))
    whole = " ".join(words)
    if whole in {name, name.rpartition(".")[0]}:
        return 0, len(path)
    starts = any(name.startswith(word) for word in words)
    return (1 if starts else 2), len(path)


def _with_ancestors(tags: Sequence[str]) -> set[str]:
    names = [tag.split("/") for tag in tags]
    return {"/".join(name[:depth]) for name in names for depth in range(1, len(name) + 1)}


def _passes(note: Note, scan: TextScan) -> bool:
    path = folded(note.path)
    included = not scan.include_paths or any(_matches(path, glob) for glob in scan.include_paths)
    return (
        included
        and not any(_matches(path, glob) for glob in scan.exclude_paths)
        and _has_tag(note, scan.tag)
        and _within(note.created.timestamp(), scan.created)
        and _within(note.modified.timestamp(), scan.modified)
        and _within(note.size, scan.size)
    )


def _is_wanted(note: Note, wanted: NoteFilter) -> bool:
    return (
        _has_tag(note, wanted.tag)
        and (not wanted.endings or ends_with(note.path, wanted.endings))
        and _within(note.modified.timestamp(), wanted.modified)
    )


def _matches(path: str, glob: str) -> bool:
    return re.fullmatch(glob_regex(glob), path) is not None


def _has_tag(note: Note, wanted: str) -> bool:
    name = wanted.strip().strip("#/").casefold()
    return not name or any(tag == name or tag.startswith(f"{name}/") for tag in note.tags)


def _within(value: float, between: Between) -> bool:
    above = between.least is None or value >= between.least
    return above and (between.most is None or value <= between.most)


def _hit(held: _Held, matcher: _Matcher | None) -> ScanHit | None:
    if matcher is None:
        return ScanHit(note=held.note, occurrences=0, matches=[])
    matches = [
        LineMatch(line=number, text=line, start=start, end=end)
        for number, line in enumerate((held.text or "").split("\n"), start=1)
        for start, end in matcher(line)
    ]
    if not matches:
        return None
    return ScanHit(note=held.note, occurrences=len(matches), matches=matches[:_MAX_MATCHES])


def _ordered(hits: Sequence[ScanHit], scan: TextScan) -> list[ScanHit]:
    def key(hit: ScanHit) -> float | str:
        keys: dict[ScanSort, float | str] = {
            ScanSort.RELEVANCE: hit.occurrences,
            ScanSort.PATH: hit.note.path,
            ScanSort.MODIFIED: hit.note.modified.timestamp(),
            ScanSort.CREATED: hit.note.created.timestamp(),
            ScanSort.SIZE: hit.note.size,
        }
        return keys[scan.sort]

    descending = scan.sort is not ScanSort.PATH if scan.descending is None else scan.descending
    in_place = sorted(hits, key=lambda hit: _place(hit.note))
    return sorted(in_place, key=key, reverse=descending)  # pyright: ignore[reportArgumentType]


def _matcher(scan: TextScan) -> _Matcher | None:
    """Return what finds the occurrences in a line; None where everything is wanted."""
    if not scan.pattern:
        return None
    pattern = _compiled(scan)

    def spans(line: str) -> list[tuple[int, int]]:
        text = line if scan.case_sensitive else unaccented(line)
        places = origins(line, accents=scan.case_sensitive)
        found = [match.span() for match in pattern.finditer(text) if match.group()]
        return [(places[start], places[end]) for start, end in found]

    return spans


def _compiled(scan: TextScan) -> re.Pattern[str]:
    if scan.regex and _NOT_LINEAR.search(scan.pattern):
        raise InvalidRequestError("invalid_pattern", problem="look-around or back-reference")
    source = composed(scan.pattern) if scan.case_sensitive else unaccented(scan.pattern)
    source = source if scan.regex else re.escape(source)
    flags = re.RegexFlag(0) if scan.case_sensitive else re.IGNORECASE
    try:
        return re.compile(rf"(?<!\w)(?:{source})(?!\w)" if scan.whole_word else source, flags)
    except re.error as error:
        raise InvalidRequestError("invalid_pattern", problem=str(error)) from error
