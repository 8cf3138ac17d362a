"""Uploads of large and binary files, which go straight to the store."""

import re
from typing import Final

from archivolt.domain.errors import (
    ConflictError,
    InvalidRequestError,
    NotFoundError,
    TooLargeError,
)
from archivolt.domain.limits import MAX_UPLOAD_BYTES, UPLOAD_SECONDS
from archivolt.domain.paths import VaultPath
from archivolt.domain.vault import UploadForm, VaultAccess
from archivolt.ports.files import FileStore
from archivolt.vaults.content_types import content_type_of
from archivolt.vaults.files import require_writer
from archivolt.vaults.places import Places

# RFC 6838 section 4.2, with parameters.
_CONTENT_TYPE: Final = re.compile(
    r"[\w!#$&^.+-]{1,100}/[\w!#$&^.+-]{1,100}(?:; ?[\w-]+=[\w.-]+)*", re.ASCII
)


class UploadService:
    """Opens the way for one new file at a time."""

    def __init__(self, store: FileStore) -> None:
        self._store = store
        self._places = Places(store)

    def begin(
        self, access: VaultAccess, path: VaultPath, *, size: int, content_type: str = ""
    ) -> UploadForm:
        """Return how to upload a new file of exactly `size` bytes.

        Raises:
            ForbiddenError: `vault_read_only`.
            TooLargeError: `upload_too_large`.
            InvalidRequestError: `content_type_invalid`.
            ConflictError: `file_exists`, or `path_taken`.

        """
        require_writer(access)
        if size > MAX_UPLOAD_BYTES:
            raise TooLargeError("upload_too_large", limit=MAX_UPLOAD_BYTES)
        kind = content_type or content_type_of(path)
        if not _CONTENT_TYPE.fullmatch(kind):
            raise InvalidRequestError("content_type_invalid")
        vault = access.vault.ref
        self._places.require_free_for_file(vault, path)
        try:
            self._store.head(vault, path)
        except NotFoundError:
            return self._store.upload_form(
                vault, path, size=size, content_type=kind, seconds=UPLOAD_SECONDS
            )
        raise ConflictError("file_exists", path=path)
