"""The files of a vault: listing and reading (O5); changes are in `mutations` and its neighbours.

A method takes the `VaultAccess` that proves the caller's membership and paths that
`archivolt.domain.paths` has resolved. What is read as text has no secrets in it; a person's own
bytes are read by `read_bytes`.
"""

from dataclasses import dataclass, replace
from typing import Final

from archivolt.domain.errors import (
    ForbiddenError,
    NotFoundError,
    TooLargeError,
    UnsupportedContentError,
)
from archivolt.domain.limits import (
    DEFAULT_LIST_LIMIT,
    MAX_INLINE_CONTENT_BYTES,
    MAX_RAW_RESPONSE_BYTES,
    MAX_READ_BYTES,
)
from archivolt.domain.paths import VaultPath
from archivolt.domain.redaction import mask, redact
from archivolt.domain.vault import FileContent, FileInfo, Listing, VaultAccess, VaultRole
from archivolt.ports.files import FileStore
from archivolt.vaults.content_types import content_type_of
from archivolt.vaults.decoding import DecodedText, decode

# Read on both sides of a part, so that a secret that crosses its edge is recognised.
_MARGIN_BYTES: Final = 8_192


@dataclass(frozen=True, slots=True, kw_only=True)
class TextPart:
    """A part of a text file, secrets taken out.

    `offset` and `next_offset` count characters of the whole redacted text, which has
    `total_chars`; `next_offset` is None at the end. `redactions` counts those of the whole text.
    """

    info: FileInfo
    text: str
    encoding: str
    offset: int
    next_offset: int | None
    total_chars: int
    redactions: int


@dataclass(frozen=True, slots=True, kw_only=True)
class BytesPart:
    """A part of any file, each byte of a secret replaced by `*`. Offsets count bytes."""

    info: FileInfo
    data: bytes
    offset: int
    next_offset: int | None


class FileService:
    """Reads files in a vault the caller may use.

    `max_read_bytes` is how much text one call returns (`BOOKSLM_MAX_TOOL_READ_BYTES`, O19).
    """

    def __init__(self, store: FileStore, *, max_read_bytes: int = MAX_READ_BYTES) -> None:
        self._store = store
        self._max_read_bytes = max_read_bytes

    def list_directory(
        self,
        access: VaultAccess,
        directory: VaultPath,
        *,
        limit: int = DEFAULT_LIST_LIMIT,
        after: str | None = None,
        recursive: bool = False,
    ) -> Listing:
        """Return one page of a directory, or of all files below it.

        Raises:
            NotFoundError: `directory_not_found`; the root always is there, and so is a
                directory that was made and is empty.

        """
        page = self._store.list(
            access.vault.ref, directory, recursive=recursive, limit=limit, after=after
        )
        if after is None and not page.exists:
            raise NotFoundError("directory_not_found", path=directory)
        return page

    def info(self, access: VaultAccess, path: VaultPath) -> FileInfo:
        """Return what is known of a file without reading it.

        Raises:
            NotFoundError: `file_not_found`.

        """
        return _typed(self._store.head(access.vault.ref, path))

    def read_text(
        self, access: VaultAccess, path: VaultPath, *, offset: int = 0, limit: int | None = None
    ) -> TextPart:
        """Return the text of a file from `offset`, at most `limit` characters of it.

        Raises:
            NotFoundError: `file_not_found`.
            UnsupportedContentError: `file_not_text`.
            TooLargeError: `file_too_large`: over 5 MB, to be read raw and in parts.

        """
        content, decoded = self._decoded(access, path)
        whole, redactions = redact(decoded.text)
        text = _first_bytes(whole[offset:][:limit], self._max_read_bytes)
        end = offset + len(text)
        return TextPart(
            info=_typed(content.info),
            text=text,
            encoding=decoded.encoding,
            offset=offset,
            next_offset=end if end < len(whole) else None,
            total_chars=len(whole),
            redactions=redactions,
        )

    def read_whole_text(self, access: VaultAccess, path: VaultPath) -> str:
        """Return the text of a file with its secrets, for a reader that shows nothing of it.

        Raises: as `read_text`.

        """
        return self._decoded(access, path)[1].text

    def _decoded(self, access: VaultAccess, path: VaultPath) -> tuple[FileContent, DecodedText]:
        content = self._store.read(access.vault.ref, path, max_bytes=MAX_INLINE_CONTENT_BYTES)
        if content.truncated:
            raise _too_large(content.info, MAX_INLINE_CONTENT_BYTES)
        decoded = decode(content.data)
        if decoded is None:
            raise UnsupportedContentError("file_not_text", path=path)
        return content, decoded

    def read_masked_bytes(
        self, access: VaultAccess, path: VaultPath, *, offset: int = 0, limit: int | None = None
    ) -> BytesPart:
        """Return the bytes of a file from `offset`, secrets masked, at most `limit` of them.

        Raises:
            NotFoundError: `file_not_found`.

        """
        size = min(limit or self._max_read_bytes, self._max_read_bytes)
        start = max(0, offset - _MARGIN_BYTES)
        before = offset - start
        content = self._store.read(
            access.vault.ref, path, offset=start, max_bytes=before + size + _MARGIN_BYTES
        )
        data = _masked(content.data)[before : before + size]
        end = offset + len(data)
        return BytesPart(
            info=_typed(content.info),
            data=data,
            offset=offset,
            next_offset=end if end < content.info.size else None,
        )

    def read_bytes(
        self, access: VaultAccess, path: VaultPath, *, offset: int = 0, limit: int | None = None
    ) -> FileContent:
        """Return a file's own bytes, for the person whose vault it is and for nobody else.

        Raises:
            NotFoundError: `file_not_found`.
            TooLargeError: `file_too_large`: no `limit` was given and it does not fit an answer.

        """
        size = min(limit or MAX_RAW_RESPONSE_BYTES, MAX_RAW_RESPONSE_BYTES)
        content = self._store.read(access.vault.ref, path, offset=offset, max_bytes=size)
        if limit is None and content.truncated:
            raise _too_large(content.info, MAX_RAW_RESPONSE_BYTES)
        return FileContent(
            info=_typed(content.info), data=content.data, truncated=content.truncated
        )


def require_writer(access: VaultAccess) -> None:
    """Check that the caller may change the vault.

    Raises:
        ForbiddenError: `vault_read_only`.

    """
    if not access.role.includes(VaultRole.WRITER):
        raise ForbiddenError("vault_read_only", vault=access.vault.name)


def _typed(info: FileInfo) -> FileInfo:
    """Return `info` with the type that the file's name tells: a stored one is not trusted."""
    return replace(info, content_type=content_type_of(info.path))


def _too_large(info: FileInfo, limit: int) -> TooLargeError:
    return TooLargeError("file_too_large", path=info.path, size=info.size, limit=limit)


def _first_bytes(text: str, limit: int) -> str:
    """Return as much of `text` as has at most `limit` bytes in UTF-8."""
    if len(text) * 4 <= limit:
        return text
    return text.encode("utf-8", "surrogatepass")[:limit].decode("utf-8", "ignore")


def _masked(data: bytes) -> bytes:
    """Return `data` with its secrets masked, if it can be text at all."""
    return data if 0 in data else mask(data)
