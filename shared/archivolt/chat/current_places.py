"""Citations and links of an earlier answer as they can be opened today: documents move."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Final, Protocol
from unicodedata import normalize

from archivolt.chat.answer_links import led_elsewhere, links_to_documents
from archivolt.domain.conversation import Author, Citation, Conversation, Message
from archivolt.domain.identity import Principal
from archivolt.domain.paths import VaultPath, vault_uri
from archivolt.domain.vault import VaultAccess

MAX_FOLLOWED: Final = 1_000
"""How many places of a conversation are followed, the newest first."""


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
    """Leads citations and links of a conversation's answers to where their documents are now."""

    def __init__(self, vaults: OwnVaults, moves: Moves) -> None:
        self._vaults = vaults
        self._moves = moves

    def in_conversation(self, principal: Principal, conversation: Conversation) -> Conversation:
        """Return a conversation whose citations and links can be opened.

        Those of vaults that the caller is no member of stay as they are: where a document went is
        nothing to them.
        """
        said = (place for message in reversed(conversation.messages) for place in _places(message))
        newest = list(dict.fromkeys(said))[:MAX_FOLLOWED]
        if not newest or not (now := self._now(principal, newest)):
            return conversation
        messages = tuple(_led(message, now) for message in conversation.messages)
        return replace(conversation, messages=messages)

    def _now(
        self, principal: Principal, places: Iterable[tuple[str, VaultPath]]
    ) -> Mapping[tuple[str, str], VaultPath]:
        """Return the new path of what moved, by vault and path; the vaults are asked for once."""
        theirs = {each.vault.name: each for each in self._vaults.accessible(principal)}
        named: dict[str, list[VaultPath]] = {}
        for vault, path in places:
            if normalize("NFC", vault) in theirs:
                named.setdefault(vault, []).append(path)
        found: dict[tuple[str, str], VaultPath] = {}
        for vault, paths in named.items():
            now = self._moves.now_at(theirs[normalize("NFC", vault)], paths)
            found |= {(vault, path): at for path, at in now.items() if at != path}
        return found


def _places(message: Message) -> Iterator[tuple[str, VaultPath]]:
    """Yield the vault and the path of what an answer cites and links to."""
    for citation in message.citations:
        yield citation.vault, VaultPath(citation.path)
    if message.author is Author.ASSISTANT:
        for link in links_to_documents(message.text):
            yield link.vault, link.path


def _led(message: Message, now: Mapping[tuple[str, str], VaultPath]) -> Message:
    citations = tuple(_moved(each, now) for each in message.citations)
    if message.author is not Author.ASSISTANT:
        return replace(message, citations=citations)
    text = led_elsewhere(message.text, lambda vault, path: now.get((vault, path)))
    return replace(message, text=text, citations=citations)


def _moved(citation: Citation, now: Mapping[tuple[str, str], VaultPath]) -> Citation:
    path = now.get((citation.vault, citation.path))
    if path is None:
        return citation
    _, mark, fragment = citation.uri.partition("#")
    return replace(citation, path=path, uri=f"{vault_uri(citation.vault, path)}{mark}{fragment}")
