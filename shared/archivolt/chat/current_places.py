"""What an earlier answer leads to as it can be opened today: documents move.

Its citations, its links, and what its calls were about; in a conversation or of a run.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import chain
from typing import Final, Protocol
from unicodedata import normalize

from archivolt.chat.answer_links import led_elsewhere, links_to_documents, place_at
from archivolt.chat.touched import followed, touched_uris
from archivolt.domain.conversation import Author, Citation, Conversation, Message, ToolCallRecord
from archivolt.domain.identity import Principal
from archivolt.domain.paths import VaultPath, vault_uri
from archivolt.domain.vault import VaultAccess

MAX_FOLLOWED: Final = 1_000
"""How many places of a conversation are followed, the newest first."""

Place = tuple[str, VaultPath]
Moved = Mapping[Place, VaultPath]
"""The new paths of what moved, by the vault's name and the path it was told under."""


class Moves(Protocol):
    """Knows where documents went."""

    def now_at(
        self, access: VaultAccess, paths: Sequence[VaultPath]
    ) -> Mapping[VaultPath, VaultPath]:
        """Return for each path where its document is now."""
        ...


class OwnVaults(Protocol):
    """Knows the vaults that a caller may open."""

    def accessible(self, principal: Principal) -> Sequence[VaultAccess]:
        """Return the caller's vaults."""
        ...


class CurrentPlaces:
    """Leads what is kept of answers to where their documents are now.

    What is of vaults that the caller is no member of stays as it is: where a document went is
    nothing to them.
    """

    def __init__(self, vaults: OwnVaults, moves: Moves) -> None:
        self._vaults = vaults
        self._moves = moves

    def in_conversation(self, principal: Principal, conversation: Conversation) -> Conversation:
        """Return a conversation whose citations, links and calls can be opened."""
        messages = self.in_messages(principal, conversation.messages)
        return replace(conversation, messages=messages)

    def in_messages(self, principal: Principal, messages: Sequence[Message]) -> tuple[Message, ...]:
        """Return messages whose citations, links and calls can be opened."""
        said = [list(_places(message)) for message in messages]
        now = self._now(principal, chain.from_iterable(reversed(said)))
        return tuple(
            message if now.keys().isdisjoint(places) else _led(message, now)
            for message, places in zip(messages, said, strict=True)
        )

    def of_uris(self, principal: Principal, uris: Iterable[str]) -> Mapping[str, str]:
        """Return what leads today to where some URIs led, for those that lead elsewhere by now."""
        places = {uri: place for uri in uris if (place := place_at(uri))}
        now = self._now(principal, places.values())
        return {uri: _uri(place, now[place], uri) for uri, place in places.items() if place in now}

    def _now(self, principal: Principal, said: Iterable[Place]) -> Moved:
        """Return the new path of what moved; the vaults are asked for once, if at all."""
        newest = list(dict.fromkeys(said))[:MAX_FOLLOWED]
        if not newest:
            return {}
        theirs = {each.vault.name: each for each in self._vaults.accessible(principal)}
        named: dict[str, list[VaultPath]] = {}
        for vault, path in newest:
            if normalize("NFC", vault) in theirs:
                named.setdefault(vault, []).append(path)
        found: dict[Place, VaultPath] = {}
        for vault, paths in named.items():
            now = self._moves.now_at(theirs[normalize("NFC", vault)], paths)
            found |= {(vault, path): at for path, at in now.items() if at != path}
        return found


def _places(message: Message) -> Iterator[Place]:
    """Yield what an answer cites, links to and was about."""
    for citation in message.citations:
        yield citation.vault, VaultPath(citation.path)
    if message.author is Author.ASSISTANT:
        for link in links_to_documents(message.text):
            yield link.vault, link.path
    for call in message.tool_calls:
        yield from filter(None, map(place_at, touched_uris(call)))


def _led(message: Message, now: Moved) -> Message:
    text = message.text
    if message.author is Author.ASSISTANT:
        text = led_elsewhere(text, lambda vault, path: now.get((vault, path)))
    return replace(
        message,
        text=text,
        citations=tuple(_cited(each, now) for each in message.citations),
        tool_calls=tuple(_followed(each, now) for each in message.tool_calls),
    )


def _cited(citation: Citation, now: Moved) -> Citation:
    place = citation.vault, VaultPath(citation.path)
    if place not in now:
        return citation
    return replace(citation, path=now[place], uri=_uri(place, now[place], citation.uri))


def _followed(call: ToolCallRecord, now: Moved) -> ToolCallRecord:
    told = touched_uris(call)
    uris = [
        _uri(place, now[place], uri) if (place := place_at(uri)) and place in now else uri
        for uri in told
    ]
    return call if uris == told else followed(call, uris)


def _uri(place: Place, path: VaultPath, before: str) -> str:
    """Return the URI of a place's new path, with the slash and the heading that were told."""
    address, mark, heading = before.partition("#")
    slash = "/" if address.endswith("/") else ""
    return f"{vault_uri(place[0], path)}{slash}{mark}{heading}"
