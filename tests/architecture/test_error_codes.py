"""The codes in the source and the table of sentences are held to each other, both ways."""

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass

from archivolt.domain import errors
from archivolt.domain.messages import MESSAGES
from archivolt.domain.reasons import REASONS
from tests.architecture.sources import ROOT, code_files, name_of, tree

DOMAIN = ROOT / "shared/archivolt/domain"
TABLES = [
    DOMAIN / f"{name}.py"
    for name in (
        "messages",
        "change_messages",
        "chat_messages",
        "confirmation_messages",
        "document_messages",
        "run_messages",
        "search_messages",
        "web_messages",
        "reasons",
    )
]
PRODUCT = [path for path in code_files() if path.is_relative_to(ROOT / "shared")]
ERRORS = {
    name
    for name, value in vars(errors).items()
    if isinstance(value, type) and issubclass(value, errors.ArchivoltError)
}


@dataclass(frozen=True)
class Use:
    """One error made in the source: its code and the values given with it (None: any)."""

    code: str
    values: frozenset[str] | None


def called_name(call: ast.Call) -> str:
    match call.func:
        case ast.Name(id=name) | ast.Attribute(attr=name):
            return name
        case _:
            return ""


def literal_codes(argument: ast.expr) -> list[str]:
    """The codes that an argument can be, where the source says so."""
    match argument:
        case ast.Constant(value=str(code)):
            return [code]
        case ast.IfExp(body=body, orelse=orelse):
            return literal_codes(body) + literal_codes(orelse)
        case _:
            return []


def uses_in(module: ast.Module) -> Iterator[Use]:
    for call in ast.walk(module):
        if isinstance(call, ast.Call) and called_name(call) in ERRORS and call.args:
            names = [keyword.arg for keyword in call.keywords]
            values = None if None in names else frozenset(name for name in names if name)
            yield from (Use(code, values) for code in literal_codes(call.args[0]))


def placeholders(code: str) -> set[str]:
    return set(re.findall(r"\{(\w+)\}", MESSAGES[code].en))


def test_every_code_has_its_sentence_and_the_values_it_shows() -> None:
    uses = [(name_of(path), use) for path in PRODUCT for use in uses_in(tree(path))]

    assert len(uses) > 100
    assert [(name, use.code) for name, use in uses if use.code not in MESSAGES] == []
    assert [
        (name, use.code, missing)
        for name, use in uses
        if use.values is not None and (missing := placeholders(use.code) - use.values)
    ] == []


def test_every_sentence_has_a_use() -> None:
    written = {
        node.value
        for path in code_files()
        if path not in TABLES
        for node in ast.walk(tree(path))
        if isinstance(node, ast.Constant) and isinstance(node.value, str)
    }

    assert sorted((MESSAGES.keys() | REASONS.keys()) - written) == []


def test_our_own_reasons_are_codes_that_both_languages_have() -> None:
    written = {
        (name_of(path), ast.unparse(keyword.value))
        for path in PRODUCT
        for call in ast.walk(tree(path))
        if isinstance(call, ast.Call) and called_name(call) in ERRORS
        for keyword in call.keywords
        if keyword.arg in {"reason", "problem"}
        and isinstance(keyword.value, ast.Constant | ast.JoinedStr)
    }

    known = {repr(code) for code in REASONS}

    assert written
    assert sorted((name, code) for name, code in written if code not in known) == []


def test_a_code_is_found_in_each_form() -> None:
    source = "raise NotFoundError('a' if x else 'b', path=p) from e\nConflictError('c', **more)"

    assert list(uses_in(ast.parse(source))) == [
        Use("a", frozenset({"path"})),
        Use("b", frozenset({"path"})),
        Use("c", None),
    ]
