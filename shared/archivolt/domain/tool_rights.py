"""What role each tool takes, whatever the door that it is called through."""

from collections.abc import Mapping
from typing import Final

from archivolt.domain.errors import ForbiddenError
from archivolt.domain.identity import Principal, Role

TOOL_ROLES: Final[Mapping[str, Role]] = dict.fromkeys(
    (
        "list_vaults",
        "list_directory",
        "list_all_files",
        "read_file",
        "read_file_raw",
        "get_backlinks",
        "list_backups",
        "diff_backup",
        "get_graph",
        "search_fulltext",
        "search_advanced",
        "search_paths",
        "list_tags",
        "suggest_tags",
        "list_recent",
        "web_search",
        "fetch_url",
        "create_file",
        "create_directory",
        "edit_file",
        "append_to_file",
        "restore_backup",
        "rename_file",
        "rename_directory",
        "move_path",
        "replace_in_files",
        "delete_file",
        "delete_directory",
        "search_documents",
        "sync_documents",
        "run_check",
        "start_run",
        "run_status",
    ),
    Role.VIEWER,
)
"""What a tool does in a vault takes its member besides."""


def require_tool(principal: Principal, tool: str) -> None:
    """Check that a caller has the role that a tool takes; what the table does not name takes none.

    Raises:
        ForbiddenError: `forbidden`.

    """
    if not principal.role.includes(TOOL_ROLES.get(tool, Role.VIEWER)):
        raise ForbiddenError("forbidden")
