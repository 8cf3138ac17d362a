"""Which places of the vaults a call is about, as `vault://` URIs that a client can open (O65)."""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any, Final

from archivolt.domain.conversation import ToolCallRecord
from archivolt.domain.paths import vault_uri
from archivolt.federation.naming import PREFIX

_REMOVING: Final = "delete_"
# A path narrows them; what they find is cited.
_SEARCHING: Final = "search_"
_HAPPENED: Final = frozenset({"success", "proposed"})


@dataclass(frozen=True, slots=True, kw_only=True)
class FollowedCall(ToolCallRecord):
    """A call that is read again, after what it is about moved: `uris` is where that is by now."""

    uris: tuple[str, ...]


def followed(call: ToolCallRecord, uris: Iterable[str]) -> FollowedCall:
    """Return a call with where what it is about is by now."""
    return FollowedCall(
        tool_id=call.tool_id,
        tool_name=call.tool_name,
        arguments=call.arguments,
        status=call.status,
        size=call.size,
        uris=tuple(uris),
    )


def touched_uris(call: ToolCallRecord) -> list[str]:
    """Return the URIs of the file or directory that a call read, wrote or would change.

    What it renamed or moved is where it brought that; what was removed, or not touched, is nowhere.
    """
    if isinstance(call, FollowedCall):
        return list(call.uris)
    done = call.status == "success"
    vault = call.arguments.get("vault")
    gone = done and call.tool_name.startswith(_REMOVING)
    # What a server of others names so is its own matter.
    elsewhere = call.tool_name.startswith((PREFIX, _SEARCHING))
    if call.status not in _HAPPENED or gone or elsewhere:
        return []
    path = _path(call.arguments, done=done)
    return [vault_uri(vault, path)] if isinstance(vault, str) and vault and path else []


def moved_uris(call: ToolCallRecord) -> list[tuple[str, str]]:
    """Return where what a call moved or renamed was, and where it is now."""
    before = touched_uris(replace(call, status="proposed"))
    now = touched_uris(call) if call.status == "success" else before
    return [pair for pair in zip(before, now, strict=False) if pair[0] != pair[1]]


def _path(arguments: dict[str, Any], *, done: bool) -> str:
    source = arguments.get("path") or arguments.get("source_path")
    if not isinstance(source, str):
        return ""
    directory, _, name = source.rstrip("/").rpartition("/")
    new_name, new_directory = arguments.get("new_name"), arguments.get("destination_dir")
    if done and isinstance(new_name, str):
        return f"{directory}/{new_name}".lstrip("/")
    if done and isinstance(new_directory, str):
        return f"{new_directory.rstrip('/')}/{name}".lstrip("/")
    return source
