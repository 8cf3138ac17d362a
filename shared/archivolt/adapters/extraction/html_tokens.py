"""Takes HTML apart into tags and text, in time that grows with its length alone.

It builds no tree, so that depth costs nothing, and it never goes back: what is not closed is text.
"""

import re
from collections.abc import Iterator
from html import unescape
from typing import Final, NamedTuple

# Their content is no markup, up to their own end tag (HTML standard, "Parsing HTML documents").
_RAW: Final = frozenset({"script", "style", "textarea", "title", "xmp", "iframe", "noembed"})
_NAME: Final = re.compile(r"<(/?)([a-zA-Z][^\s/>]{0,50})")
# A whole tag in which nothing is quoted, as most are.
_PLAIN_TAG: Final = re.compile(r"<(/?)([a-zA-Z][^\s/>]{0,50}+)([^>\"']*+)>")
_TAG_MARKS: Final = re.compile("[>\"']")
_ANY_TAG: Final = re.compile("<[^>]*>")
# A slash that is no part of an unquoted value.
_EMPTY: Final = re.compile(r"(?:^|[\s\"'])/\Z")
_ATTRIBUTE: Final = r"(?:^|\s){}\s*=\s*(?:\"([^\"]*)\"|'([^']*)'|([^\s\"'>]+))"


class Text(NamedTuple):
    """Text between tags, its character references resolved."""

    text: str


class Tag(NamedTuple):
    """A start or end tag; `attributes` as written."""

    name: str
    is_end: bool
    attributes: str = ""

    @property
    def is_empty(self) -> bool:
        """Tell whether it is a start tag that ends its element too, as XML may write it."""
        return not self.is_end and bool(_EMPTY.search(self.attributes, len(self.attributes) - 2))

    def attribute(self, name: str) -> str:
        """Return an attribute's value, "" where it has none."""
        found = re.search(_ATTRIBUTE.format(name), self.attributes, re.IGNORECASE)
        return unescape(next(filter(None, found.groups()), "")) if found else ""


def tokens(html: str) -> Iterator[Tag | Text]:
    """Yield the tags and texts of a page in order, comments and declarations left out."""
    scanner = _Scanner(html)
    at = 0
    while (start := html.find("<", at)) >= 0:
        yield from _text(html[at:start])
        plain = _PLAIN_TAG.match(html, start)
        if plain is not None and (name := plain[2].lower()) not in _RAW:
            at = plain.end()
            yield Tag(name, bool(plain[1]), plain[3])
            continue
        named = _NAME.match(html, start)
        at = scanner.end_of_markup(start, is_tag=named is not None)
        if named is None:
            if at == start + 1:
                yield Text("<")
            continue
        if at < 0:
            # A tag that never ends: what follows is shown without whatever looks like a tag.
            head, close, tail = html[named.end() :].rpartition(">")
            yield Text(unescape(_ANY_TAG.sub(" ", head + close) + tail))
            return
        tag = Tag(named.group(2).lower(), bool(named.group(1)), html[named.end() : at - 1])
        if tag.name not in _RAW or tag.is_end or scanner.is_really_empty(at, tag):
            yield tag
            continue
        end = scanner.end_of_raw(at, tag.name)
        yield tag._replace(attributes=tag.attributes.removesuffix("/"))
        yield Text(unescape(html[at:end]))
        at = end
    yield from _text(html[at:])


def _text(written: str) -> list[Text]:
    return [Text(unescape(written))] if written else []


class _Scanner:
    """Looks ahead, and never twice for what is not there."""

    def __init__(self, html: str) -> None:
        self._html = html
        self._last = {mark: html.rfind(mark) for mark in (">", '"', "'", "-->")}

    def end_of_markup(self, start: int, *, is_tag: bool) -> int:
        """Return where the markup that starts with `<` ends; -1 for a tag without an end."""
        if is_tag:
            return self._end_of_tag(start)
        if self._html.startswith("<!--", start):
            # A comment may be as short as <!-->.
            return self._after("-->", start + 2)
        if self._html.startswith(("<!", "<?", "</"), start):
            return self._after(">", start)
        return start + 1

    def is_really_empty(self, start: int, tag: Tag) -> bool:
        """Tell whether an element without markup ends where its start tag says so.

        HTML knows no such thing: one that is written so and closed later has content.
        """
        if not tag.is_empty:
            return False
        following = re.compile(f"<(/?){tag.name}(?![a-z])", re.IGNORECASE).search(self._html, start)
        return not (following and following[1])

    def end_of_raw(self, start: int, name: str) -> int:
        """Return where the content of an element without markup ends."""
        found = re.compile(f"</{name}(?![a-z])", re.IGNORECASE).search(self._html, start)
        return found.start() if found else len(self._html)

    def _end_of_tag(self, start: int) -> int:
        at = start
        while mark := _TAG_MARKS.search(self._html, at):
            if mark.group() == ">":
                return mark.end()
            quoted = self._find(mark.group(), mark.end())
            at = mark.end() if quoted < 0 else quoted + 1
        return -1

    def _after(self, mark: str, start: int) -> int:
        found = self._find(mark, start)
        return len(self._html) if found < 0 else found + len(mark)

    def _find(self, mark: str, start: int) -> int:
        return -1 if start > self._last[mark] else self._html.find(mark, start)
