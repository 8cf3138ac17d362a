"""The notes of a vault and the links between them, around one note or of the whole (O41)."""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import partial
from typing import Final, NamedTuple

from archivolt.domain.errors import NotFoundError
from archivolt.domain.limits import DEFAULT_GRAPH_NODES, MAX_GRAPH_NODES
from archivolt.domain.paths import ROOT, VaultPath
from archivolt.domain.vault import ETag, VaultAccess, VaultRef
from archivolt.ports.catalogue import Catalogue
from archivolt.ports.notes import Note, NoteIndex, ScanSort, TextScan
from archivolt.vaults.current_notes import current_notes
from archivolt.vaults.link_graph import ResolvedLink, links_from, links_to

_NOTE_NAMES: Final = (".md", ".markdown")
_MAX_TAGGED: Final = 5_000


class NodeKind(StrEnum):
    """What a node stands for."""

    NOTE = "note"
    FILE = "file"
    MISSING = "missing"
    """What a link names and no file is; its path is what the link says."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Node:
    """A file, or what a link names in vain.

    `depth` counts the links from the note the graph is around (None for a whole vault); `links`
    and `backlinks` count the links known here from it and to it.
    """

    path: str
    kind: NodeKind
    title: str
    etag: ETag | None
    tags: tuple[str, ...]
    depth: int | None
    links: int
    backlinks: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Edge:
    """The links of one note to one other."""

    source: str
    target: str
    links: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Graph:
    """Nodes, the nearest and most linked first, with the edges between them.

    `total` counts the nodes before they were cut to the limit.
    """

    nodes: list[Node]
    edges: list[Edge]
    total: int


@dataclass(frozen=True, slots=True, kw_only=True)
class GraphQuery:
    """What to draw.

    With `path`, what is at most `depth` links away from that file, in either direction; else the
    whole vault. `directory` and `tag` leave only the files in a directory, or with a tag or one
    nested in it; the file of `path` always stays.
    """

    path: VaultPath | None = None
    depth: int = 1
    directory: VaultPath = ROOT
    tag: str = ""
    limit: int = DEFAULT_GRAPH_NODES


class _End(NamedTuple):
    """One end of a link: a file, or a target that is missing."""

    path: str
    missing: bool = False


_Depths = dict[_End, int | None]
_Passes = Callable[[_End], bool]


class GraphService:
    """Draws the links of a vault the caller may read."""

    def __init__(self, index: NoteIndex, catalogue: Catalogue) -> None:
        self._index = index
        self._catalogue = catalogue

    def graph(self, access: VaultAccess, query: GraphQuery) -> Graph:
        """Return the graph; files without any link are not in that of a whole vault.

        Raises:
            NotFoundError: `file_not_found`: the index knows no file `path`.
            UnavailableError: The index cannot be read.

        """
        vault = access.vault.ref
        tagged = self._tagged(vault, query.tag) if query.tag else None
        passes = partial(_passes, directory=query.directory, tagged=tagged)
        if query.path is None:
            links, depths = self._whole(vault, tagged, passes)
        else:
            links, depths = self._around(vault, query.path, query.depth, passes)
        return self._drawn(vault, links, depths, query.limit)

    def _tagged(self, vault: VaultRef, tag: str) -> frozenset[str]:
        scan = TextScan(pattern="", tag=tag, sort=ScanSort.PATH)
        page = self._index.scan([vault], scan, limit=_MAX_TAGGED)
        return frozenset(hit.note.path for hit in page.hits)

    def _whole(
        self, vault: VaultRef, tagged: frozenset[str] | None, passes: _Passes
    ) -> tuple[Sequence[ResolvedLink], _Depths]:
        sources = None if tagged is None else [VaultPath(path) for path in sorted(tagged)]
        links = links_from(self._index, vault, sources)
        links = [link for link in links if passes(_End(link.source))]
        depths = _Depths.fromkeys(_End(path) for path in tagged or () if passes(_End(path)))
        depths |= _Depths.fromkeys(end for end in _ends(links) if passes(end))
        return links, depths

    def _around(
        self, vault: VaultRef, start: VaultPath, depth: int, passes: _Passes
    ) -> tuple[Sequence[ResolvedLink], _Depths]:
        if not self._index.notes(vault, [start]):
            raise NotFoundError("file_not_found", path=start)
        links: dict[ResolvedLink, None] = {}
        depths: _Depths = {_End(start): 0}
        frontier = [start]
        for distance in range(1, depth + 1):
            found = links_from(self._index, vault, frontier)
            found += links_to(self._index, vault, frontier)
            links |= dict.fromkeys(found)
            fresh = [end for end in _ends(found) if end not in depths and passes(end)]
            depths |= dict.fromkeys(fresh, distance)
            frontier = [VaultPath(end.path) for end in dict.fromkeys(fresh) if not end.missing]
            if not frontier or len(depths) > MAX_GRAPH_NODES:
                break
        links |= dict.fromkeys(links_from(self._index, vault, frontier))
        return list(links), depths

    def _drawn(
        self, vault: VaultRef, links: Iterable[ResolvedLink], depths: _Depths, limit: int
    ) -> Graph:
        """Return the graph of the ends in `depths`, the least telling cut off."""
        pairs = Counter(
            (source, target)
            for source, target in map(_pair, links)
            if source != target and source in depths and target in depths
        )
        leaving = _degrees((source, count) for (source, _), count in pairs.items())
        coming = _degrees((target, count) for (_, target), count in pairs.items())
        ranked = sorted(
            (end for end in depths if not end.missing or coming[end]),
            key=lambda end: (depths[end] or 0, -leaving[end] - coming[end], end),
        )
        files = self._current(vault, [end for end in ranked[:limit] if not end.missing])
        kept = [end for end in ranked[:limit] if end.missing or end in files]
        nodes = [
            _node(end, files.get(end), depths[end], links=leaving[end], backlinks=coming[end])
            for end in kept
        ]
        shown = set(kept)
        edges = [
            Edge(source=source.path, target=target.path, links=count)
            for (source, target), count in sorted(pairs.items())
            if source in shown and target in shown
        ]
        return Graph(nodes=nodes, edges=edges, total=len(ranked))

    def _current(self, vault: VaultRef, ends: Sequence[_End]) -> Mapping[_End, tuple[Note, ETag]]:
        notes = self._index.notes(vault, [VaultPath(end.path) for end in ends])
        entries = current_notes(self._catalogue, notes.values())
        return {
            _End(path): (note, ETag(entry.etag))
            for path, note in notes.items()
            if (entry := entries.get((vault, path)))
        }


def _passes(end: _End, *, directory: VaultPath, tagged: frozenset[str] | None) -> bool:
    """Tell whether an end is drawn; one that is missing is where it is linked from."""
    if end.missing:
        return True
    inside = not directory or end.path.startswith(f"{directory}/")
    return inside and (tagged is None or end.path in tagged)


def _pair(link: ResolvedLink) -> tuple[_End, _End]:
    missing = link.target is None
    return _End(link.source), _End(link.target or link.link.target, missing)


def _ends(links: Iterable[ResolvedLink]) -> Iterator[_End]:
    return (end for link in links for end in _pair(link))


def _degrees(counts: Iterable[tuple[_End, int]]) -> Counter[_End]:
    degrees: Counter[_End] = Counter()
    for end, count in counts:
        degrees[end] += count
    return degrees


def _node(
    end: _End,
    file: tuple[Note, ETag] | None,
    depth: int | None,
    *,
    links: int,
    backlinks: int,
) -> Node:
    note, etag = file or (None, None)
    is_note = end.path.casefold().endswith(_NOTE_NAMES)
    return Node(
        path=end.path,
        kind=NodeKind.MISSING if note is None else NodeKind.NOTE if is_note else NodeKind.FILE,
        title=note.title if note else "",
        etag=etag,
        tags=note.tags if note else (),
        depth=depth,
        links=links,
        backlinks=backlinks,
    )
