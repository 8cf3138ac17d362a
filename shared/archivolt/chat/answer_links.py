"""The links of an answer to documents, as a reader of Markdown has them.

They are `[name](vault://…)`, images, definitions of references, and addresses between `<` and `>`.
"""

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from html import unescape
from typing import Final

from archivolt.domain.errors import InvalidRequestError
from archivolt.domain.markdown_destinations import Destination, Quoting
from archivolt.domain.markdown_links import Autolink, InlineLink, LinkScanner, Wikilink
from archivolt.domain.markdown_prose import Prose, prose_of
from archivolt.domain.paths import VaultPath, resolve_path, vault_uri
from archivolt.domain.vault_addresses import read_address

_SCHEME: Final = "vault://"
# An address that a model writes may begin in any case, or with an escape.
_HINT: Final = re.compile(r"vault(?::|\\:|&)", re.IGNORECASE)
_HEADING: Final = re.compile(r"\\?(?<!&)#")
_WRITTEN: Final = re.compile(
    r"\\([!-/:-@\[-`{-~])|&(?:#\d{1,7}|#[xX][0-9a-fA-F]{1,6}|[A-Za-z][A-Za-z0-9]{0,31});"
)
# What would mean something else in the text of a link, or in its address.
_MEANT: Final = re.compile(r"[\\`*_\[\]<>&~|!()]")
# The end of a definition, or the title of one.
_ENDS_LINE: Final = re.compile(r"[ \t]*(?:\r?\n|\Z|(?<=[ \t])[\"'(])")


@dataclass(frozen=True, slots=True, kw_only=True)
class AnswerLink:
    """A link to a document.

    `start` and `end` are the characters that its address replaces where it is led elsewhere, with
    `before` and `after` around it.
    """

    start: int
    end: int
    vault: str
    path: VaultPath
    before: str = ""
    after: str = ""


def links_to_documents(text: str) -> list[AnswerLink]:
    """Return the links of a Markdown text that lead into vaults, in order; code has none."""
    if not _HINT.search(text):
        return []
    found = (link for prose in prose_of(text) for link in _links(text, prose))
    return sorted(found, key=lambda link: link.start)


def led_elsewhere(text: str, now: Callable[[str, VaultPath], VaultPath | None]) -> str:
    """Return a text with its links led to where `now` says that documents are, None: as it is.

    What stands there to be read stays as it was said: names, bare addresses, and an address between
    `<` and `>`, which becomes the name of a link.
    """
    written: list[str] = []
    end = 0
    for link in links_to_documents(text):
        path = now(link.vault, link.path)
        if path is not None:
            uri = vault_uri(link.vault, path)
            written += [text[end : link.start], link.before, uri, link.after]
            end = link.end
    return "".join([*written, text[end:]])


def place_at(address: str) -> tuple[str, VaultPath] | None:
    """Return the vault and the path of an address, None if it leads elsewhere, or has no path."""
    if not address.lower().startswith(_SCHEME):
        return None
    try:
        place = read_address(_SCHEME + address[len(_SCHEME) :])
        return place.vault, resolve_path(place.path.removesuffix("/"))
    except (ValueError, InvalidRequestError):
        return None


def _links(text: str, prose: Prose) -> Iterator[AnswerLink]:
    scanned = LinkScanner(text, prose, notes=False).links()
    own = [each for each in scanned if not isinstance(each, Wikilink)]
    past = 0
    for each in sorted(own, key=lambda each: each.start):
        if isinstance(each, Autolink):
            # Within the text of a link, another would end that.
            link = _between_brackets(text, each) if each.start > past else None
        else:
            past = max(past, each.destination.after)
            link = _at_destination(text, each.destination)
            if link and isinstance(each, InlineLink):
                link = _apart(text, link, each.destination)
        if link is not None:
            yield link


def _at_destination(text: str, destination: Destination) -> AnswerLink | None:
    written = text[destination.start : destination.end]
    heading = _HEADING.search(written)
    address = written[: heading.start()] if heading else written
    place = place_at(_WRITTEN.sub(_meant, address))
    if place is None:
        return None
    # The mark of a directory stays.
    end = destination.start + len(address.removesuffix("/"))
    return AnswerLink(start=destination.start, end=end, vault=place[0], path=place[1])


def _apart(text: str, link: AnswerLink, destination: Destination) -> AnswerLink:
    """Keep a link that no definition can be from becoming one, as it does without blanks in it."""
    if destination.quoting is not Quoting.ANGLE or "]:" not in text:
        return link
    return replace(link, start=link.start - 1, before=" <")


def _between_brackets(text: str, autolink: Autolink) -> AnswerLink | None:
    written = text[autolink.start : autolink.end]
    address, mark, heading = written.partition("#")
    place = place_at(address)
    if place is None:
        return None
    start = autolink.start - 1
    if text.endswith("]", 0, start) and "]:" in text:
        return None  # what may be a reference would have another name
    # A mark before it would make an image of the link.
    marked = text.endswith("!", 0, start) and not text.endswith("\\!", 0, start)
    # Behind `[1]:`, a link without a blank in it would be what that defines.
    blank = " " if "]:" in text and not _may_define(text, start, autolink.end + 1) else ""
    label = f"[{_escaped(written)}]({blank}"
    return AnswerLink(
        start=start - marked,
        end=autolink.end + 1,
        vault=place[0],
        path=place[1],
        before=rf"\!{label}" if marked else label,
        after=f"{'/' if address.endswith('/') else ''}{mark}{_escaped(heading)})",
    )


def _may_define(text: str, start: int, end: int) -> bool:
    """Tell whether some take an address for what `[^1]:` defines: it stays so, a note to others."""
    before = text[:start].rstrip("\t\r\n >")
    is_note = before.endswith("]:") and before.startswith("[^", before.rfind("["))
    return is_note and _ENDS_LINE.match(text, end) is not None


def _meant(written: re.Match[str]) -> str:
    return written[1] or unescape(written[0])


def _escaped(text: str) -> str:
    return _MEANT.sub(r"\\\g<0>", text)
