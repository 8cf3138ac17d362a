"""The links between notes (O38, O41)."""

from dataclasses import dataclass
from datetime import datetime
from typing import cast

from pydantic import BaseModel, Field

from archivolt.domain.errors import InvalidRequestError
from archivolt.domain.limits import (
    DEFAULT_GRAPH_NODES,
    DEFAULT_SEARCH_LIMIT,
    MAX_GRAPH_DEPTH,
    MAX_GRAPH_NODES,
    MAX_SEARCH_LIMIT,
)
from archivolt.domain.messages import Language, message_for
from archivolt.domain.note_links import LinkKind
from archivolt.domain.paths import ROOT, VaultPath, resolve_directory, resolve_path, vault_uri
from archivolt.domain.tool import JsonObject
from archivolt.tools.catalogue.parameters import AnyTag, FilePath, Note, Vault
from archivolt.tools.context import ToolContext
from archivolt.tools.registry import tool
from archivolt.tools.schemas import ToolInput, ToolOutput
from archivolt.tools.truncation import Cut, from_offset
from archivolt.vaults.backlinks import Backlink, LinkPlace
from archivolt.vaults.graph import GraphQuery, NodeKind

_LOCAL = "local"
_GLOBAL = "global"


class GetBacklinks(ToolInput):
    """Arguments of `get_backlinks`."""

    vault: Vault
    path: FilePath
    limit: int = Field(
        default=DEFAULT_SEARCH_LIMIT,
        ge=1,
        le=MAX_SEARCH_LIMIT,
        description="How many notes at most.",
    )
    offset: int = Field(default=0, ge=0, description="How many notes to skip.")


class LinkInNote(BaseModel):
    """A link where it stands."""

    kind: LinkKind
    line: int = Field(description="Counted from 1.")
    heading: str = Field(description="The title it stands under.")
    alias: str = Field(description="What is shown in its place.")
    target_heading: str = Field(description="The heading or ^block it leads to; empty: the file.")
    excerpt: str
    highlights: list[list[int]] = Field(
        description="Start and end of the link, in characters of the excerpt."
    )


class NoteWithLinks(BaseModel):
    """A note that links to the file."""

    path: str
    uri: str = Field(description="Where to read it, and how to cite it.")
    title: str
    etag: str
    modified: datetime
    links: list[LinkInNote] = Field(description="The first of its links to the file.")
    links_total: int = Field(description="How many it has.")


class NotesWithLinks(ToolOutput):
    """Result of `get_backlinks`."""

    vault: str
    path: str
    uri: str
    etag: str = Field(description="Of the file that is linked to.")
    total: int = Field(description="How many notes link to it.")
    backlinks: list[NoteWithLinks]
    offset: int
    next_offset: int | None = Field(default=None, description="Where to go on; null at the end.")
    note: Note = None


@tool(
    description="""List the notes that link to a file (wikilinks, embeds, Markdown links), each with
    the lines of the links. Use it to see what depends on a note before it is changed, or what else
    is about its subject.""",
    cut=Cut(field="backlinks", cursor="next_offset", argument="offset", position=from_offset),
)
def get_backlinks(context: ToolContext, arguments: GetBacklinks) -> NotesWithLinks:
    """Return the notes that link to a file, in the order of paths."""
    path = resolve_path(arguments.path)
    found = context.services.finding.backlinks.backlinks(
        context.access, path, limit=arguments.limit, offset=arguments.offset
    )
    vault = context.access.vault.name
    return NotesWithLinks(
        vault=vault,
        path=path,
        uri=vault_uri(vault, path),
        etag=found.of.etag,
        total=found.total,
        backlinks=[_note(backlink) for backlink in found.notes],
        offset=arguments.offset,
        next_offset=found.next_offset,
    )


def _note(backlink: Backlink) -> NoteWithLinks:
    return NoteWithLinks(
        path=backlink.path,
        uri=backlink.uri,
        title=backlink.title,
        etag=backlink.etag,
        modified=backlink.modified,
        links=[_link(place) for place in backlink.links],
        links_total=backlink.links_total,
    )


def _link(place: LinkPlace) -> LinkInNote:
    return LinkInNote(
        kind=place.kind,
        line=place.line,
        heading=place.heading,
        alias=place.alias,
        target_heading=place.target_heading,
        excerpt=place.excerpt.text,
        highlights=[list(span) for span in place.excerpt.highlights],
    )


class GetGraph(ToolInput):
    """Arguments of `get_graph`."""

    vault: Vault
    path: str | None = Field(
        default=None, description="The note the graph is around; left out, the whole vault."
    )
    depth: int = Field(
        default=1,
        ge=1,
        le=MAX_GRAPH_DEPTH,
        description="How many links away from path, in either direction.",
    )
    scope: str | None = Field(
        default=None,
        description="local (around path), global (the whole vault), or a directory: only its "
        "files. Left out, local with path and global without.",
    )
    tag: AnyTag = None
    limit: int = Field(
        default=DEFAULT_GRAPH_NODES,
        ge=1,
        le=MAX_GRAPH_NODES,
        description="How many nodes at most, the nearest and most linked first.",
    )


class GraphNode(BaseModel):
    """A file, or what a link names and is missing."""

    path: str = Field(description="For what is missing: what the links say.")
    kind: NodeKind
    title: str
    etag: str | None
    tags: list[str]
    depth: int | None = Field(description="How many links from path; null for a whole vault.")
    links: int = Field(description="How many links lead from it, in this graph before a cut.")
    backlinks: int = Field(description="How many lead to it.")


class GraphEdge(BaseModel):
    """The links of one node to another."""

    source: str
    target: str
    links: int = Field(description="How many.")


class VaultGraph(ToolOutput):
    """Result of `get_graph`."""

    vault: str
    nodes: list[GraphNode]
    edges: list[GraphEdge]
    total_nodes: int = Field(description="How many nodes there are, those left out included.")
    note: Note = None


@dataclass(frozen=True, slots=True, kw_only=True)
class _GraphCut(Cut):
    """Leaves out nodes with their edges."""

    def at(self, value: JsonObject, kept: int, language: Language) -> JsonObject:
        """Return the graph of the first `kept` nodes."""
        paths = {node["path"] for node in value["nodes"][:kept]}
        edges = cast("list[JsonObject]", value["edges"])
        inside = [edge for edge in edges if {edge["source"], edge["target"]} <= paths]
        note = _cut_note(kept, cast("int", value["total_nodes"]), language)
        return value | {"nodes": value["nodes"][:kept], "edges": inside, "note": note}


def _cut_note(kept: int, total: int, language: Language) -> str:
    return message_for("graph_cut", language, {"kept": kept, "total": total})


@tool(
    description="""Show how notes are linked: nodes and edges around one note (path, depth) or of a
    whole vault, links to notes that do not exist yet included. Narrow it with scope and tag. For
    the lines in which links stand use get_backlinks.""",
    cut=_GraphCut(field="nodes"),
)
def get_graph(context: ToolContext, arguments: GetGraph) -> VaultGraph:
    """Return notes and the links between them."""
    drawn = context.services.finding.graph.graph(context.access, _query(arguments))
    kept = len(drawn.nodes)
    return VaultGraph(
        vault=context.access.vault.name,
        nodes=[
            GraphNode(
                path=node.path,
                kind=node.kind,
                title=node.title,
                etag=node.etag,
                tags=list(node.tags),
                depth=node.depth,
                links=node.links,
                backlinks=node.backlinks,
            )
            for node in drawn.nodes
        ],
        edges=[
            GraphEdge(source=edge.source, target=edge.target, links=edge.links)
            for edge in drawn.edges
        ],
        total_nodes=drawn.total,
        note=_cut_note(kept, drawn.total, context.language) if kept < drawn.total else None,
    )


def _query(arguments: GetGraph) -> GraphQuery:
    path = resolve_path(arguments.path) if arguments.path else None
    if arguments.scope == _LOCAL and path is None:
        raise InvalidRequestError("graph_needs_path")
    return GraphQuery(
        path=None if arguments.scope == _GLOBAL else path,
        depth=arguments.depth,
        directory=_directory(arguments.scope),
        tag=arguments.tag or "",
        limit=arguments.limit,
    )


def _directory(scope: str | None) -> VaultPath:
    return ROOT if scope in {None, _LOCAL, _GLOBAL} else resolve_directory(scope or "")
