"""JavaScript and TypeScript by their tree-sitter grammars: parsers that read on after errors.

They know the syntax, and nothing of types or of names but those that one block declares twice.
"""

from collections.abc import Collection, Iterator, Sequence
from itertools import pairwise
from typing import Final

import tree_sitter_javascript
import tree_sitter_typescript
from tree_sitter import Language, Node, Tree

from archivolt.adapters.code_check.declared_names import declared_twice
from archivolt.adapters.code_check.grammar_gaps import javascript_tree, typescript_tree
from archivolt.domain.code_check import CodeError

_UNEXPECTED: Final = "syntax error"
_JSX_ENDS: Final = ("open_tag", "close_tag")
_JSX_STARTS: Final = frozenset(("jsx_opening_element", "jsx_self_closing_element"))
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
_AROUND: Final = _FUNCTIONS | _JUMPS["break_statement"] | {"catch_clause"}
_DECLARATIONS: Final = frozenset(("lexical_declaration", "variable_declaration"))
# What uses the value on its left, which an arrow function is only in parentheses.
_USES: Final = {
    "call_expression": "function",
    "member_expression": "object",
    "subscript_expression": "object",
}


def javascript_errors(text: str) -> Iterator[CodeError]:
    """Yield the errors of a script or module, JSX included, in their order."""
    source = text.encode()
    tree = javascript_tree(source, Language(tree_sitter_javascript.language()))
    return _Reader(source, tree, ambient=False).errors()


def typescript_errors(text: str) -> Iterator[CodeError]:
    """Yield the errors of TypeScript, in their order."""
    return _typescript(text, Language(tree_sitter_typescript.language_typescript()))


def tsx_errors(text: str) -> Iterator[CodeError]:
    """Yield the errors of TypeScript with JSX, in their order."""
    return _typescript(text, Language(tree_sitter_typescript.language_tsx()))


def _typescript(text: str, language: Language) -> Iterator[CodeError]:
    source = text.encode()
    return _Reader(source, typescript_tree(source, language), ambient=True).errors()


class _Reader:
    """Reads a tree; `ambient`: what has a type may have no value."""

    def __init__(self, source: bytes, tree: Tree, *, ambient: bool) -> None:
        self._source = source
        self._tree = tree
        self._ambient = ambient
        # What is declared where is guesswork in what could not be read.
        self._knows_names = not tree.root_node.has_error
        self._around: list[Node] = []

    def errors(self) -> Iterator[CodeError]:
        """Yield what is wrong, in its order."""
        found = sorted(self._found(), key=lambda error: error[0].start_byte)
        return (error_at(self._source, node, message) for node, message in found)

    def _found(self) -> Iterator[tuple[Node, str]]:
        for node in nodes_of(self._tree):
            # Asking a node for its parent would read the tree from its root each time.
            while self._around and self._around[-1].end_byte <= node.start_byte:
                self._around.pop()
            if message := _problem(node) or _misplaced(node, self._around):
                yield node, message
            yield from self._within(node)
            if node.type in _AROUND:
                self._around.append(node)

    def _within(self, node: Node) -> Iterator[tuple[Node, str]]:
        if node.type in _LISTS:
            yield from _gaps(node)
        elif node.type in _DECLARATIONS:
            before = self._source[node.start_byte - node.start_point[1] : node.start_byte]
            if b"declare" not in before:
                yield from _without_value(node, ambient=self._ambient)
        elif self._knows_names:
            owner = self._around[-1] if self._around else None
            for name in declared_twice(self._source, node, owner):
                yield name, "the name is declared already"


def nodes_of(tree: Tree) -> Iterator[Node]:
    """Yield the nodes of a tree, parents first; no recursion, trees can be very deep."""
    cursor = tree.walk()
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
    if node.type in _JSX_STARTS and any(map(_is_value_alone, node.named_children)):
        return "an attribute's value without its ="
    # The grammars take more than the language does, here and below.
    if node.type == "try_statement" and not any(map(node.child_by_field_name, _TRY_ENDS)):
        return "a try without its catch or finally"
    return _joined(node)


def _is_value_alone(part: Node) -> bool:
    """Whether a part of a tag is a value that belongs to no attribute and spreads nothing."""
    within = [child.type for child in part.named_children if child.type != "comment"]
    return part.type == "jsx_expression" and bool(within) and within != ["spread_element"]


def _joined(node: Node) -> str:
    """Return that a node joins what cannot be, "" if it does not."""
    used = node.child_by_field_name(_USES[node.type]) if node.type in _USES else None
    if used and used.type == "arrow_function" and used.children[-1].type == "statement_block":
        # On a line of its own, what follows begins a statement.
        if used.end_point[0] == node.children[1].start_point[0]:
            return "something is missing after the function, such as a comma"
    elif node.type == "expression_statement":
        return "a statement begins with {" if (node.text or b"").startswith(b"{") else ""
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


def _without_value(declaration: Node, *, ambient: bool) -> Iterator[tuple[Node, str]]:
    """Yield what is declared and needs a value; `ambient`: one of a type may go without."""
    for one in declaration.named_children:
        name = one.child_by_field_name("name")
        if name is None or one.child_by_field_name("value"):
            continue
        if ambient and one.child_by_field_name("type"):
            continue
        if declaration.children[0].type == "const" or name.type.endswith("_pattern"):
            yield one, "a declaration without its value"


def _tag(element: Node, end: str) -> bytes | None:
    tag = element.child_by_field_name(end)
    name = tag.child_by_field_name("name") if tag else None
    return name.text if name else None
