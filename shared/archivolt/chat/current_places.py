"""Citations of an earlier answer as they can be opened today: documents move meanwhile."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Protocol

from archivolt.chat.scope import Vaults
from archivolt.domain.conversation import Citation, Conversation
from archivolt.domain.errors import NotFoundError
from archivolt.domain.identity import Principal
from archivolt.domain.paths import VaultPath, vault_uri
from archivolt.domain.vault import VaultAccess


class Moves(Protocol):
    """Knows where documents went."""

    def now_at(
        self, access: VaultAccess, paths: Sequence[VaultPath]
    ) -> Mapping[VaultPath, VaultPath]:
        """Return for each path where its document is now."""
        ...


class CurrentPlaces:
    """Leads the citations of a conversation to where their documents are now."""

    def __init__(self, vaults: Vaults, moves: Moves) -> None:
        self._vaults = vaults
        self._moves = moves

    def in_conversation(self, principal: Principal, conversation: Conversation) -> Conversation:
        """Return a conversation whose citations can be opened.

        Those of vaults that the caller is no member of stay as they are: where a document went is
        nothing to them.
        """
        cited = [each for message in conversation.messages for each in message.citations]
        now = self._now(principal, cited)
        if not now:
            return conversation
        messages = tuple(
            replace(message, citations=tuple(_moved(each, now) for each in message.citations))
            for message in conversation.messages
        )
        return replace(conversation, messages=messages)

    def _now(
        self, principal: Principal, cited: Sequence[Citation]
    ) -> Mapping[tuple[str, str], VaultPath]:
        """Return the new path of what moved, by vault and path."""
        found: dict[tuple[str, str], VaultPath] = {}
        for vault in dict.fromkeys(each.vault for each in cited):
            paths = dict.fromkeys(VaultPath(each.path) for each in cited if each.vault == vault)
            try:
                access = self._vaults.access(principal, vault)
            except NotFoundError:
                continue
            now = self._moves.now_at(access, list(paths))
            found |= {(vault, path): at for path, at in now.items() if at != path}
        return found


def _moved(citation: Citation, now: Mapping[tuple[str, str], VaultPath]) -> Citation:
    path = now.get((citation.vault, citation.path))
    if path is None:
        return citation
    _, mark, fragment = citation.uri.partition("#")
    return replace(citation, path=path, uri=f"{vault_uri(citation.vault, path)}{mark}{fragment}")
