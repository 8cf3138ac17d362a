"""Vaults, their members, and the files in them."""

import unicodedata
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import NewType

from archivolt.domain.errors import InvalidRequestError
from archivolt.domain.identity import TenantId, UserId
from archivolt.domain.limits import MAX_VAULT_NAME_CHARS
from archivolt.domain.paths import ROOT, VaultPath, name_problem

VaultId = NewType("VaultId", str)
ETag = NewType("ETag", str)


class VaultRole(StrEnum):
    """What a member may do in a vault (decision 2)."""

    READER = "reader"
    WRITER = "writer"
    OWNER = "owner"

    def includes(self, other: "VaultRole") -> bool:
        """Tell whether this role may do what `other` may."""
        order = list(VaultRole)
        return order.index(self) >= order.index(other)


def vault_name(raw: str) -> str:
    """Return `raw`, in NFC, as the name of a vault.

    Raises:
        InvalidRequestError: `invalid_vault_name`, with the reason.

    """
    name = unicodedata.normalize("NFC", raw)
    problem = name_problem(name)
    if problem is None and len(name) > MAX_VAULT_NAME_CHARS:
        problem = "vault_name_too_long"
    if problem:
        raise InvalidRequestError("invalid_vault_name", reason=problem)
    return name


@dataclass(frozen=True, slots=True, kw_only=True)
class VaultRef:
    """Where a vault's objects are: enough to read them, not a right to do so."""

    tenant: TenantId
    id: VaultId


@dataclass(frozen=True, slots=True, kw_only=True)
class Vault:
    """A tree of documents with members."""

    ref: VaultRef
    name: str
    created_at: datetime
    ai_destructive_tools: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class VaultAccess:
    """A vault as one member sees it; `since` is when who had no part in it before joined."""

    vault: Vault
    user: UserId
    role: VaultRole
    since: datetime | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class FileInfo:
    """What is known of a file without reading it. `size` in bytes; `etag` without quotes.

    A listing does not tell `created`, `operation`, `bulk` and `moved_from`. `created` is when the
    document began to be, kept through edits and moves; `operation` names the confirmed change that
    wrote this version; `bulk`: it was written as part of a first load; `moved_from`: a move copied
    it from that path, kept through edits, which may come before the index knows of the move.
    """

    path: VaultPath
    size: int
    etag: ETag
    modified: datetime
    version: str = ""
    content_type: str = ""
    bulk: bool = False
    created: datetime | None = None
    operation: str = ""
    moved_from: VaultPath = ROOT


@dataclass(frozen=True, slots=True, kw_only=True)
class WriteMarks:
    """What is noted on a version as it is written: see `FileInfo`."""

    created: datetime | None = None
    operation: str = ""
    moved_from: VaultPath = ROOT


@dataclass(frozen=True, slots=True, kw_only=True)
class FileVersion:
    """One version of a file; a `deletion` is a delete marker, without content.

    `current`: there is none newer; of a deletion, that the file is deleted now.
    """

    version: str
    modified: datetime
    size: int = 0
    etag: ETag = ETag("")
    current: bool = False
    deletion: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class DeletedFile:
    """A file behind a delete marker: `version` is its last content."""

    path: VaultPath
    deleted_at: datetime
    version: str
    size: int
    etag: ETag


@dataclass(frozen=True, slots=True, kw_only=True)
class DeletedFiles:
    """One page of deleted files; `next_after` as in `Listing`."""

    files: list[DeletedFile]
    next_after: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class UploadForm:
    """How to send a file straight to the store: one request, valid until `expires_at`.

    Send `method` to `url` with `headers` exactly, the body being the file.
    """

    url: str
    method: str
    headers: dict[str, str]
    expires_at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class FileContent:
    """A file, or its first bytes when `truncated`."""

    info: FileInfo
    data: bytes
    truncated: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Listing:
    """One page of a directory: files and direct sub-directories, in key order.

    `next_after` is the path of the page's last entry, a directory's with a final slash, to be
    given back as `after` for the next page; None on the last. On the first page `exists` tells an
    empty directory, the root among them, from an absent one.
    """

    files: list[FileInfo]
    directories: list[VaultPath]
    next_after: str | None = None
    exists: bool = True
