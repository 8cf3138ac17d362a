"""What is right in JavaScript and TypeScript, and new or rare enough for their grammars to miss it.

Each gap is read as something of the same length that the grammar knows, its lines at their places,
and only where that leaves less that is wrong: what is wrong by itself stays so.
"""

import re
from collections.abc import Callable, Iterator
from typing import Final, NamedTuple

from tree_sitter import Language, Parser, Tree

from archivolt.domain.limits import MAX_GRAMMAR_GAP_BYTES

_Read = Callable[[re.Match[bytes]], bytes]


class _Gap(NamedTuple):
    """Text that a grammar misses, and what it is read as."""

    pattern: re.Pattern[bytes]
    read: _Read


class _Wrong(NamedTuple):
    """How much of a text a grammar could not read."""

    places: int
    size: int


def _blank(text: bytes) -> bytes:
    return re.sub(rb"[^\n]", b" ", text)


def _gone(found: re.Match[bytes]) -> bytes:
    """Read the group `gone` as nothing."""
    return _in_place(found, "gone", _blank(found["gone"]))


def _name(found: re.Match[bytes]) -> bytes:
    """Read the group `name` as a name like any other."""
    return _in_place(found, "name", re.sub(rb"\W|^.", b"_", found["name"]))


def _end(found: re.Match[bytes]) -> bytes:
    """Read the group `end` as the end of a statement."""
    return _in_place(found, "end", b";".rjust(len(found["end"])))


def _in_place(found: re.Match[bytes], group: str, read: bytes) -> bytes:
    start, end = (place - found.start() for place in found.span(group))
    return found[0][:start] + read + found[0][end:]


def _declared(found: re.Match[bytes]) -> bytes:
    """Read a function that has no name as one that has."""
    read = b"declare function _"
    return read.ljust(len(found[0]) - 1) + b"(" if len(read) < len(found[0]) else found[0]


def _gap(pattern: str, read: _Read) -> _Gap:
    return _Gap(re.compile(pattern.encode(), re.MULTILINE), read)


_COMMENT: Final = r"/\*(?:[^*]|\*(?!/))*\*/"
_EMPTY_LINE: Final = rf"[ \t]*(?:{_COMMENT}[ \t]*|//[^\n]*)?\n"
# Long comments would be read to their end from each of their lines.
_EMPTY_LINES: Final = rf"(?:{_EMPTY_LINE}){{0,20}}?"
_SPACE: Final = rf"(?:\s++|{_COMMENT}|//[^\n]*\n){{0,20}}"
_CONTEXTUAL: Final = (
    "abstract|accessor|any|as|assert|asserts|async|await|bigint|boolean|constructor|declare|from|get|"
    "global|implements|in|infer|is|keyof|let|module|namespace|never|number|object|of|out|override|"
    "private|protected|public|readonly|require|satisfies|set|static|string|symbol|type|undefined|"
    "unique|unknown|using|yield"
)
_JAVASCRIPT: Final = (
    # A field that the end of its line ends.
    _gap(r"^[ \t]*(?:static[ \t]+)?#\w+[ \t]*\n\s*?(?P<end>[ \t]+)(?=\S)", _end),
    # What cannot go on with a bracket, and so ends with its line.
    _gap(
        rf"(?<=[\w$}}])[ \t]*\n{_EMPTY_LINES}(?P<end>[ \t]+)(?=\[)(?!\[[^\]\n]*\]\s*[:(])",
        _end,
    ),
    # Any word is a name where something is exported or imported under it.
    _gap(r"\bas\s+(?P<name>[a-z]+)(?=\s*[,}])", _name),
    _gap(r"[{,]\s*(?P<name>[a-z]+)(?=\s+as\b)", _name),
)
_TYPESCRIPT: Final = (
    *_JAVASCRIPT,
    _gap(r"\bexport\s+(?P<gone>type)\s*\*", _gone),
    _gap(r"""\b(?P<name>import\((?:"[^"'\\\n]*"|'[^"'\\\n]*')\))""", _name),
    _gap(
        rf"[<,]{_SPACE}(?P<gone>(?:(?:const|in|out)\s+)+)(?=[\w$]+\s*(?:[,>=]|extends\b))",
        _gone,
    ),
    _gap(r"\bexport[ \t]+(?:default|=)[ \t]*function[ \t]*\(", _declared),
    _gap(r"(?P<gone>\bexport\s*=)\s*(?=function\b)", _gone),
    _gap(r"^[ \t]+(?P<gone>global)(?=\s*\{)", _gone),
    # Words that mean something elsewhere are names where this follows them.
    _gap(rf"\b(?P<name>{_CONTEXTUAL})(?=\s*(?:\?\s*:|[:(,}}.)=;]))", _name),
    _gap(r"(?<=[({,\[.])\s*(?P<name>type|using)(?=\s*[,})\]])", _name),
    _gap(r"\bkeyof\s+(?P<gone>readonly)\b", _gone),
    # Escapes in the type of a text.
    _gap(r"(?P<name>\\[^\n])", _name),
    _gap(r"(?<=[\w$])(?P<gone><(?:[^<>()`]|<(?:[^<>()`]|<[^<>()`]*>)*>)*>)(?=`)", _gone),
    _gap(r"(?P<gone>,)(?=\s*\}\s*:)", _gone),
    # A signature that the end of its line ends.
    _gap(
        rf"(?<=[\w$>\])}}'\"`])(?<!=>)(?<!extends)[ \t]*\n{_EMPTY_LINES}"
        r"(?P<end>[ \t]+)(?=[<(])",
        _end,
    ),
)


def javascript_tree(source: bytes, language: Language) -> Tree:
    """Return the tree of a script or module."""
    return _read(source, language, _JAVASCRIPT)


def typescript_tree(source: bytes, language: Language) -> Tree:
    """Return the tree of TypeScript."""
    return _read(source, language, _TYPESCRIPT)


def _read(source: bytes, language: Language, gaps: tuple[_Gap, ...]) -> Tree:
    parser = Parser(language)
    tree = parser.parse(source)
    if not tree.root_node.has_error:
        return tree
    filled = source
    for gap in gaps:
        filled = gap.pattern.sub(gap.read, filled)
    whole = parser.parse(filled)
    if not whole.root_node.has_error:
        return whole
    return tree if len(source) > MAX_GRAMMAR_GAP_BYTES else _filled(parser, source, tree, gaps)


def _filled(parser: Parser, source: bytes, tree: Tree, gaps: tuple[_Gap, ...]) -> Tree:
    """Return the tree of a text with those gaps filled that leave less wrong in it."""
    wrong = _wrong(tree)
    for gap in gaps:
        read = gap.pattern.sub(gap.read, source)
        if read == source:
            continue
        other = parser.parse(read)
        left = _wrong(other)
        if left != wrong and left.places <= wrong.places and left.size <= wrong.size:
            source, tree, wrong = read, other, left
    return tree


def _wrong(tree: Tree) -> _Wrong:
    places = size = 0
    for node in _failed(tree):
        places += 1
        size += node
    return _Wrong(places, size)


def _failed(tree: Tree) -> Iterator[int]:
    """Yield the size of each part that could not be read."""
    cursor = tree.walk()
    while True:
        node = cursor.node
        if node is None:
            return
        if node.is_error or node.is_missing:
            yield node.end_byte - node.start_byte
        if node.has_error and not (node.is_error and node.parent) and cursor.goto_first_child():
            continue
        while not cursor.goto_next_sibling():
            if not cursor.goto_parent():
                return
