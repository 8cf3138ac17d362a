"""HTML by its tree-sitter grammar, with the scripts and style sheets that are written in it."""

import re
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Final

import tree_sitter_html
from tree_sitter import Language, Node, Parser

from archivolt.adapters.code_check.css import css_errors
from archivolt.adapters.code_check.data import json_errors
from archivolt.adapters.code_check.syntax_trees import error_at, javascript_errors, nodes_of
from archivolt.domain.code_check import CodeError

# Elements without an end tag, or whose end tag may be left out.
_NEEDS_NO_END: Final = frozenset(
    {
        *("area", "base", "body", "br", "caption", "col", "colgroup", "dd", "dt"),
        *("embed", "frame", "head", "hr", "html", "img", "input", "li", "link", "meta"),
        *("optgroup", "option", "p", "param", "rb", "rp", "rt", "rtc", "source"),
        *("tbody", "td", "tfoot", "th", "thead", "tr", "track", "wbr"),
    }
)
_SCRIPTS: Final = frozenset(("", "module", "text/javascript", "application/javascript"))
# What a page is made of; nothing in it makes the pattern go back over more than a tag.
_PARTS: Final = re.compile(
    rb"""(?P<comment><!--(?:.*?-->|.*))
    | (?P<raw><(?P<name>script|style|title|textarea)
          (?:\s(?:[^<>"']|"[^"]*"|'[^']*')*+)?(?<!/)>)
      (?P<within>.*?)(?=</(?P=name)|\Z)
    | (?P<bare><(?![a-z/!?])[^<]*)
    | (?P<prolog><\?[^<>]*>)
    | (?P<data><!\[CDATA\[(?:.*?\]\]>|.*))
    | (?P<tag></?[a-z](?:[^<>"']|"[^"]*"|'[^']*')*+>|<![^<>]*>)
    | (?P<broken><[^<]*)
    | (?P<text>[^<]+)""",
    re.VERBOSE | re.IGNORECASE | re.DOTALL,
)
_TEXT_ALONE: Final = frozenset((b"title", b"textarea"))
_FILLED_IN: Final = re.compile(rb"\{\{[^{}\n]*\}\}")
_DATA: Final = frozenset(("importmap", "application/json", "application/ld+json"))


def html_errors(text: str) -> Iterator[CodeError]:
    """Yield the errors of a page, in their order."""
    return iter(sorted(_found(text.encode()), key=lambda error: (error.line, error.column)))


def _found(source: bytes) -> Iterator[CodeError]:
    # What a server or script fills in is not what it looks like.
    read = _FILLED_IN.sub(lambda found: b"_" * len(found[0]), source)
    tree = Parser(Language(tree_sitter_html.language())).parse(_without_signs(read))
    for part in _PARTS.finditer(read):
        if part["bare"]:
            yield _error_in(source, part.start(), "a < that begins no tag; as text it is &lt;")
    for node in nodes_of(tree):
        if node.type == "raw_text":
            yield from _within(source, node)
        elif message := _problem(node):
            yield error_at(source, node, message)


def _error_in(source: bytes, offset: int, message: str) -> CodeError:
    before = source[:offset]
    column = len(before[before.rfind(b"\n") + 1 :].decode()) + 1
    return CodeError(line=before.count(b"\n") + 1, column=column, message=message)


def _without_signs(source: bytes) -> bytes:
    """Return a page of the same length without the signs that mean nothing where they stand.

    The grammar takes no & that begins no reference, no < or > in a text, no data of an image, and a
    title for elements.
    """
    return _PARTS.sub(_part_without_signs, source.replace(b"&", b"_"))


def _part_without_signs(part: re.Match[bytes]) -> bytes:
    if part["text"] or part["bare"]:
        return re.sub(rb"[<>]", b"_", part[0])
    if part["prolog"] or part["data"]:
        return re.sub(rb"[^\n]", b" ", part[0])
    if part["name"] and part["name"].lower() in _TEXT_ALONE:
        return part["raw"] + re.sub(rb"[<>]", b"_", part["within"])
    return part[0]


def _problem(node: Node) -> str:
    """Return what is wrong with a node itself, "" if nothing."""
    if node.is_error:
        return "syntax error"
    if node.is_missing and node.type != "_implicit_end_tag":
        return f"missing {node.type}"
    if node.type == "erroneous_end_tag":
        return "an end tag without its start tag"
    return "the element is not closed" if node.type == "element" and _is_open(node) else ""


def _is_open(element: Node) -> bool:
    """Whether an element lacks the end tag that it needs."""
    first, last = element.named_children[0], element.named_children[-1]
    if first.type != "start_tag" or last.type == "end_tag":
        return False
    name = (first.named_children[0].text or b"").decode().lower()
    return name not in _NEEDS_NO_END


def _within(source: bytes, raw: Node) -> Iterator[CodeError]:
    """Yield the errors of a script or a style sheet, at their places in the page."""
    checker = _checker(raw.parent)
    if checker is None:
        return
    start = error_at(source, raw, "")
    written = source[raw.start_byte : raw.end_byte]
    errors = list(checker(written.decode()))
    if errors and _FILLED_IN.search(written):
        # As a name or a value, where the page is filled in.
        filled = _FILLED_IN.sub(lambda found: b"_" * len(found[0]), written)
        errors = min(errors, list(checker(filled.decode())), key=len)
    for error in errors:
        column = error.column + (start.column - 1 if error.line == 1 else 0)
        yield replace(error, line=error.line + start.line - 1, column=column)


def _checker(element: Node | None) -> Callable[[str], Iterator[CodeError]] | None:
    if element is None or element.type == "style_element":
        return css_errors
    kind = _type_of(element.children[0])
    if kind in _DATA:
        return json_errors
    return javascript_errors if kind in _SCRIPTS else None


def _type_of(start_tag: Node) -> str:
    """Return what `type` says of a script."""
    for attribute in start_tag.named_children[1:]:
        name, *value = [(child.text or b"").decode() for child in attribute.children]
        if name.lower() == "type" and value:
            return value[-1].strip("\"' ").lower()
    return ""
