"""The part of docs/api.md that says who may call what, from the table of rights."""

from collections.abc import Iterator, Mapping
from typing import Any, Final

from archivolt.domain.identity import Role
from archivolt.domain.rights import PAGES, RIGHTS, Caller, Right
from archivolt.domain.tool_rights import TOOL_ROLES

_INTRODUCTION: Final = """\
## Who may call what

A role includes those before it: viewer, devops, tenant-admin, cpi-admin. What is done in a vault
takes its member besides (reader, writer, owner), whatever the role; no role reads a vault of
others. A token that a person gave a program has the role of a viewer.

| address | whose token | least role | of other users | of other tenants |
|---|---|---|---|---|"""
_CALLERS: Final = {
    Caller.ANYBODY: "none needed",
    Caller.PROGRAM: "a person's or a program's",
    Caller.PERSON: "a person's",
}


def rights_table(document: Mapping[str, Any]) -> Iterator[str]:
    """Yield the section for the operations of an OpenAPI document."""
    yield _INTRODUCTION
    for path, item in document["paths"].items():
        for method, operation in item.items():
            right = RIGHTS[operation["operationId"]]
            yield f"| `{method.upper()} {path}` | {_row(right)} |"
    for page, caller in PAGES.items():
        signed_in = "signed in in a browser" if caller is Caller.PERSON else _CALLERS[caller]
        yield f"| `{page}` | {signed_in} | | | |"
    yield ""
    for role in Role:
        named = [f"`{tool}`" for tool, least in TOOL_ROLES.items() if least is role]
        if named:
            yield f"Tools that take {role.value}, at every door: {', '.join(named)}.\n"


def _row(right: Right) -> str:
    if right.caller is Caller.ANYBODY:
        return f"{_CALLERS[right.caller]} | | | "
    roles = (right.of_others, right.of_all)
    beyond = " | ".join(role.value if role else "" for role in roles)
    return f"{_CALLERS[right.caller]} | {right.role.value} | {beyond}"
