"""The links of an answer to documents: `[name](vault://…)`, as the model is asked to write them."""

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Final

from archivolt.domain.errors import InvalidRequestError
from archivolt.domain.markdown_destinations import Destination, definition_at, destination_at
from archivolt.domain.markdown_prose import prose_of
from archivolt.domain.paths import VaultPath, resolve_path, vault_uri
from archivolt.domain.vault_addresses import read_address

_TOKEN: Final = re.compile(r"\\.|`+|\]\(", re.DOTALL)
_TICKS: Final = re.compile(r"`+")
_LABEL: Final = re.compile(r"^[ \t]*\[", re.MULTILINE)
# Without any of these a text is prose throughout, and need not be read line by line.
_NOT_PROSE: Final = re.compile(r"```|~~~|<!--|\$\$|^(?: {4}| {0,3}\t)", re.MULTILINE)
_SCHEME: Final = "vault://"


@dataclass(frozen=True, slots=True, kw_only=True)
class AnswerLink:
    """A link to a document, and the characters of its address."""

    start: int
    end: int
    vault: str
    path: VaultPath


def links_to_documents(text: str) -> list[AnswerLink]:
    """Return the links of a Markdown text that lead into vaults, in order; code has none."""
    if _SCHEME not in text:
        return []
    found = (_link(text, destination) for destination in _destinations(text))
    return sorted((link for link in found if link), key=lambda link: link.start)


def led_elsewhere(text: str, now: Callable[[str, VaultPath], VaultPath | None]) -> str:
    """Return a text with its links led to where `now` says that documents are, None: as it is.

    What stands beside them stays as it was said, their names and any bare address with it.
    """
    written: list[str] = []
    end = 0
    for link in links_to_documents(text):
        path = now(link.vault, link.path)
        if path is not None:
            written += [text[end : link.start], vault_uri(link.vault, path)]
            end = link.end
    return "".join([*written, text[end:]])


def _destinations(text: str) -> Iterator[Destination]:
    prose = prose_of(text) if _NOT_PROSE.search(text) else [(0, len(text))]
    for start, end in prose:
        for opening in _openings(text, start, end):
            if inline := destination_at(text, opening, end):
                yield inline
        for label in _LABEL.finditer(text, start, end):
            if defined := definition_at(text, label.start(), end):
                yield defined.destination


def _openings(text: str, start: int, end: int) -> Iterator[int]:
    """Yield where the `(` of inline links are; code has none, and none is escaped."""
    last = {len(ticks[0]): ticks.start() for ticks in _TICKS.finditer(text, start, end)}
    while token := _TOKEN.search(text, start, end):
        start = token.end()
        if token[0] == "](":
            yield start - 1
        elif token[0][0] == "`" and last.get(len(token[0]), 0) >= start:
            runs = _TICKS.finditer(text, start, end)
            start = next(run.end() for run in runs if len(run[0]) == len(token[0]))


def _link(text: str, destination: Destination) -> AnswerLink | None:
    address = text[destination.start : destination.end].partition("#")[0]
    place = place_at(address)
    if place is None:
        return None
    vault, path = place
    end = destination.start + len(address)
    return AnswerLink(start=destination.start, end=end, vault=vault, path=path)


def place_at(address: str) -> tuple[str, VaultPath] | None:
    """Return the vault and the file of an address, None if it leads elsewhere, or to no file."""
    if not address.lower().startswith(_SCHEME):
        return None
    try:
        place = read_address(address)
        return place.vault, resolve_path(place.path)
    except (ValueError, InvalidRequestError):
        return None
