"""Whether a permission that a person gave beforehand covers a change of a run.

What a change touches is told by its own proposal: each path in its arguments, in what it is bound
to and in what would be shown of it. A permission covers all of that, or nothing.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final

from archivolt.domain.confirmation import Change
from archivolt.domain.errors import ForbiddenError, InvalidRequestError
from archivolt.domain.paths import ROOT, resolve_directory
from archivolt.domain.schedule import StandingPermission
from archivolt.domain.tool import JsonObject

PERMITTED_TOOLS: Final = frozenset(
    {
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
    }
)
"""The tools whose proposals name every path that they touch."""
# Of these the pins name every file, or the tree that all of them are in, however little is shown.
_PINNED_WHOLE: Final = frozenset({"replace_in_files", "delete_directory"})
_PATHS: Final = ("path", "source_path")


@dataclass(frozen=True, slots=True, kw_only=True)
class ProposedChange:
    """A change as it was proposed; `vault` is an id, `preview` as it would be shown."""

    tool: str
    vault: str
    arguments: Mapping[str, Any]
    pins: Mapping[str, str]
    preview: JsonObject


def covering(
    permissions: Iterable[StandingPermission], change: ProposedChange, now: datetime
) -> StandingPermission:
    """Return a permission that covers a change now.

    Raises:
        ForbiddenError: `standing_permission_expired`, `standing_permission_used_up`;
            `no_standing_permission`.

    """
    code = "no_standing_permission"
    paths = _touched(change)
    for permission in permissions:
        if not (paths and _reaches(permission, change, paths)):
            continue
        if now >= permission.expires_at:
            code = "standing_permission_expired"
        elif permission.used_up:
            code = "standing_permission_used_up"
        else:
            return permission
    raise ForbiddenError(code)


def _reaches(permission: StandingPermission, change: ProposedChange, paths: frozenset[str]) -> bool:
    return (
        change.tool in PERMITTED_TOOLS
        and change.tool in permission.tools
        and bool(change.vault)
        and change.vault == permission.vault
        and all(_is_below(path, permission.folder) for path in paths)
    )


def _is_below(path: str, folder: str) -> bool:
    """Tell whether a path is in a folder; the folder itself is not."""
    return folder == ROOT or path.startswith(f"{folder}/")


def _touched(change: ProposedChange) -> frozenset[str]:
    """Return every path that a change touches; none where they cannot all be told."""
    affected: list[JsonObject] = change.preview.get("affected", [])
    is_whole = change.preview.get("affected_total", 0) <= len(affected)
    if not (is_whole or change.tool in _PINNED_WHOLE):
        return frozenset()
    try:
        return frozenset(resolve_directory(path) for path in _named(change, affected))
    except InvalidRequestError:
        return frozenset()


def _named(change: ProposedChange, affected: list[JsonObject]) -> Iterator[str]:
    for name in _PATHS:
        if isinstance(change.arguments.get(name), str):
            yield change.arguments[name]
    yield from change.pins
    for each in affected:
        if each.get("change") != Change.SKIP:
            yield each["path"]
            if each.get("new_path"):
                yield each["new_path"]
