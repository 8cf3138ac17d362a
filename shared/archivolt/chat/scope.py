"""The part of the vaults that a question is about, as the model sees it (O11, O12, O76).

Files a person points at are read for the model, without secrets, within the limits of O12; of a
directory the names are given. Every place is checked with the rights of the person who asks.
"""

from collections.abc import Sequence
from itertools import islice
from typing import Protocol

from archivolt.chat.requests import ContextKind, Place, PlaceKind, TurnRequest
from archivolt.domain.errors import InvalidRequestError, TooLargeError, UnsupportedContentError
from archivolt.domain.identity import Principal
from archivolt.domain.limits import (
    MAX_CONTEXT_FILE_CHARS,
    MAX_CONTEXT_FILES,
    MAX_CONTEXT_TOTAL_CHARS,
)
from archivolt.domain.paths import VaultPath, resolve_directory, resolve_path, vault_uri
from archivolt.domain.tool import JsonObject
from archivolt.domain.vault import Listing, VaultAccess
from archivolt.vaults.files import TextPart


class Vaults(Protocol):
    """Proves a caller's membership."""

    def access(self, principal: Principal, name: str) -> VaultAccess:
        """Return the access, or raise `vault_not_found`."""
        ...


class Files(Protocol):
    """Lists and reads, without secrets."""

    def list_directory(
        self, access: VaultAccess, directory: VaultPath, *, limit: int, recursive: bool
    ) -> Listing:
        """Return files below a directory, or raise `directory_not_found`."""
        ...

    def read_text(
        self, access: VaultAccess, path: VaultPath, *, offset: int = 0, limit: int | None = None
    ) -> TextPart:
        """Return the beginning of a file's text, or raise `file_not_found` or what it is not."""
        ...


def scope_within(scope: JsonObject, characters: int) -> JsonObject:
    """Return a scope whose texts have at most so many characters; the last ones give way.

    A document that is cut says so (`is_whole`), and can be read with a tool.
    """
    room, documents = characters, list[JsonObject]()
    for document in scope["documents"]:
        text: str = document.get("content", "")
        cut = {"content": text[: max(room, 0)], "is_whole": False} if len(text) > room else {}
        room -= len(text)
        documents.append(document | cut)
    return scope | {"documents": documents}


class ScopeCollector:
    """Turns the places of a request into what the model is told about them."""

    def __init__(self, vaults: Vaults, files: Files) -> None:
        self._vaults = vaults
        self._files = files

    def collect(self, principal: Principal, request: TurnRequest) -> JsonObject | None:
        """Return the scope: its places, the texts of files, the names in directories.

        Raises:
            InvalidRequestError: `invalid_request`: a context without a place, or too many places;
                `invalid_path`.
            NotFoundError: `vault_not_found`, `file_not_found`, `directory_not_found`.

        """
        if request.context is not ContextKind.GENERAL and not request.places:
            raise InvalidRequestError("invalid_request", problem="context_without_place")
        if len(request.places) > MAX_CONTEXT_FILES:
            raise InvalidRequestError("invalid_request", problem="places_too_many")
        if not request.places:
            return None
        accesses = {
            name: self._vaults.access(principal, name)
            for name in dict.fromkeys(place.vault for place in request.places)
        }
        return self._described([(accesses[place.vault], place) for place in request.places])

    def _described(self, places: Sequence[tuple[VaultAccess, Place]]) -> JsonObject:
        scope: JsonObject = {"places": [], "documents": [], "files": []}
        room = MAX_CONTEXT_TOTAL_CHARS
        for access, place in places:
            vault = access.vault.name
            if place.kind is PlaceKind.FILE:
                path = resolve_path(place.path)
                document = self._document(access, path, min(room, MAX_CONTEXT_FILE_CHARS))
                room -= len(document.get("content", ""))
                scope["documents"].append(document)
            else:
                path = resolve_directory(place.path)
                names = self._names(access, path)
                scope["files"].extend(islice(names, MAX_CONTEXT_FILES - len(scope["files"])))
            scope["places"].append({"vault": vault, "path": path, "kind": place.kind.value})
        return scope

    def _document(self, access: VaultAccess, path: VaultPath, room: int) -> JsonObject:
        vault = access.vault.name
        document: JsonObject = {"uri": vault_uri(vault, path), "vault": vault, "path": path}
        if room <= 0:
            return document | {"unread": "no_room"}
        try:
            part = self._files.read_text(access, path, limit=room)
        except (UnsupportedContentError, TooLargeError) as error:
            return document | {"unread": error.code}
        return document | {"content": part.text, "is_whole": part.next_offset is None}

    def _names(self, access: VaultAccess, directory: VaultPath) -> list[str]:
        page = self._files.list_directory(
            access, directory, limit=MAX_CONTEXT_FILES, recursive=True
        )
        return [vault_uri(access.vault.name, file.path) for file in page.files]
