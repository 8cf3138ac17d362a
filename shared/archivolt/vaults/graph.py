"""The notes of a vault and the links between them, around one note or of the whole (O41)."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Final, NamedTuple

from archivolt.domain.errors import NotFoundError
from archivolt.domain.limits import DEFAULT_GRAPH_NODES
from archivolt.domain.paths import ROOT, VaultPath
from archivolt.domain.vault import ETag, VaultAccess, VaultRef
from archivolt.ports.catalogue import Catalogue
from archivolt.ports.notes import Note, NoteIndex, ScanSort, TextScan
from archivolt.vaults.current_notes import current_notes
from archivolt.vaults.link_graph import ResolvedLink, files_by_key, links_around, links_from

_NOTE_NAMES: Final = (".md", ".markdown")
# How many files of a directory or with a tag are looked at.
_MAX_INSIDE: Final = 2_000


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
    and `backlinks` count those from it and to it in the graph.
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

    `total` counts the nodes that were met before they were cut to the limit.
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
    """One end of a link: a file by its path, or what is missing by its folded name."""

    path: str
    missing: bool = False


class _Choice(NamedTuple):
    """What may be drawn, the most telling first; `total` is how many there are.

    Without `depths`, what else is missing is drawn too where there is room.
    """

    ends: Sequence[_End]
    total: int
    depths: Mapping[_End, int]


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
        narrowed = bool(query.directory or query.tag)
        inside = self._inside(vault, query) if narrowed else None
        if query.path is not None:
            choice = self._around(vault, query.path, query, inside)
        elif inside is not None:
            choice = self._among(vault, inside)
        else:
            choice = self._most_linked(vault, query.limit)
        graph = self._drawn(vault, choice, query.limit)
        if query.path is not None and query.path not in {node.path for node in graph.nodes}:
            raise NotFoundError("file_not_found", path=query.path)
        return graph

    def _inside(self, vault: VaultRef, query: GraphQuery) -> frozenset[str]:
        """Return the files in a directory and with a tag."""
        below = f"{query.directory}/" if query.directory else ""
        scan = TextScan(
            pattern="",
            tag=query.tag,
            include_paths=(f"{below}**",) if below else (),
            sort=ScanSort.PATH,
        )
        hits = self._index.scan([vault], scan, limit=_MAX_INSIDE).hits
        return frozenset(hit.note.path for hit in hits if hit.note.path.startswith(below))

    def _most_linked(self, vault: VaultRef, limit: int) -> _Choice:
        linked = self._index.most_linked(vault, limit=limit)
        files = files_by_key(self._index, vault, linked.keys)
        ends = [
            end
            for key in linked.keys
            for end in ([_End(path) for path in files[key]] or [_End(key, missing=True)])
        ]
        return _Choice(ends, max(linked.total, len(ends)), {})

    def _among(self, vault: VaultRef, inside: frozenset[str]) -> _Choice:
        links = links_from(self._index, vault, [VaultPath(path) for path in sorted(inside)])
        ends = {_End(path) for path in inside}
        ends |= {end for end in _ends(links) if end.missing}
        return _Choice(_ranked(ends, links, {}), len(ends), {})

    def _around(
        self, vault: VaultRef, start: VaultPath, query: GraphQuery, inside: frozenset[str] | None
    ) -> _Choice:
        """Follow links in both directions until `depth`, or until there is enough to draw."""
        links: list[ResolvedLink] = []
        depths = {_End(start): 0}
        frontier = [start]
        for distance in range(1, query.depth + 1):
            found = links_around(self._index, vault, frontier)
            links += found
            fresh = {
                end
                for end in _ends(found)
                if end not in depths and (end.missing or inside is None or end.path in inside)
            }
            depths |= dict.fromkeys(fresh, distance)
            frontier = sorted(VaultPath(end.path) for end in fresh if not end.missing)
            if not frontier or len(depths) > query.limit:
                break
        return _Choice(_ranked(depths, links, depths), len(depths), depths)

    def _drawn(self, vault: VaultRef, choice: _Choice, limit: int) -> Graph:
        """Return the first `limit` of what was chosen, with the links between them."""
        files = self._current(vault, [end for end in choice.ends[:limit] if not end.missing])
        links = links_from(self._index, vault, [note.path for note, _ in files.values()])
        spelled = {_target(link): link.link.target for link in links if link.target is None}
        others = [] if choice.depths else sorted(spelled)
        ends = list(dict.fromkeys([*choice.ends[:limit], *others]))[:limit]
        shown = {end for end in ends if end in files or end in spelled}
        pairs = Counter(pair for pair in map(_pair, links) if pair[0] != pair[1])
        pairs = {pair: count for pair, count in sorted(pairs.items()) if shown.issuperset(pair)}
        leaving, coming = _degrees(pairs)
        return Graph(
            nodes=[
                _node(
                    spelled.get(end, end.path),
                    files.get(end),
                    choice.depths.get(end),
                    links=leaving[end],
                    backlinks=coming[end],
                )
                for end in ends
                if end in shown
            ],
            edges=[
                Edge(source=source.path, target=spelled.get(target, target.path), links=count)
                for (source, target), count in pairs.items()
            ],
            total=max(choice.total, len(shown)),
        )

    def _current(self, vault: VaultRef, ends: Sequence[_End]) -> Mapping[_End, tuple[Note, ETag]]:
        notes = self._index.notes(vault, [VaultPath(end.path) for end in ends])
        entries = current_notes(self._catalogue, notes.values())
        return {
            _End(path): (note, ETag(entry.etag))
            for path, note in notes.items()
            if (entry := entries.get((vault, path)))
        }


def _target(link: ResolvedLink) -> _End:
    if link.target is None:
        return _End(link.link.target.casefold().removesuffix(".md"), missing=True)
    return _End(link.target)


def _pair(link: ResolvedLink) -> tuple[_End, _End]:
    return _End(link.source), _target(link)


def _ends(links: Iterable[ResolvedLink]) -> Iterator[_End]:
    return (end for link in links for end in _pair(link))


def _ranked(
    ends: Iterable[_End], links: Iterable[ResolvedLink], depths: Mapping[_End, int]
) -> list[_End]:
    """Return the nearest first, of these the most linked."""
    degrees = Counter(_ends(links))
    return sorted(ends, key=lambda end: (depths.get(end, 0), -degrees[end], end))


def _degrees(pairs: Mapping[tuple[_End, _End], int]) -> tuple[Counter[_End], Counter[_End]]:
    """Return how many links leave each end, and how many come to it."""
    leaving: Counter[_End] = Counter()
    coming: Counter[_End] = Counter()
    for (source, target), count in pairs.items():
        leaving[source] += count
        coming[target] += count
    return leaving, coming


def _node(
    path: str,
    file: tuple[Note, ETag] | None,
    depth: int | None,
    *,
    links: int,
    backlinks: int,
) -> Node:
    note, etag = file or (None, None)
    is_note = path.casefold().endswith(_NOTE_NAMES)
    return Node(
        path=path,
        kind=NodeKind.MISSING if note is None else NodeKind.NOTE if is_note else NodeKind.FILE,
        title=note.title if note else "",
        etag=etag,
        tags=note.tags if note else (),
        depth=depth,
        links=links,
        backlinks=backlinks,
    )
