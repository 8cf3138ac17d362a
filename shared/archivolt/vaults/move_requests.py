"""What may be asked to move, and to which path: new names, and directories to go into."""

import unicodedata
from dataclasses import dataclass

from archivolt.domain.errors import InvalidRequestError
from archivolt.domain.paths import VaultPath, name_of, name_problem, resolve_path
from archivolt.vaults.content_types import UNKNOWN, content_type_of


@dataclass(frozen=True, slots=True, kw_only=True)
class MoveRequest:
    """A move as it is asked for; `directory` None: whichever of the two the source is."""

    source: VaultPath
    target: VaultPath
    directory: bool | None


def rename_of_file(path: VaultPath, new_name: str) -> MoveRequest:
    """Return the renaming of a file; one without a known extension keeps the one it has.

    Raises:
        InvalidRequestError: `invalid_path`, with the reason.

    """
    name = _name(new_name)
    _, dot, extension = name_of(path).rpartition(".")
    is_known = "." in name and content_type_of(name) != UNKNOWN
    if dot and not is_known and not name.casefold().endswith(f".{extension}".casefold()):
        name = f"{name}.{extension}"
    return MoveRequest(source=path, target=_beside(path, name), directory=False)


def rename_of_directory(path: VaultPath, new_name: str) -> MoveRequest:
    """Return the renaming of a directory.

    Raises:
        InvalidRequestError: `invalid_path`, with the reason.

    """
    return MoveRequest(source=path, target=_beside(path, _name(new_name)), directory=True)


def move_into(source: VaultPath, directory: VaultPath) -> MoveRequest:
    """Return the move of a file or directory into a directory, which is made if need be.

    Raises:
        InvalidRequestError: `invalid_path`: too long.

    """
    prefix = f"{directory}/" if directory else ""
    target = resolve_path(prefix + name_of(source))
    return MoveRequest(source=source, target=target, directory=None)


def _name(raw: str) -> str:
    name = unicodedata.normalize("NFC", raw)
    problem = name_problem(name)
    if problem:
        raise InvalidRequestError("invalid_path", reason=problem)
    return name


def _beside(path: VaultPath, name: str) -> VaultPath:
    return resolve_path(path[: len(path) - len(name_of(path))] + name)
