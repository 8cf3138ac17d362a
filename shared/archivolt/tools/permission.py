"""The permission step: surface, membership, and what the vault allows (O66, decision 2).

A tool outside its surfaces, a vault of others and a vault that does not exist all look the same:
not found.
"""

from collections.abc import Mapping
from typing import Any

from archivolt.domain.errors import ForbiddenError, NotFoundError
from archivolt.domain.identity import Principal
from archivolt.domain.tool import Risk, Surface
from archivolt.domain.tool_rights import require_tool
from archivolt.domain.vault import VaultAccess, VaultRole
from archivolt.tools.registry import Tool
from archivolt.vaults.access import VaultService


def require_surface(tool: Tool, surface: Surface) -> None:
    """Check that the tool may be called through this door.

    Raises:
        NotFoundError: `tool_not_found`.

    """
    if surface not in tool.scopes:
        raise NotFoundError("tool_not_found", tool=tool.name)


def vault_for(
    tool: Tool, arguments: Mapping[str, Any], principal: Principal, vaults: VaultService
) -> VaultAccess | None:
    """Return the caller's access to the vault the arguments name; None if they name none.

    Raises:
        NotFoundError: `vault_not_found`: there is none of that name among the caller's.
        ForbiddenError: `forbidden`: the tool takes another role; `token_read_only`,
            `vault_read_only`: the tool writes, and the token or the
            caller only reads; or `destructive_tools_off`: the owner forbids dangerous tools (O62).

    """
    require_tool(principal, tool.name)
    if principal.reach.read_only and tool.risk is not Risk.READ:
        raise ForbiddenError("token_read_only")
    name = vault_named(arguments) if tool.names_vaults else ""
    if not name:
        return None
    access = vaults.access(principal, name)
    require_right(access, tool.risk)
    return access


def require_right(access: VaultAccess, risk: Risk) -> None:
    """Check that a tool of this risk may touch a vault; for tools that reach several, for each.

    Raises:
        ForbiddenError: `vault_read_only`, `destructive_tools_off`.

    """
    if risk is not Risk.READ and not access.role.includes(VaultRole.WRITER):
        raise ForbiddenError("vault_read_only", vault=access.vault.name)
    if risk is Risk.DANGEROUS and not access.vault.ai_destructive_tools:
        raise ForbiddenError("destructive_tools_off", vault=access.vault.name)


def vault_named(arguments: Mapping[str, Any]) -> str:
    """Return the name of the vault that arguments name, "" if they name none."""
    name = arguments.get("vault")
    # A number is read as text, as the arguments step will.
    return str(name) if isinstance(name, str | int | float) and not isinstance(name, bool) else ""
