"""What has to change in a vault for it to be like its folder."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from archivolt.domain.paths import VaultPath
from archivolt_local.mirror.folder import LocalFile, Scan
from archivolt_local.mirror.manifest import Written


@dataclass(frozen=True)
class Write:
    """A file that is new or changed."""

    file: LocalFile
    bulk: bool = False


@dataclass(frozen=True)
class Remove:
    """A file that is gone from the folder."""

    path: VaultPath


Change = Write | Remove


def differences(scan: Scan, written: Mapping[VaultPath, Written], *, bulk: bool) -> list[Change]:
    """Return the changes after a look at the whole folder.

    Writes come first: a renamed file is under its new name before its old one goes.
    """
    return [*_writes(scan, written, bulk=bulk), *_removals(written, scan, written)]


def differences_at(
    places: Iterable[str], scan: Scan, written: Mapping[VaultPath, Written]
) -> list[Change]:
    """Return the changes after a look at some places, given as paths in the vault."""
    touched = [path for place in places for path in written if is_at_or_below(path, place)]
    return [*_writes(scan, written, bulk=False), *_removals(touched, scan, written)]


def is_at_or_below(path: str, place: str) -> bool:
    """Tell whether a path is a place or inside it; the root is "." or empty."""
    return place in {"", "."} or path == place or path.startswith(f"{place}/")


def _writes(scan: Scan, written: Mapping[VaultPath, Written], *, bulk: bool) -> list[Change]:
    return [
        Write(file, bulk=bulk)
        for path, file in scan.files.items()
        if not _same(file, written.get(path))
    ]


def _same(file: LocalFile, before: Written | None) -> bool:
    return before is not None and (before.size, before.modified) == (file.size, file.modified)


def _removals(
    paths: Iterable[VaultPath], scan: Scan, written: Mapping[VaultPath, Written]
) -> list[Change]:
    gone = (path for path in paths if path in written and path not in scan.files)
    return [Remove(path) for path in dict.fromkeys(gone)]
