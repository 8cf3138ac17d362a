"""Which passages an answer stands on.

Collected from what the tools gave in this turn: nothing can be cited that was not found or read
with the rights of the person who asked.
"""

import re
from collections.abc import Sequence
from dataclasses import replace
from typing import Any, cast
from unicodedata import normalize

from archivolt.chat.answer_links import links_to_documents
from archivolt.domain.conversation import Citation
from archivolt.domain.limits import MAX_CITATIONS, MAX_EXCERPT_CHARS
from archivolt.domain.paths import vault_uri
from archivolt.domain.tool import JsonObject
from archivolt.domain.vault_addresses import read_address


class SourceCollector:
    """Remembers every passage that the tools of a turn gave, in order, each once.

    Those that are merely at hand, such as the files of a directory, count where an answer names
    them.
    """

    def __init__(self) -> None:
        self._passages: dict[tuple[str, str, int | None], Citation] = {}
        self._at_hand: dict[tuple[str, str, int | None], Citation] = {}

    def add(self, result: JsonObject) -> None:
        """Take the result of a tool: hits of a search, or a file that was read."""
        hits: Any = result.get("hits")
        if isinstance(hits, list):
            for hit in cast("list[JsonObject]", hits):
                self._keep(_passage(hit))
        elif "vault" in result and "path" in result and isinstance(result.get("content"), str):
            self._keep(_passage(result | {"excerpt": result["content"]}))

    def add_at_hand(self, document: JsonObject) -> None:
        """Take a document that the model was given unasked."""
        passage = _passage(document | {"excerpt": document.get("content", "")})
        self._at_hand.setdefault(_key(passage), passage)

    def moved(self, uri: str, to: str) -> None:
        """Lead what was given of a file, or of files in a directory, to where that is now."""
        for known in (self._passages, self._at_hand):
            for key, passage in list(known.items()):
                at = _after(passage.uri, uri)
                if at is not None:
                    known[key] = _led(passage, to + at)

    @property
    def passages(self) -> tuple[Citation, ...]:
        """What was given so far."""
        return tuple(self._passages.values())

    def restore(self, passages: Sequence[Citation]) -> None:
        """Take what an earlier part of the turn was given."""
        for passage in passages:
            self._keep(passage)

    def named_in(self, text: str) -> tuple[Citation, ...]:
        """Return the passages that a text names, at most twenty."""
        known = (self._at_hand | self._passages).values()
        linked = {(normalize("NFC", link.vault), link.path) for link in links_to_documents(text)}
        named = [
            passage
            for passage in known
            if (passage.vault, passage.path) in linked or _names(text, passage)
        ]
        return tuple(named[:MAX_CITATIONS])

    def _keep(self, passage: Citation) -> None:
        self._passages.setdefault(_key(passage), passage)

    def used_in(self, text: str, sources: Sequence[str] | None) -> tuple[Citation, ...]:
        """Return the passages behind an answer, at most twenty.

        `sources` are the URIs the model says it used. Where it does not say, the passages that the
        text names are taken, or all that were given to the model if it names none.
        """
        if sources is not None:
            known = (self._at_hand | self._passages).values()
            used = [passage for passage in known if passage.uri in sources]
            return tuple(used[:MAX_CITATIONS])
        return self.named_in(text) or self.passages[:MAX_CITATIONS]


def _key(passage: Citation) -> tuple[str, str, int | None]:
    return passage.uri, passage.heading, passage.page


def _passage(found: JsonObject) -> Citation:
    vault, path, page = str(found["vault"]), str(found["path"]), found.get("page")
    return Citation(
        uri=str(found.get("uri") or vault_uri(vault, path)),
        vault=vault,
        path=path,
        heading=str(found.get("heading") or ""),
        page=page if isinstance(page, int) else None,
        excerpt=str(found.get("excerpt") or "")[:MAX_EXCERPT_CHARS],
    )


def _after(uri: str, place: str) -> str | None:
    """Return what follows the address of a place in one of a file there; None: it is elsewhere."""
    rest = uri.removeprefix(place)
    return rest if uri.startswith(place) and rest[:1] in {"", "/", "#"} else None


def _led(passage: Citation, uri: str) -> Citation:
    return replace(passage, uri=uri, path=read_address(uri).path)


def _names(text: str, passage: Citation) -> bool:
    """Tell whether the text names the passage: its URI, that of its document, or its path."""
    names = {passage.uri, passage.uri.partition("#")[0], passage.path}
    return any(re.search(rf"(?<![\w/]){re.escape(name)}(?![\w%/-]|\.\w)", text) for name in names)
