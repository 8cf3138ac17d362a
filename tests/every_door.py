"""One walk through every door of the product, over HTTP, as one user.

Whoever may not read a document must come back with nothing of it, and must not even learn that it
exists; its owner must see it through every door, or the walk would prove nothing.
"""

import base64
from collections.abc import AsyncGenerator
from dataclasses import dataclass
from typing import Any, NamedTuple
from urllib.parse import quote

import httpx2

from tests.entrypoints.mcp_messages import Sent, legacy, modern

API = "/api/v1"
TOPIC = "perennial"
TEXT = f"The {TOPIC} in the east bed is cobaltblue."
CONTENT = ("cobaltblue", base64.b64encode(TEXT.encode()).decode())


@dataclass(frozen=True)
class Place:
    """A document with `TEXT`, and a conversation in which its owner was told of it."""

    vault: str
    path: str
    conversation: str

    @property
    def names(self) -> tuple[str, str, str]:
        return (self.vault, self.path, self.conversation)


class Seen(NamedTuple):
    """What came back through a door. A model's answer is `worded` anew each time."""

    door: str
    text: str
    worded: bool = False


async def walk(http: httpx2.AsyncClient, place: Place) -> list[Seen]:
    """Try every door with all that an insider would know, and return what came back."""
    doors = (_rest(http, place), _tools(http, place), _chat(http, place), _mcp(http, place))
    return [seen for door in doors async for seen in door]


def unseen_by_owner(seen: list[Seen], place: Place) -> list[str]:
    """Return the doors that showed neither the document nor where it is."""
    marks = (*CONTENT, *place.names)
    return [door for door, text, _ in seen if not any(mark in text for mark in marks)]


def content_seen(seen: list[Seen]) -> list[str]:
    """Return the doors through which the document came."""
    return [door for door, text, _ in seen if any(mark in text for mark in CONTENT)]


def told_apart(there: list[Seen], nowhere: list[Seen], places: tuple[Place, Place]) -> list[str]:
    """Return the doors that answer differently when there is such a place and when there is not."""
    return [
        seen.door
        for seen, absent in zip(there, nowhere, strict=True)
        if not seen.worded and _renamed(seen.text, *places) != absent.text
    ]


def _renamed(text: str, place: Place, other: Place) -> str:
    for name, other_name in zip(place.names, other.names, strict=True):
        # A name comes back as it was given, or as a part of an address.
        for written, other_written in {name: other_name, quote(name): quote(other_name)}.items():
            text = text.replace(written, other_written)
    return text


async def _rest(http: httpx2.AsyncClient, place: Place) -> AsyncGenerator[Seen]:
    vault, path = quote(place.vault, safe=""), quote(place.path, safe="")
    for address in (
        "/vaults",
        f"/browse/{vault}",
        f"/vault/{vault}/files",
        f"/vault/{vault}/index",
        f"/file/{vault}?path={path}",
        f"/file/{vault}/raw?path={path}",
        f"/file/{vault}/backups?path={path}",
        f"/file/{vault}/backlinks?path={path}",
        f"/graph/{vault}",
        f"/vault/{vault}/operations",
        f"/tree-search?q={path.rpartition('%2F')[2]}",
        f"/recent?vault={vault}",
        f"/search/advanced?q={TOPIC}",
        f"/search?q={TOPIC}",
        f"/search?q={TOPIC}&vault={vault}",
    ):
        answer = await http.get(API + address)
        yield Seen(f"GET {address}", answer.text)


def _calls(place: Place) -> list[tuple[str, dict[str, Any]]]:
    there = {"vault": place.vault, "path": place.path}
    return [
        ("list_vaults", {}),
        ("list_directory", {"vault": place.vault}),
        ("list_all_files", {"vault": place.vault}),
        ("read_file", there),
        ("read_file_raw", there),
        ("list_backups", there),
        ("get_backlinks", there),
        ("get_graph", {"vault": place.vault}),
        ("search_paths", {"q": place.path.rpartition("/")[2]}),
        ("search_advanced", {"q": TOPIC}),
        ("list_recent", {}),
        ("search_fulltext", {"q": TOPIC}),
        ("search_fulltext", {"q": TOPIC, "vault": place.vault}),
        ("search_documents", {"q": TOPIC}),
        ("search_documents", {"q": TOPIC, "vault": place.vault}),
        ("search_documents", {"q": TOPIC, "mode": "lexical", **there}),
        ("search_documents", {"q": TOPIC, "mode": "dense", "threshold": -1}),
    ]


async def _tools(http: httpx2.AsyncClient, place: Place) -> AsyncGenerator[Seen]:
    for tool, arguments in _calls(place):
        answer = await http.post(f"{API}/tools/{tool}", json=arguments)
        yield Seen(f"tool {tool} {arguments}", answer.text)


async def _chat(http: httpx2.AsyncClient, place: Place) -> AsyncGenerator[Seen]:
    there = {"vault": place.vault, "path": place.path}
    bodies: list[dict[str, Any]] = [
        {},
        {"context": {"kind": "directory", "vault": place.vault}},
        {"context": {"kind": "documents", "vault": place.vault, "paths": [place.path]}},
        {"extra_files": [there]},
        {"conversation_id": place.conversation},
    ]
    for body in bodies:
        message = {"message": f"Which {TOPIC}?", "stream": False, **body}
        answer = await http.post(f"{API}/chat/messages", json=message)
        yield Seen(f"chat {body}", answer.text, worded=True)
    address = f"{API}/chat/conversations"
    yield Seen("conversations", (await http.get(address)).text, worded=True)
    one = await http.get(f"{address}/{place.conversation}")
    yield Seen("conversation", one.text)


async def _mcp(http: httpx2.AsyncClient, place: Place) -> AsyncGenerator[Seen]:
    for era, send in (("stateless", modern), ("handshake", legacy)):
        for tool, arguments in _calls(place):
            sent = send("tools/call", {"name": tool, "arguments": arguments})
            yield Seen(f"MCP {era} {tool} {arguments}", await _post(http, sent))
        for path in ("", f"/{quote(place.path)}"):
            uri = f"vault://{place.vault}{path}"
            sent = send("resources/read", {"uri": uri})
            yield Seen(f"MCP {era} {uri}", await _post(http, sent))
        for argument, start in (("vault", place.vault), ("path", place.path[:-3])):
            sent = send("completion/complete", _completion(place, argument, start))
            yield Seen(f"MCP {era} completion of {argument}", await _post(http, sent))
        cursor = base64.urlsafe_b64encode(f'["{place.vault}", null]'.encode()).decode()
        for params in ({}, {"cursor": cursor}):
            listed = await _post(http, send("resources/list", params))
            yield Seen(f"MCP {era} resources/list {params}", listed)


def _completion(place: Place, argument: str, start: str) -> dict[str, Any]:
    return {
        "ref": {"type": "ref/resource", "uri": "vault://{vault}/{+path}"},
        "argument": {"name": argument, "value": start},
        "context": {"arguments": {"vault": place.vault}},
    }


async def _post(http: httpx2.AsyncClient, sent: Sent) -> str:
    answer = await http.post("/mcp", json=sent.body, headers=sent.headers)
    return answer.text
