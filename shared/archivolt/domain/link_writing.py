"""Writes the target of a link in the way the link is written: quoting and encoding are kept."""

import re
from typing import Final
from urllib.parse import quote

from archivolt.domain.markdown_destinations import Quoting
from archivolt.domain.note_links import LinkKind, NoteLink, WrittenLink

# What ends or hides a wikilink, or starts something else in the prose around it.
_NOT_IN_WIKI: Final = re.compile(r"[\[\]|#`$<\r\n]")
_NOT_IN_YAML_WIKI: Final = re.compile(r"[\[\]|#\r\n\\]")
_NOT_IN_DESTINATION: Final = re.compile(r"""[\x00-\x20\x7f#%?()<>\[\]"`$|\\]|\A[^/]*:""")
_NOT_IN_ANGLE: Final = re.compile(r"[\x00-\x1f\x7f#%?<>\[\]`$|\\]|\A[^/]*:")
_ENCODED_LETTER: Final = re.compile(r"%[89A-Fa-f][0-9A-Fa-f]")
_KEPT: Final = "/!&'*+,-.;=@_~"


def can_name(link: NoteLink, target: str) -> bool:
    """Tell whether a link can name `target` as the kind of link it is."""
    return link.kind is LinkKind.MARKDOWN or not _NOT_IN_WIKI.search(target)


def with_target(text: str, written: WrittenLink, target: str) -> tuple[int, int, str] | None:
    """Return what to put where (start, end) so that the link in `text` names `target`.

    Nothing but the target changes; a wikilink that cannot name it becomes a Markdown link. None if
    that is not possible either, as in front matter.
    """
    quoting = written.quoting
    if quoting in {Quoting.BARE, Quoting.ANGLE}:
        return written.start, written.end, _destination(target, quoting, _old(text, written))
    if not (_NOT_IN_WIKI if quoting is Quoting.WIKI else _NOT_IN_YAML_WIKI).search(target):
        return written.start, written.end, _in_wiki(target, quoting)
    if quoting is not Quoting.WIKI:
        return None
    return written.link.start, written.link.end, _as_markdown(written, target)


def _old(text: str, written: WrittenLink) -> str:
    return text[written.start : written.end]


def _in_wiki(target: str, quoting: Quoting) -> str:
    if quoting is Quoting.SINGLE_QUOTED:
        return target.replace("'", "''")
    return target.replace('"', '\\"') if quoting is Quoting.DOUBLE_QUOTED else target


def _destination(target: str, quoting: Quoting, old: str) -> str:
    if _ENCODED_LETTER.search(old):
        return quote(target, safe=_KEPT)
    special = _NOT_IN_ANGLE if quoting is Quoting.ANGLE else _NOT_IN_DESTINATION
    return special.sub(_encoded, target)


def _encoded(match: re.Match[str]) -> str:
    return quote(match[0], safe=_KEPT)


def _as_markdown(written: WrittenLink, target: str) -> str:
    link = written.link
    place = _destination(target, Quoting.BARE, "")
    if link.heading:
        place += "#" + _NOT_IN_DESTINATION.sub(_encoded, link.heading)
    mark = "!" if link.kind is LinkKind.EMBED else ""
    shown = link.alias or " > ".join(part for part in (link.target, link.heading) if part)
    return f"{mark}[{shown}]({place})"
