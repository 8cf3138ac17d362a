"""The part of the vaults that a question is about, as the model sees it (O11, O12, O76).

Files a person points at, and those in the directories they point at, are read for the model,
without secrets, within the limits of O12; beyond them the names are given. Of documents that are no
text files, what was read of them for the index is given (decision 114). Every place is checked
with the rights of the person who asks.
"""

from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from itertools import islice
from typing import Final, NamedTuple, Protocol

from archivolt.chat.context_texts import ContextTexts, DocumentTexts, TextFiles
from archivolt.chat.providers import ChosenModel
from archivolt.chat.requests import ContextKind, Place, PlaceKind, TurnRequest
from archivolt.domain.errors import (
    InvalidRequestError,
    NotFoundError,
    UnavailableError,
    UnsupportedContentError,
)
from archivolt.domain.identity import Principal, TenantId, UserId
from archivolt.domain.limits import (
    MAX_CONTEXT_FILES,
    MAX_CONTEXT_TOTAL_CHARS,
    MIN_CONTEXT_TOKENS,
)
from archivolt.domain.paths import VaultPath, resolve_directory, resolve_path, vault_uri
from archivolt.domain.tool import JsonObject
from archivolt.domain.vault import ETag, Listing, VaultAccess
from archivolt.ports.clock import Clock
from archivolt.vaults.content_types import UNKNOWN, content_type_of, is_document


class Vaults(Protocol):
    """Proves a caller's membership."""

    def access(self, principal: Principal, name: str) -> VaultAccess:
        """Return the access, or raise `vault_not_found`."""
        ...


class Files(TextFiles, Protocol):
    """Lists and reads, without secrets."""

    def list_directory(
        self, access: VaultAccess, directory: VaultPath, *, limit: int, recursive: bool
    ) -> Listing:
        """Return files below a directory, or raise `directory_not_found`."""
        ...


_AT_ONCE: Final = 16
_REMEMBERED: Final = 10_000
_NO_ROOM: Final = {"unread": "no_room"}
_MAY_BE_TEXT: Final = frozenset(
    {UNKNOWN, "application/json", "application/yaml", "application/toml"}
)


def scope_for(scope: JsonObject | None, chosen: ChosenModel) -> JsonObject | None:
    """Return a scope as a model is given it: it takes two thirds of the window at most."""
    room = max(chosen.context_tokens - chosen.max_tokens, MIN_CONTEXT_TOKENS)
    # At three bytes a token.
    return scope and _scope_within(scope, room * 2)


def _scope_within(scope: JsonObject, size: int) -> JsonObject:
    """Return a scope whose texts have at most so many bytes; the last ones give way.

    A document that is cut says so (`is_whole`), and can be read with a tool.
    """
    room, documents = size, list[JsonObject]()
    for document in scope["documents"]:
        encoded = document.get("content", "").encode("utf-8", "replace")
        fits = len(encoded[: max(room, 0)].decode("utf-8", "ignore"))
        documents.append(document if len(encoded) <= room else _within(document, fits))
        room -= len(documents[-1].get("content", "").encode("utf-8", "replace"))
    return scope | {"documents": documents}


class _File(NamedTuple):
    """A file of a scope; `named`: the person points at this very one.

    `etag` is what a listing just said of it.
    """

    access: VaultAccess
    path: VaultPath
    named: bool
    etag: ETag | None = None


class ScopeCollector:
    """Turns the places of a request into what the model is told about them."""

    def __init__(self, vaults: Vaults, files: Files, kept: DocumentTexts, clock: Clock) -> None:
        self._vaults = vaults
        self._files = files
        self._texts = ContextTexts(files, kept, clock)
        self._seen: dict[tuple[TenantId, UserId, str], VaultAccess] = {}

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
        names = list(dict.fromkeys(place.vault for place in request.places))
        who = (principal.tenant, principal.user)
        seen = {name: was for name in names if (was := self._seen.get((*who, name)))}
        with ThreadPoolExecutor(1 + _AT_ONCE) as pool:
            # What may be read is read while that is checked anew, and given to nobody before.
            is_known = len(seen) == len(names)
            early = pool.submit(self._described, seen, request.places) if is_known else None
            looks = pool.map(partial(self._vaults.access, principal), names)
            accesses = dict(zip(names, looks, strict=True))
        if early and accesses == seen:
            return early.result()
        if len(self._seen) >= _REMEMBERED:
            self._seen.clear()
        self._seen |= {(*who, name): access for name, access in accesses.items()}
        return self._described(accesses, request.places)

    def _described(
        self, accesses: Mapping[str, VaultAccess], places: Sequence[Place]
    ) -> JsonObject:
        scope: JsonObject = {"places": [], "documents": [], "files": []}
        named: dict[str, _File] = {}
        directories: list[tuple[VaultAccess, VaultPath]] = []
        for place in places:
            access, is_file = accesses[place.vault], place.kind is PlaceKind.FILE
            path = resolve_path(place.path) if is_file else resolve_directory(place.path)
            vault = access.vault.name
            if is_file:
                named[vault_uri(vault, path)] = _File(access, path, named=True)
            else:
                directories.append((access, path))
            scope["places"].append({"vault": vault, "path": path, "kind": place.kind.value})
        found: dict[str, _File] = {}
        with ThreadPoolExecutor(_AT_ONCE) as pool:
            for listed in pool.map(self._in_directory, directories):
                found |= listed
        scope["files"] = list(islice(found, MAX_CONTEXT_FILES))
        wanted = [file for file in (found | named).values() if file.named or _may_be(file.path)]
        first = sorted(wanted, key=lambda file: not file.named)[:MAX_CONTEXT_FILES]
        scope["documents"] = self._documents(first)
        return scope

    def _documents(self, wanted: Sequence[_File]) -> list[JsonObject]:
        """Read documents in their order until there is no more room; some side by side."""
        read: list[JsonObject] = []
        room = MAX_CONTEXT_TOTAL_CHARS
        with ThreadPoolExecutor(_AT_ONCE) as pool:
            for start in range(0, len(wanted), _AT_ONCE):
                some = wanted[start : start + _AT_ONCE]
                for document in pool.map(partial(self._document, full=room <= 0), some):
                    fitted = _within(document, room)
                    room -= len(fitted.get("content", ""))
                    read.append(fitted)
        return read

    def _document(self, file: _File, *, full: bool) -> JsonObject:
        access, path, named, etag = file
        vault = access.vault.name
        document: JsonObject = {"uri": vault_uri(vault, path), "vault": vault, "path": path}
        if full:
            return document | _NO_ROOM
        try:
            found = self._texts.read(access, path, etag=etag)
        except (UnsupportedContentError, UnavailableError) as error:
            return document | {"unread": error.code}
        except NotFoundError as error:
            if named:
                raise
            return document | {"unread": error.code}
        return document | {"content": found.text, "is_whole": found.is_whole}

    def _in_directory(self, where: tuple[VaultAccess, VaultPath]) -> dict[str, _File]:
        access, directory = where
        page = self._files.list_directory(
            access, directory, limit=MAX_CONTEXT_FILES, recursive=True
        )
        vault = access.vault.name
        return {
            vault_uri(vault, file.path): _File(access, file.path, named=False, etag=file.etag)
            for file in page.files
        }


def _within(document: JsonObject, room: int) -> JsonObject:
    """Return a document with no more text than there is room for."""
    text: str = document.get("content", "")
    if len(text) <= room:
        return document
    if room <= 0:
        return {name: document[name] for name in ("uri", "vault", "path")} | _NO_ROOM
    return document | {"content": text[:room], "is_whole": False}


def _may_be(path: VaultPath) -> bool:
    """Tell whether a file in a directory may have text, by its name: pictures are left out."""
    kind = content_type_of(path)
    return kind in _MAY_BE_TEXT or kind.startswith("text/") or is_document(kind)
