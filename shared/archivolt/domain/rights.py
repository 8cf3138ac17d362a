"""Who may call what: the one table of every route and page, and of the role that it takes.

An entrance looks its row up and refuses whoever lacks what it says; one without a row lets nobody
in. What a vault's member may do in it is apart (reader, writer, owner); no role adds to it (R4).
"""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from archivolt.domain.errors import ForbiddenError
from archivolt.domain.identity import Principal, Role, TokenKind


class Caller(StrEnum):
    """Whose hand a route is for."""

    ANYBODY = "anybody"
    """No token is asked for."""
    PROGRAM = "any token"
    """Programs too, with a token that a person gave them."""
    PERSON = "a person"
    """Only a person's own sign-in: no personal token, and none for MCP (decision 26)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Right:
    """What a route takes: the least role, and whose hand.

    `of_others` is the least role for what is of other users of the tenant; None: nobody's but the
    caller's own is reached. `of_all` is it for other tenants.
    """

    role: Role = Role.VIEWER
    caller: Caller = Caller.PERSON
    of_others: Role | None = None
    of_all: Role | None = None


# Who reaches every tenant (S34).
_OF_ALL: Final = Role.CPI_ADMIN

_PUBLIC: Final = Right(caller=Caller.ANYBODY)
_EVERY_TOKEN: Final = Right(caller=Caller.PROGRAM)
_OWN_HAND: Final = Right()
_OWN_OR_OTHERS: Final = Right(of_others=Role.TENANT_ADMIN)
_OF_THE_TENANT: Final = Right(role=Role.TENANT_ADMIN, of_all=_OF_ALL)
_OF_ALL_TENANTS: Final = Right(role=_OF_ALL, of_all=_OF_ALL)

RIGHTS: Final[Mapping[str, Right]] = {
    **dict.fromkeys(("health", "openapi", "mcp_resource_metadata"), _PUBLIC),
    **dict.fromkeys(
        (
            "list_vaults",
            "list_directory",
            "read_file",
            "list_all_files",
            "list_backups",
            "diff_backup",
            "get_backlinks",
            "get_graph",
            "search_fulltext",
            "search_advanced",
            "search_paths",
            "list_tags",
            "suggest_tags",
            "list_recent",
            "list_operations",
            "index_state",
            "list_tools",
            "call_tool",
            "propose_change",
            "apply_change",
            "decline_change",
            "mcp",
        ),
        _EVERY_TOKEN,
    ),
    **dict.fromkeys(
        (
            "read_bytes",
            "create_file",
            "edit_file",
            "append_to_file",
            "rename_file",
            "delete_file",
            "restore_backup",
            "create_directory",
            "rename_directory",
            "delete_directory",
            "undelete_directory",
            "move_path",
            "replace_in_files",
            "begin_upload",
            "create_vault",
            "change_vault",
            "list_members",
            "set_member",
            "remove_member",
            "rebuild_index",
            "config",
            "ai_models",
            "own_settings",
            "change_own_settings",
            "make_token",
            "list_confirmations",
            "show_confirmation",
            "approve_confirmation",
            "decline_confirmation",
            "send_message",
            "stop_answer",
            "preview_context",
            "search_conversations",
            "list_conversations",
            "rename_conversation",
            "delete_conversation",
            "ai_status",
            "model_capabilities",
            "list_skills",
            "list_mcp_servers",
            "show_mcp_account",
            "connect_mcp_account",
            "disconnect_mcp_account",
            "save_skill",
            "delete_skill",
            "edit_text",
            "own_usage",
            "start_run",
            "list_runs",
            "read_approval",
            "decide_approval",
            "create_schedule",
            "list_schedules",
            "read_schedule",
            "change_schedule",
            "pause_schedule",
            "resume_schedule",
            "delete_schedule",
            "give_permission",
            "revoke_permission",
            "delete_vault",
            "export_me",
            "delete_me",
        ),
        _OWN_HAND,
    ),
    **dict.fromkeys(
        (
            "list_tokens",
            "revoke_token",
            "list_connections",
            "end_connection",
            "read_conversation",
            "export_conversation",
            "read_run",
            "run_events",
            "cancel_run",
            "delete_run",
        ),
        _OWN_OR_OTHERS,
    ),
    **dict.fromkeys(
        ("list_erasures", "show_erasure"),
        Right(of_others=Role.TENANT_ADMIN, of_all=_OF_ALL),
    ),
    "delete_user": Right(role=Role.TENANT_ADMIN),
    "audit": Right(role=Role.TENANT_ADMIN),
    "change_config": Right(role=Role.TENANT_ADMIN),
    **dict.fromkeys(
        (
            "change_mcp_server",
            "test_mcp_server",
            "delete_mcp_server",
            "list_webhooks",
            "change_webhook",
            "rotate_webhook_secret",
            "test_webhook",
            "delete_webhook",
        ),
        Right(role=Role.TENANT_ADMIN),
    ),
    # A team sees what it used, an administrator who used it.
    "tenant_usage": Right(role=Role.DEVOPS, of_others=Role.TENANT_ADMIN, of_all=_OF_ALL),
    "show_tenant": Right(of_all=_OF_ALL),
    **dict.fromkeys(
        (
            "tenant_settings",
            "change_tenant_settings",
            "test_provider_key",
            "list_users",
            "show_user",
            "suspend_user",
            "resume_user",
        ),
        _OF_THE_TENANT,
    ),
    **dict.fromkeys(
        (
            "list_tenants",
            "make_tenant",
            "change_tenant",
            "suspend_tenant",
            "resume_tenant",
            "delete_tenant",
        ),
        _OF_ALL_TENANTS,
    ),
}
"""By the operation id of each route, which names it in the audit log too."""

PAGES: Final[Mapping[str, Caller]] = {
    **dict.fromkeys(
        (
            "/oauth/token",
            "/oauth/register",
            "/oauth/revoke",
            "/oauth/sign-in",
            "/oauth/callback",
            "/oauth/link",
            "/oauth/mcp/client/{place}",
        ),
        Caller.ANYBODY,
    ),
    **dict.fromkeys(
        (
            "/oauth/authorize",
            "/oauth/connections",
            "/oauth/sign-out",
            "/oauth/mcp/{server}",
            "/oauth/mcp/callback/{place}",
            "/approve/waiting",
            "/approve/{confirmation}",
        ),
        Caller.PERSON,
    ),
}
"""Pages, and endpoints of the authorization server: a person is known by the browser's cookie."""


def require(right: Right, principal: Principal, *, reads: bool) -> None:
    """Check that a caller has what a route takes; `reads`: it changes nothing.

    Raises:
        ForbiddenError: `person_required`, `token_read_only`, `forbidden`.

    """
    if right.caller is Caller.PERSON:
        if principal.kind is not TokenKind.INTERACTIVE:
            raise ForbiddenError("person_required")
        if principal.reach.read_only and not reads:
            raise ForbiddenError("token_read_only")
    if not principal.role.includes(right.role):
        raise ForbiddenError("forbidden")


def require_others(principal: Principal, operation: str) -> None:
    """Check that a caller may do something with what is of everybody in their tenant.

    Raises:
        ForbiddenError: `forbidden`.

    """
    if not may_reach_others(principal, operation):
        raise ForbiddenError("forbidden")


def may_reach_others(principal: Principal, operation: str) -> bool:
    """Tell whether a caller may do something with what is of another user of their tenant."""
    least = RIGHTS[operation].of_others
    return least is not None and principal.role.includes(least)


def may_reach_tenant(principal: Principal, tenant: str) -> bool:
    """Tell whether a caller may name a tenant at all: their own, or any for who has all (S34)."""
    return tenant == principal.tenant or principal.role.includes(_OF_ALL)
