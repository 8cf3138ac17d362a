"""Names of JavaScript and TypeScript that a block declares, where that is an error: twice.

What may be told again or merged stays out: types, namespaces and signatures, and `var`, functions
and parameters among themselves.
"""

from collections.abc import Iterator
from typing import Final, NamedTuple

from tree_sitter import Node

_BLOCKS: Final = frozenset(("program", "statement_block", "switch_body"))
_CASES: Final = frozenset(("switch_case", "switch_default"))
_ONCE: Final = frozenset(("abstract_class_declaration", "class_declaration", "lexical_declaration"))
_AGAIN: Final = frozenset(
    ("function_declaration", "generator_function_declaration", "variable_declaration")
)
_VARIABLES: Final = frozenset(("lexical_declaration", "variable_declaration"))
_NAMES: Final = frozenset(("identifier", "shorthand_property_identifier_pattern"))
# What takes a value apart, and its field that has the names; without one, all of it has.
_PATTERNS: Final = {
    "array_pattern": "",
    "assignment_pattern": "left",
    "formal_parameters": "",
    "object_assignment_pattern": "left",
    "object_pattern": "",
    "optional_parameter": "pattern",
    "pair_pattern": "value",
    "required_parameter": "pattern",
    "rest_pattern": "",
}
_IMPORTS: Final = frozenset(
    ("import_clause", "import_statement", "named_imports", "namespace_import")
)


class _Declared(NamedTuple):
    """A name where it is declared; `once`: by what lets nothing beside it have the name.

    `of_type`: it is imported as a type, and a value may have the name too.
    """

    name: Node
    once: bool
    of_type: bool = False


def declared_twice(source: bytes, block: Node, owner: Node | None) -> Iterator[Node]:
    """Yield the names that a block declares though it has them already; none of another node.

    `source` is the text as it was written, `owner` the function or `catch` whose body the block
    may be.
    """
    if block.type not in _BLOCKS:
        return
    known: dict[tuple[bytes, bool], bool] = {}
    for name, once, of_type in _declared(block, owner):
        written = source[name.start_byte : name.end_byte], of_type
        before = known.get(written)
        if before is not None and (once or before):
            yield name
        known[written] = once or bool(before)


def _declared(block: Node, owner: Node | None) -> Iterator[_Declared]:
    if owner and owner.child_by_field_name("body") == block:
        yield from (_Declared(name, once=False) for name in _parameters(owner))
    for statement in _statements(block):
        if statement.type == "import_statement":
            yield from _imported(statement)
        elif statement.type in _ONCE or statement.type in _AGAIN:
            once = statement.type in _ONCE
            yield from (_Declared(name, once) for name in _names(statement))


def _statements(block: Node) -> Iterator[Node]:
    """Yield what stands in a block itself, without the `export` before it."""
    for child in block.named_children:
        if child.type in _CASES:
            yield from child.children_by_field_name("body")
        else:
            yield child.child_by_field_name("declaration") or child


def _parameters(owner: Node) -> Iterator[Node]:
    for field in ("parameter", "parameters"):
        told = owner.child_by_field_name(field)
        if told:
            yield from _bound(told)


def _names(declaration: Node) -> Iterator[Node]:
    """Yield the names that a declaration gives."""
    variables = declaration.type in _VARIABLES
    for one in declaration.named_children if variables else (declaration,):
        name = one.child_by_field_name("name")
        if name:
            yield from _bound(name) if variables else (name,)


def _bound(pattern: Node) -> Iterator[Node]:
    """Yield the names that a pattern gives, in their order; no recursion, patterns can be deep."""
    waiting = [pattern]
    while waiting:
        node = waiting.pop()
        if node.type in _NAMES:
            yield node
        elif field := _PATTERNS.get(node.type):
            waiting += filter(None, [node.child_by_field_name(field)])
        elif node.type in _PATTERNS:
            waiting += reversed(node.named_children)


def _imported(statement: Node) -> Iterator[_Declared]:
    waiting = [(statement, False)]
    while waiting:
        node, of_type = waiting.pop()
        of_type = of_type or any(child.type == "type" for child in node.children)
        if node.type == "identifier":
            yield _Declared(node, once=True, of_type=of_type)
        elif node.type == "import_specifier":
            waiting.append((node.named_children[-1], of_type))
        elif node.type in _IMPORTS:
            waiting += [(child, of_type) for child in reversed(node.named_children)]
