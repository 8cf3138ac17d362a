"""What a person confirms: the preview of a change, and what it was based on (decision 12)."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum

from archivolt.domain.messages import Message


class Change(StrEnum):
    """What happens to a file or directory."""

    CREATE = "create"
    EDIT = "edit"
    DELETE = "delete"
    MOVE = "move"
    RELINK = "relink"
    """Only its links to what moves are rewritten."""
    SKIP = "skip"
    """It would have been touched and is not; `reason` says why."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Affected:
    """One file or directory that a change touches; `reason` is a code of `domain.reasons`."""

    path: str
    change: Change
    new_path: str = ""
    reason: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Preview:
    """A change as a person sees it before confirming.

    `diff` is unified, without secrets. Of many files `affected` and `diff` show the first;
    `affected_total` counts all. `pins` name what the change is based on and are given back to the
    tool that runs it: usually the ETag of each file by path ("" for one that must not exist), for
    a whole tree one digest. `contents` is the whole text that a file of code would have, by path;
    `note` tells what a person should know besides.
    """

    summary: Message
    diff: str = ""
    affected: Sequence[Affected] = ()
    affected_total: int = 0
    pins: Mapping[str, str] = field(default_factory=dict[str, str])
    contents: Mapping[str, str] = field(default_factory=dict[str, str])
    note: Message | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Confirmed:
    """The confirmation under which a tool runs.

    `operation` (the token's `jti`) is written on each version the change makes, so that a retry
    after a crash knows what is done already; `resumed` tells that an earlier attempt may have run.
    """

    operation: str
    pins: Mapping[str, str] = field(default_factory=dict[str, str])
    resumed: bool = False
