"""JavaScript and TypeScript by their tree-sitter grammars: parsers that read on after errors.

They know the syntax and nothing of types or names.
"""

import re
from collections.abc import Collection, Iterator, Sequence
from itertools import pairwise
from typing import Final

import tree_sitter_javascript
import tree_sitter_typescript
from tree_sitter import Language, Node, Parser

from archivolt.domain.code_check import CodeError

_UNEXPECTED: Final = "syntax error"
_IMPORT: Final = re.compile(rb"""\bimport\((?:"[^"'\\\n]*"|'[^"'\\\n]*')\)""")
_IN_OUT: Final = re.compile(rb"([<,]\s*)(in out|in|out)(?=\s+[\w$]+\s*(?:[,>=]|extends\b))")
_JSX_ENDS: Final = ("open_tag", "close_tag")
_LOOPS: Final = frozenset(("for_statement", "for_in_statement", "while_statement", "do_statement"))
_JUMPS: Final = {"break_statement": _LOOPS | {"switch_statement"}, "continue_statement": _LOOPS}
_TRY_ENDS: Final = ("handler", "finalizer")
_LISTS: Final = frozenset(("arguments", "object"))
_BEFORE_ITEM: Final = frozenset(("(", "{", ","))
_FUNCTIONS: Final = frozenset(
    {
        *("arrow_function", "function_declaration", "function_expression", "method_definition"),
        *("generator_function", "generator_function_declaration", "class_static_block"),
    }
)
_AROUND: Final = _FUNCTIONS | _JUMPS["break_statement"]
_DECLARATIONS: Final = frozenset(("lexical_declaration", "variable_declaration"))


def javascript_errors(text: str) -> Iterator[CodeError]:
    """Yield the errors of a script or module, JSX included, in their order."""
    source = text.encode()
    tree = nodes_of(source, Language(tree_sitter_javascript.language()))
    return _errors(source, tree, _DECLARATIONS)


def typescript_errors(text: str) -> Iterator[CodeError]:
    """Yield the errors of TypeScript, in their order."""
    return _typescript(text, Language(tree_sitter_typescript.language_typescript()))


def tsx_errors(text: str) -> Iterator[CodeError]:
    """Yield the errors of TypeScript with JSX, in their order."""
    return _typescript(text, Language(tree_sitter_typescript.language_tsx()))


def _typescript(text: str, language: Language) -> Iterator[CodeError]:
    source = text.encode()
    # The grammars miss both in some types: as a name and as one word they read the same.
    read = _IMPORT.sub(lambda found: re.sub(rb"\W", b"_", found[0]), source)
    read = _IN_OUT.sub(lambda found: found[1] + b" " * len(found[2]), read)
    # Where only types are told, a constant has no value.
    return _errors(source, nodes_of(read, language), frozenset())


def _errors(
    source: bytes, tree: Iterator[Node], declarations: Collection[str]
) -> Iterator[CodeError]:
    """Yield the errors of a tree; `declarations` are the kinds whose values must be there."""
    around: list[Node] = []
    for node in tree:
        # Asking a node for its parent would read the tree from its root each time.
        while around and around[-1].end_byte <= node.start_byte:
            around.pop()
        if message := _problem(node) or _misplaced(node, around):
            yield error_at(source, node, message)
        within = _gaps(node) if node.type in _LISTS else ()
        for place, message in _without_value(node) if node.type in declarations else within:
            yield error_at(source, place, message)
        if node.type in _AROUND:
            around.append(node)


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
    # The grammars take more than the language does, here and below.
    if node.type == "try_statement" and not any(map(node.child_by_field_name, _TRY_ENDS)):
        return "a try without its catch or finally"
    return ""


def _misplaced(node: Node, around: Sequence[Node]) -> str:
    """Return that a node may not stand in what is `around` it, outermost first; "" if it may."""
    if node.type == "await_expression":
        within = _innermost(node, around, _FUNCTIONS)
        if within and all(child.type != "async" for child in within.children):
            return "await outside an async function"
    if node.type in _JUMPS and not node.child_by_field_name("label"):
        within = _innermost(node, around, _FUNCTIONS | _JUMPS[node.type])
        if within is None or within.type in _FUNCTIONS:
            return f"{node.children[0].type} outside what it leaves"
    return ""


def _innermost(node: Node, around: Sequence[Node], kinds: Collection[str]) -> Node | None:
    """Return the nearest node of some kinds whose body a node is in."""
    for outer in reversed(around):
        body = outer.child_by_field_name("body") if outer.type in kinds else None
        if body and body.start_byte <= node.start_byte < body.end_byte:
            return outer
    return None


def _gaps(items: Node) -> Iterator[tuple[Node, str]]:
    """Yield the commas of a list that nothing stands before."""
    signs = [child for child in items.children if child.type != "comment"]
    for before, sign in pairwise(signs):
        if sign.type == "," and before.type in _BEFORE_ITEM:
            yield sign, "nothing stands before a comma"


def _without_value(declaration: Node) -> Iterator[tuple[Node, str]]:
    """Yield what is declared and needs a value."""
    for one in declaration.named_children:
        name = one.child_by_field_name("name")
        if name is None or one.child_by_field_name("value"):
            continue
        if declaration.children[0].type == "const" or name.type.endswith("_pattern"):
            yield one, "a declaration without its value"


def _tag(element: Node, end: str) -> bytes | None:
    tag = element.child_by_field_name(end)
    name = tag.child_by_field_name("name") if tag else None
    return name.text if name else None
