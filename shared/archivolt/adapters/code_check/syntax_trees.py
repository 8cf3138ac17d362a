"""JavaScript and TypeScript by their tree-sitter grammars: parsers that read on after errors.

They know the syntax and nothing of types or names.
"""

from collections.abc import Iterator
from typing import Final

import tree_sitter_javascript
import tree_sitter_typescript
from tree_sitter import Language, Node, Parser

from archivolt.domain.code_check import CodeError

_UNEXPECTED: Final = "syntax error"
_JSX_ENDS: Final = ("open_tag", "close_tag")


def javascript_errors(text: str) -> Iterator[CodeError]:
    """Yield the errors of a script or module, JSX included, in their order."""
    return errors_of(text, Language(tree_sitter_javascript.language()))


def typescript_errors(text: str) -> Iterator[CodeError]:
    """Yield the errors of TypeScript, in their order."""
    return errors_of(text, Language(tree_sitter_typescript.language_typescript()))


def tsx_errors(text: str) -> Iterator[CodeError]:
    """Yield the errors of TypeScript with JSX, in their order."""
    return errors_of(text, Language(tree_sitter_typescript.language_tsx()))


def errors_of(text: str, language: Language) -> Iterator[CodeError]:
    """Yield the errors of a text."""
    source = text.encode()
    for node in nodes_of(source, language):
        message = _problem(node)
        if message:
            yield error_at(source, node, message)


def nodes_of(source: bytes, language: Language) -> Iterator[Node]:
    """Yield the nodes of a text's tree, parents first; no recursion, trees can be very deep."""
    cursor = Parser(language).parse(source).walk()
    while True:
        node = cursor.node
        if node is None:
            return
        yield node
        # One error is told once: what is within it is guesswork.
        if (not node.is_error or node.parent is None) and cursor.goto_first_child():
            continue
        while not cursor.goto_next_sibling():
            if not cursor.goto_parent():
                return


def error_at(source: bytes, node: Node, message: str) -> CodeError:
    """Return an error where a node starts."""
    row, in_line = node.start_point
    before = source[node.start_byte - in_line : node.start_byte]
    column = len(before.decode("utf-8", "replace")) + 1
    return CodeError(line=row + 1, column=column, message=message)


def _problem(node: Node) -> str:
    """Return what is wrong with a node itself, "" if nothing."""
    if node.is_missing:
        return f"missing {node.type}"
    if node.is_error:
        return _UNEXPECTED
    if node.type == "jsx_element":
        opened, closed = (_tag(node, end) for end in _JSX_ENDS)
        if opened != closed:
            return "the element's end tag has another name"
    return ""


def _tag(element: Node, end: str) -> bytes | None:
    tag = element.child_by_field_name(end)
    name = tag.child_by_field_name("name") if tag else None
    return name.text if name else None
